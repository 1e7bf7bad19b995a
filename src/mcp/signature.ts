import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/** Signs the state that clients keep for the hub. */
export interface Signer {
  /** The signature covers `bound` without carrying it: verification needs the same values again. */
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

/** Fixed size, so that the end of one value cannot pass for the start of the next. */
function digest(text: string): Buffer {
  // In UTF-8, all lone surrogates would look the same.
  return createHash('sha256').update(text, 'utf16le').digest();
}

/** Compares the texts, not the decoded bytes: Base64 can spell the same bytes in several ways. */
function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
