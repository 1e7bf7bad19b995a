import { HubError, toHubError } from '../base/index.ts';
import type { KeyPlace, SecretStore } from './sealed-secrets.ts';
import { keyIdOf, openSecrets, type SecretsToSeal } from './sealing.ts';

export interface OpenStore extends SecretsToSeal {
  readonly key: Uint8Array;
}

export interface StoreOpener {
  /** Opens the store as it is now. Undefined if there is no store. */
  open(): Promise<OpenStore | undefined>;
}

/** A key may be replaced between reading the document and reading the key. Then the next attempt finds a matching pair. */
const attempts = 3;

/**
 * Remembers what it opened last. So a keychain is not asked again for the same key, and a file that disappears or goes
 * back to an earlier revision is noticed.
 */
export function createStoreOpener(store: SecretStore): StoreOpener {
  let last: OpenStore | undefined;

  async function openOnce(): Promise<OpenStore | 'no-key' | undefined> {
    const document = await store.load();
    if (document === undefined) {
      if (last !== undefined) throw unusable(store, 'the file is gone');
      return undefined;
    }
    const { store: id, key: keyId, keyIn, revision } = document;
    const place = store.keys[keyIn];
    const isKnown = last !== undefined && keyIdOf(last.key) === keyId;
    const key = isKnown ? last?.key : (await loadKeys(place, id)).get(keyId);
    if (key === undefined) return 'no-key';
    const opened = openSecrets(document, key);
    if (opened.kind === 'wrong-key') throw unusable(store, `their key in ${place.where} does not fit`, place);
    if (opened.kind === 'changed') throw unusable(store, 'the file was changed by another program');
    if (last?.store === id && revision < last.revision) throw unusable(store, 'an earlier version of the file is back');
    last = { store: id, key, keyIn, revision, secrets: opened.secrets };
    return last;
  }

  async function openNow(): Promise<OpenStore | undefined> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const opened = await openOnce();
      if (opened !== 'no-key') return opened;
    }
    const { keyIn = 'file', key = 'unknown' } = (await store.load()) ?? {};
    throw unusable(store, `their key ${key} is not in ${store.keys[keyIn].where}`, store.keys[keyIn]);
  }

  // One after the other, so that a slow reader does not take a newer revision for the last one.
  let before: Promise<unknown> = Promise.resolve();
  return {
    open() {
      const opened = before.then(openNow, openNow);
      before = opened;
      return opened;
    },
  };
}

async function loadKeys(place: KeyPlace, id: string): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    return await place.load(id);
  } catch (error) {
    const { code, message, hint, details } = toHubError(error);
    if (code !== 'KEYCHAIN_UNAVAILABLE') throw error;
    throw new HubError(code, `The stored secrets cannot be opened, because their key is in the keychain. ${message}`, {
      ...(hint === undefined ? {} : { hint }),
      details,
      cause: error,
    });
  }
}

function unusable({ place: path }: SecretStore, what: string, place?: KeyPlace): HubError {
  const copy = place?.kind === 'keychain' ? 'the keychain' : 'the file and its key';
  return new HubError('CONFIG_INVALID', `The secrets in ${path} cannot be read: ${what}.`, {
    hint: `Restore ${copy} from a backup, or delete the file and set every secret again with \`qm secret set\`.`,
    details: { path },
  });
}
