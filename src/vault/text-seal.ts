import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { RandomBytes } from '../base/index.ts';

/** Seals texts that may contain secrets. Each is bound to a name, and opens only under that name. */
export interface TextSeal {
  seal(name: string, text: string): string;
  /** Undefined: it was sealed with another key or under another name, or was changed. */
  open(name: string, sealed: string): string | undefined;
}

const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM with a key of its own, derived for this purpose. */
export function createTextSeal(
  { random }: { readonly random: RandomBytes },
  key: Uint8Array,
  purpose: string,
): TextSeal {
  const own = Buffer.from(hkdfSync('sha256', key, new Uint8Array(), `quartermaster ${purpose}`, 32));
  return {
    seal(name, text) {
      const nonce = random(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', own, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(name));
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
        'base64',
      );
    },
    open(name, sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      if (bytes.length < nonceBytes + tagBytes) return undefined;
      const end = bytes.length - tagBytes;
      try {
        const nonce = bytes.subarray(0, nonceBytes);
        const decipher = createDecipheriv('aes-256-gcm', own, nonce, { authTagLength: tagBytes });
        decipher.setAAD(Buffer.from(name));
        decipher.setAuthTag(bytes.subarray(end));
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]).toString('utf8');
      } catch {
        // The tag does not match. Node's message adds nothing.
        return undefined;
      }
    },
  };
}
