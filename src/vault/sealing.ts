import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../base/index.ts';

/** Secrets as they are stored. Names and dates are readable; a change of any byte is noticed. */
export interface SealedDocument {
  readonly version: 1;
  /** Identifies the store, so that a secret of another one is not accepted. */
  readonly store: string;
  /** Identifies the key. */
  readonly key: string;
  /** Where the key is. */
  readonly keyIn: KeyPlaceKind;
  /** Grows with each write, so that an older document is told from a newer one. */
  readonly revision: number;
  readonly secrets: readonly SealedSecret[];
  /** Over everything above. It shows when a secret was removed, or replaced by an older one of the same name. */
  readonly mac: string;
}

export type KeyPlaceKind = 'file' | 'keychain';

export interface SealedSecret extends SecretDates {
  readonly name: string;
  readonly nonce: string;
  /** The encrypted value and its tag. */
  readonly sealed: string;
}

export interface SecretDates {
  /** In milliseconds since 1970. */
  readonly created: number;
  readonly updated: number;
}

export interface OpenedSecret extends SecretDates {
  readonly name: string;
  readonly value: string;
}

export interface SecretsToSeal extends Pick<SealedDocument, 'store' | 'keyIn' | 'revision'> {
  readonly secrets: readonly OpenedSecret[];
}

export type OpenedDocument =
  | { readonly kind: 'opened'; readonly secrets: readonly OpenedSecret[] }
  /** The key is another one, or the document is not as it was written. */
  | { readonly kind: 'wrong-key' }
  | { readonly kind: 'changed' };

export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** Tells keys apart without revealing anything about them. */
export function keyIdOf(key: Uint8Array): string {
  return createHash('sha256').update('quartermaster secret key').update(key).digest('hex').slice(0, 16);
}

/** AES-256-GCM with a new nonce for each secret, which is bound to its store, key, name and dates. */
export function sealSecrets(
  random: RandomBytes,
  key: Uint8Array,
  { store, keyIn, revision, secrets }: SecretsToSeal,
): SealedDocument {
  const id = keyIdOf(key);
  const valueKey = subkey(key, 'values');
  const sealed = secrets.map(({ name, value, created, updated }): SealedSecret => {
    const nonce = random(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', valueKey, nonce, { authTagLength: tagBytes });
    cipher.setAAD(boundTo({ store, key: id }, { name, created, updated }));
    const bytes = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { name, created, updated, nonce: nonce.toString('base64url'), sealed: bytes.toString('base64url') };
  });
  const document = { version: 1, store, key: id, keyIn, revision, secrets: sealed } as const;
  return { ...document, mac: macOf(document, key) };
}

export function openSecrets(document: SealedDocument, key: Uint8Array): OpenedDocument {
  if (key.length !== keyBytes || keyIdOf(key) !== document.key) return { kind: 'wrong-key' };
  // As text, because several texts can mean the same bytes.
  const [mac, expected] = [Buffer.from(document.mac), Buffer.from(macOf(document, key))];
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return { kind: 'changed' };
  const valueKey = subkey(key, 'values');
  const secrets: OpenedSecret[] = [];
  for (const each of document.secrets) {
    const value = openSecret(document, each, valueKey);
    if (value === undefined) return { kind: 'changed' };
    secrets.push({ name: each.name, value, created: each.created, updated: each.updated });
  }
  return { kind: 'opened', secrets };
}

type Bound = Pick<SealedDocument, 'store' | 'key'>;

function openSecret(bound: Bound, secret: SealedSecret, key: Uint8Array): string | undefined {
  const bytes = Buffer.from(secret.sealed, 'base64url');
  const nonce = Buffer.from(secret.nonce, 'base64url');
  if (bytes.length < tagBytes || nonce.length !== nonceBytes) return undefined;
  const end = bytes.length - tagBytes;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(boundTo(bound, secret));
    decipher.setAuthTag(bytes.subarray(end));
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]).toString('utf8');
  } catch {
    // The tag does not match. Node's message adds nothing.
    return undefined;
  }
}

/** JSON of an array, because its parts cannot run into each other. */
function boundTo({ store, key }: Bound, { name, created, updated }: SecretDates & { readonly name: string }): Buffer {
  return Buffer.from(JSON.stringify(['quartermaster secret', 1, store, key, name, created, updated]));
}

function macOf(document: Omit<SealedDocument, 'mac'>, key: Uint8Array): string {
  const { version, store, key: id, keyIn, revision, secrets } = document;
  const rows = secrets.map(({ name, created, updated, nonce, sealed }) => [name, created, updated, nonce, sealed]);
  return createHmac('sha256', subkey(key, 'document'))
    .update(JSON.stringify([version, store, id, keyIn, revision, rows]))
    .digest('base64url');
}

/** One key for one purpose. */
function subkey(key: Uint8Array, purpose: 'values' | 'document'): Buffer {
  return Buffer.from(hkdfSync('sha256', key, new Uint8Array(), `quartermaster secrets ${purpose}`, keyBytes));
}
