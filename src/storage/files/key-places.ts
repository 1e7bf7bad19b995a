import { z } from 'zod';
import { HubError, type RandomBytes } from '../../base/index.ts';
import type { KeyPlace } from '../../vault/index.ts';
import type { Keychain } from '../keychain/index.ts';
import { fileError } from './file-error.ts';
import { type DocumentRules, readJsonDocument } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { removeFile, replaceFile } from './write-file.ts';

/** Keys in a file that only the user can read. */
export function createKeyFile(layout: WorkspaceLayout, random: RandomBytes): KeyPlace {
  const path = layout.secretKeys;
  return {
    kind: 'file',
    where: path,
    async load() {
      const document = await readJsonDocument(layout, path, rules);
      return document === undefined ? new Map() : keysOf(document);
    },
    async save(_store, keys) {
      try {
        if (keys.size === 0) removeFile(layout, path);
        else await replaceFile(layout, path, textOf(keys), random);
      } catch (error) {
        throw fileError(error, 'write', path);
      }
    },
  };
}

/** Keys in the keychain, with one account for each store. */
export function createKeychainKeys(keychain: Keychain): KeyPlace {
  const account = (store: string): string => `secrets of store ${store}`;
  return {
    kind: 'keychain',
    where: 'the keychain',
    missing: () => keychain.missing(),
    async load(store) {
      const text = await keychain.read(account(store));
      return text === undefined ? new Map() : keysOf(parseKeys(text, account(store)));
    },
    async save(store, keys) {
      if (keys.size === 0) await keychain.remove(account(store));
      else await keychain.write(account(store), textOf(keys));
    },
  };
}

const keyId = z.string().regex(/^[0-9a-f]{16}$/);
const maxKeys = 10;

interface KeyDocument {
  readonly keys: readonly { readonly id: string; readonly key: string }[];
}

const schema: z.ZodType<KeyDocument> = z.strictObject({
  version: z.literal(1),
  keys: z.array(z.strictObject({ id: keyId, key: z.string().regex(/^[A-Za-z0-9_-]{43}$/) })).max(maxKeys),
});

const rules: DocumentRules<KeyDocument> = {
  schema,
  maxBytes: 10_000,
  fix: 'Restore it from a backup, or delete it and set every secret again with `qm secret set`.',
  secret: true,
};

function keysOf({ keys }: KeyDocument): Map<string, Uint8Array> {
  return new Map(keys.map(({ id, key }) => [id, Buffer.from(key, 'base64url')]));
}

/** The newest keys come last. The oldest belong to stores that were deleted long ago. */
function textOf(keys: ReadonlyMap<string, Uint8Array>): string {
  const rows = [...keys].slice(-maxKeys).map(([id, key]) => ({ id, key: Buffer.from(key).toString('base64url') }));
  return `${JSON.stringify({ version: 1, keys: rows })}\n`;
}

/** Another program may have written the entry. Its text may be a secret, so the message does not repeat it. */
function parseKeys(text: string, account: string): KeyDocument {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new HubError(
      'KEYCHAIN_UNAVAILABLE',
      `The entry "${account}" in the keychain holds no key of Quartermaster.`,
      {
        hint: 'Another program has changed it. Restore it from a backup of the keychain.',
        details: { why: 'the entry was changed by another program' },
      },
    );
  }
}
