import type { Clock } from '../base/index.ts';
import { createStoreOpener, type OpenStore } from './open-secret-store.ts';
import { type KeyPlaceKind, type OpenedSecret, sealSecrets } from './sealing.ts';
import { checkSecretName, checkSecretValue, checkStoreSize } from './secret-limits.ts';
import { type ChosenPlace, createStore, type RotatedKey, rotateKey, type StoreKeyDeps } from './store-key.ts';

export interface SecretSummary {
  readonly name: string;
  readonly created: number;
  readonly updated: number;
}

/** The secrets of a workspace. Values leave it only by `values`. */
export interface SecretBook {
  values(): Promise<ReadonlyMap<string, string>>;
  /** Secrets by name, and where their key is; undefined if there is none yet. */
  list(): Promise<{ readonly keyIn: KeyPlaceKind | undefined; readonly secrets: readonly SecretSummary[] }>;
  set(name: string, value: string): Promise<SetResult>;
  /** Stores all of them or none. */
  setAll(values: ReadonlyMap<string, string>): Promise<SetSecrets>;
  /** False if there is none of that name. */
  remove(name: string): Promise<boolean>;
  /** Seals everything with a new key and removes the earlier ones. With `keyIn`, the new key goes there. */
  rotate(keyIn?: KeyPlaceKind): Promise<RotatedSecrets>;
}

export type SetResult = 'added' | 'replaced';

export interface SetSecrets {
  readonly results: ReadonlyMap<string, SetResult>;
  /** Set if these are the first secrets. */
  readonly key?: ChosenPlace;
}

export interface RotatedSecrets extends Partial<RotatedKey> {
  /** How many there are. */
  readonly secrets: number;
}

export interface SecretBookDeps extends StoreKeyDeps {
  readonly clock: Pick<Clock, 'now'>;
}

export function createSecretBook(deps: SecretBookDeps): SecretBook {
  const { clock, store } = deps;
  const opener = createStoreOpener(store);
  const read = async (): Promise<readonly OpenedSecret[]> => (await opener.open())?.secrets ?? [];

  async function exclusively<T>(work: (opened: OpenStore | undefined) => Promise<T>): Promise<T> {
    // A keychain may ask a person, who takes longer than other processes wait for the lock.
    await opener.open();
    return await store.exclusively(async () => await work(await opener.open()));
  }

  async function setAll(values: ReadonlyMap<string, string>): Promise<SetSecrets> {
    for (const [name, value] of values) {
      checkSecretName(name);
      checkSecretValue(name, value);
    }
    return await exclusively(async (found) => {
      const secrets = checkStoreSize(merge(found?.secrets ?? [], values, clock.now()));
      const results = compare(found?.secrets ?? [], values);
      if (found !== undefined) {
        await write(deps, { ...found, secrets });
        return { results };
      }
      const { opened, chosen } = await createStore(deps);
      await write(deps, { ...opened, secrets });
      return { results, key: chosen };
    });
  }

  return {
    values: async () => new Map((await read()).map(({ name, value }) => [name, value])),
    async list() {
      const opened = await opener.open();
      const secrets = (opened?.secrets ?? []).map(({ name, created, updated }) => ({ name, created, updated }));
      return { keyIn: opened?.keyIn, secrets: secrets.sort((a, b) => (a.name < b.name ? -1 : 1)) };
    },
    set: async (name, value) => (await setAll(new Map([[name, value]]))).results.get(name) ?? 'added',
    setAll,
    remove: (name) =>
      exclusively(async (opened) => {
        const left = opened?.secrets.filter((each) => each.name !== name) ?? [];
        if (opened === undefined || left.length === opened.secrets.length) return false;
        await write(deps, { ...opened, secrets: left });
        return true;
      }),
    rotate: (keyIn) => exclusively((opened) => rotate(deps, opened, keyIn)),
  };
}

function merge(before: readonly OpenedSecret[], values: ReadonlyMap<string, string>, now: number): OpenedSecret[] {
  const dates = new Map(before.map(({ name, created }) => [name, created]));
  const changed = [...values].map(([name, value]) => ({
    name,
    value,
    created: dates.get(name) ?? now,
    updated: now,
  }));
  return [...before.filter(({ name }) => !values.has(name)), ...changed];
}

function compare(before: readonly OpenedSecret[], values: ReadonlyMap<string, string>): Map<string, SetResult> {
  const names = new Set(before.map(({ name }) => name));
  return new Map([...values.keys()].map((name) => [name, names.has(name) ? 'replaced' : 'added']));
}

async function write({ random, store }: StoreKeyDeps, { key, ...opened }: OpenStore): Promise<void> {
  await store.save(sealSecrets(random, key, { ...opened, revision: opened.revision + 1 }));
}

async function rotate(
  deps: StoreKeyDeps,
  opened: OpenStore | undefined,
  keyIn: KeyPlaceKind | undefined,
): Promise<RotatedSecrets> {
  if (opened !== undefined) return { secrets: opened.secrets.length, ...(await rotateKey(deps, opened, keyIn)) };
  if (keyIn === undefined) return { secrets: 0 };
  // An empty store, so that the first secret uses that place.
  await write(deps, (await createStore(deps, keyIn)).opened);
  return { secrets: 0, keyIn };
}
