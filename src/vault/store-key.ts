import { createId, HubError, type RandomBytes, toHubError } from '../base/index.ts';
import type { OpenStore } from './open-secret-store.ts';
import type { KeyPlace, SecretStore } from './sealed-secrets.ts';
import { type KeyPlaceKind, keyBytes, keyIdOf, sealSecrets } from './sealing.ts';

export interface StoreKeyDeps {
  readonly random: RandomBytes;
  readonly store: SecretStore;
}

/** Where the key of a new store went. */
export interface ChosenPlace {
  readonly keyIn: KeyPlaceKind;
  /** Why it is not in the keychain, as half a sentence. */
  readonly why?: string;
}

/** An empty store with a new key: in the keychain if there is one that works, or else in a file. */
export async function createStore(
  { random, store }: StoreKeyDeps,
  wanted?: KeyPlaceKind,
): Promise<{ readonly opened: OpenStore; readonly chosen: ChosenPlace }> {
  const id = createId(random, 16);
  const key = random(keyBytes);
  const chosen = wanted === undefined ? await choosePlace(store, id, key) : { keyIn: wanted };
  if (wanted !== undefined || chosen.keyIn === 'file') await addKey(store.keys[chosen.keyIn], id, key);
  return { opened: { store: id, key, keyIn: chosen.keyIn, revision: 0, secrets: [] }, chosen };
}

async function choosePlace({ keys }: SecretStore, id: string, key: Uint8Array): Promise<ChosenPlace> {
  const why = keys.keychain.missing?.();
  if (why !== undefined) return { keyIn: 'file', why };
  try {
    await addKey(keys.keychain, id, key);
    return { keyIn: 'keychain' };
  } catch (error) {
    // Nothing is sealed with this key yet, so nothing is lost.
    return { keyIn: 'file', why: reasonOf(error) };
  }
}

export interface RotatedKey {
  readonly keyIn: KeyPlaceKind;
  /** Why an earlier key is still there, as half a sentence. */
  readonly left?: string;
}

/**
 * Seals everything with a new key, in the wanted place, then removes the others. The key is stored before anything is
 * sealed with it, and the document names its place, so that at every moment the stored document can be opened.
 */
export async function rotateKey(
  { random, store }: StoreKeyDeps,
  opened: OpenStore,
  wanted: KeyPlaceKind | undefined,
): Promise<RotatedKey> {
  const { store: id, keyIn: before, revision, secrets } = opened;
  const keyIn = wanted ?? before;
  const key = random(keyBytes);
  await addKey(store.keys[keyIn], id, key);
  await store.save(sealSecrets(random, key, { store: id, keyIn, revision: revision + 1, secrets }));
  const other = keyIn === 'file' ? 'keychain' : 'file';
  // An interrupted move may have left a key there, even if the last one was not there.
  const isUsed = other === 'file' || before === 'keychain' || wanted !== undefined;
  try {
    await store.keys[keyIn].save(id, new Map([[keyIdOf(key), key]]));
    if (isUsed && store.keys[other].missing?.() === undefined) await store.keys[other].save(id, new Map());
    return { keyIn };
  } catch (error) {
    // The new key is in force. The next rotation removes what is left.
    return { keyIn, left: reasonOf(error) };
  }
}

/** Reads the key back: what seals the secrets must be there when they are opened. */
async function addKey(place: KeyPlace, id: string, key: Uint8Array): Promise<void> {
  const keys = await place.load(id);
  await place.save(id, new Map([...keys, [keyIdOf(key), key]]));
  const kept = (await place.load(id)).get(keyIdOf(key));
  if (kept !== undefined && Buffer.compare(kept, key) === 0) return;
  const why = 'it does not return what it was given';
  throw new HubError(
    place.kind === 'keychain' ? 'KEYCHAIN_UNAVAILABLE' : 'CONFIG_INVALID',
    `The key was not kept in ${place.where}: ${why}.`,
    { hint: 'Nothing was changed.', details: { why } },
  );
}

/** Passes on any other error. */
function reasonOf(error: unknown): string {
  const { code, details } = toHubError(error);
  if (code !== 'KEYCHAIN_UNAVAILABLE') throw error;
  return String(details.why);
}
