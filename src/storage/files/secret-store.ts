import { z } from 'zod';
import { type Clock, type RandomBytes, systemRandom } from '../../base/index.ts';
import type { KeyPlaceKind, SealedDocument, SecretStore } from '../../vault/index.ts';
import { createNoKeychain, type Keychain } from '../keychain/index.ts';
import { fileError } from './file-error.ts';
import { type DocumentRules, readJsonDocument } from './json-document.ts';
import { createKeychainKeys, createKeyFile } from './key-places.ts';
import type { WorkspaceLayout } from './layout.ts';
import { withLock } from './lock.ts';
import { replaceFile } from './write-file.ts';

export interface SecretStoreOptions {
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  /** Without it, only stores whose key is in a file can be read. */
  readonly keychain?: Keychain | undefined;
}

/** Many commands at once are rare, but each of them should get its turn. */
const lockWaitMs = 30_000;

/** The sealed secrets of a file workspace, in one file. */
export function createFileSecretStore(layout: WorkspaceLayout, options: SecretStoreOptions = {}): SecretStore {
  const { random = systemRandom, keychain = createNoKeychain() } = options;
  const { secrets } = layout;
  return {
    place: secrets,
    load: () => readJsonDocument(layout, secrets, sealedDocument),
    async save(document) {
      try {
        await replaceFile(layout, secrets, `${JSON.stringify(document, undefined, 2)}\n`, random);
      } catch (error) {
        throw fileError(error, 'write', secrets);
      }
    },
    keys: { file: createKeyFile(layout, random), keychain: createKeychainKeys(keychain) },
    exclusively: (work) => withLock(layout, 'secrets', work, { ...options, waitMs: lockWaitMs }),
  };
}

/** Where the key of the stored secrets is, without opening them. Undefined if there are none that can be read. */
export async function findKeyPlace(layout: WorkspaceLayout): Promise<KeyPlaceKind | undefined> {
  return (await readSealed(layout))?.keyIn;
}

/** Removes from the keychain what belongs to the secrets of a state folder that will be deleted. */
export async function forgetKeychainKey(layout: WorkspaceLayout, keychain: Keychain): Promise<void> {
  const document = await readSealed(layout);
  if (document?.keyIn === 'keychain') await createKeychainKeys(keychain).save(document.store, new Map());
}

function readSealed(layout: WorkspaceLayout): Promise<SealedDocument | undefined> {
  return readJsonDocument(layout, layout.secrets, sealedDocument).catch(() => undefined);
}

const bytes = z.string().regex(/^[A-Za-z0-9_-]*$/);
const date = z.int().nonnegative();

const schema: z.ZodType<SealedDocument> = z.strictObject({
  version: z.literal(1),
  store: z.string().regex(/^[0-9a-z]{16}$/),
  key: z.string().regex(/^[0-9a-f]{16}$/),
  keyIn: z.enum(['file', 'keychain']),
  revision: z.int().positive(),
  secrets: z.array(
    z.strictObject({ name: z.string().max(128), created: date, updated: date, nonce: bytes, sealed: bytes }),
  ),
  mac: bytes,
});

const sealedDocument: DocumentRules<SealedDocument> = {
  schema,
  maxBytes: 16 * 1024 * 1024,
  fix: 'Restore it from a backup, or delete it and set every secret again with `qm secret set`.',
  secret: true,
};
