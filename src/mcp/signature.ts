import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/** Signs what clients keep for the hub. */
export interface Signer {
  /** `bound` is covered without being carried: whoever brings the content back has to bring the same again. */
  sign(content: string, bound: readonly string[]): string;
  isSigned(content: string, signature: string, bound: readonly string[]): boolean;
}

export function createSigner(secret: Uint8Array): Signer {
  const key = createSecretKey(secret);

  function sign(content: string, bound: readonly string[]): string {
    const hmac = createHmac('sha256', key);
    for (const text of bound) hmac.update(digest(text));
    return hmac.update(content).digest('base64url');
  }

  return {
    sign,
    isSigned: (content, signature, bound) => sameText(signature, sign(content, bound)),
  };
}

/** Of a fixed size, so that no end of the one can pass for the start of the other. */
function digest(text: string): Buffer {
  // In UTF-8 all halves of surrogate pairs would look alike.
  return createHash('sha256').update(text, 'utf16le').digest();
}

/** Compares texts, not what they decode to: Base64 has several spellings of the same bytes. */
function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
