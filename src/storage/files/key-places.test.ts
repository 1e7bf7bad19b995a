import { readFile, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSystemClock, HubError, systemRandom } from '../../base/index.ts';
import { createSecretBook, type KeyPlaceKind, type SecretBook, type SecretStore } from '../../vault/index.ts';
import {
  type KeychainStage,
  type KeyringMode,
  openKeychainStage,
  openMemoryStage,
} from '../keychain/keychain.fixture.ts';
import type { WorkspaceLayout } from './layout.ts';
import { createFileSecretStore, findKeyPlace, forgetKeychainKey } from './secret-store.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

const clock = createSystemClock();
const one = new Map([['A', 'value-of-a']]);

function bookOf(store: SecretStore): SecretBook {
  return createSecretBook({ clock, random: systemRandom, store });
}

interface Stage extends KeychainStage {
  readonly layout: WorkspaceLayout;
  readonly store: SecretStore;
  /** As a new process would have it. */
  open(): SecretBook;
  fileKeys(): Promise<number>;
  keychainKeys(): number;
}

async function openStage(open: () => Promise<KeychainStage> = openKeychainStage): Promise<Stage> {
  const layout = await temporaryWorkspace();
  const stage = await open();
  const store = createFileSecretStore(layout, { keychain: stage.keychain });
  const count = (text: string | undefined): number => (text?.match(/"id"/g) ?? []).length;
  return {
    ...stage,
    layout,
    store,
    open: () => bookOf(createFileSecretStore(layout, { keychain: stage.keychain })),
    fileKeys: async () => count(await readFile(layout.secretKeys, 'utf8').catch(() => undefined)),
    keychainKeys: () => Object.values(stage.entries()).reduce((sum, text) => sum + count(text), 0),
  };
}

test(verifies('secrets:keychain', 'a keychain that works has the key, and no file does'), async () => {
  const { layout, open, fileKeys, keychainKeys } = await openStage();
  expect(await open().setAll(one)).toMatchObject({ key: { keyIn: 'keychain' } });
  expect(await open().list()).toMatchObject({ keyIn: 'keychain', secrets: [{ name: 'A' }] });
  expect([await fileKeys(), keychainKeys()]).toEqual([0, 1]);
  await expect(stat(layout.secretKeys)).rejects.toThrow('ENOENT');
  expect(await open().rotate()).toEqual({ secrets: 1, keyIn: 'keychain' });
  expect(await open().values()).toEqual(one);
  expect([await fileKeys(), keychainKeys()]).toEqual([0, 1]);
});

test(verifies('secrets:keychain', 'a process asks the keychain once for a key'), async () => {
  const { open, pids } = await openStage();
  await open().setAll(one);
  const [reader, before] = [open(), pids().length];
  await reader.values();
  await reader.values();
  await reader.set('B', 'value-of-b');
  await reader.list();
  expect(pids().length - before).toBe(1);
});

test.each<[KeyringMode, RegExp]>([
  ['refuses', /prompt was dismissed/],
  ['crashes', /SIGABRT/],
  ['forgets', /does not return what it was given/],
])(
  verifies('secrets:keychain', 'where the keychain %s, a first key is in the file, with the reason'),
  async (mode, why) => {
    const { open, become, fileKeys, keychainKeys } = await openStage();
    await become(mode);
    expect(await open().setAll(one)).toMatchObject({ key: { keyIn: 'file', why: expect.stringMatching(why) } });
    // And stays there when the keychain works again.
    await become('works');
    await open().set('B', 'value-of-b');
    expect(await open().rotate()).toEqual({ secrets: 2, keyIn: 'file' });
    expect([await fileKeys(), keychainKeys()]).toEqual([1, 0]);
  },
);

test.each<KeyringMode>(['refuses', 'crashes', 'mumbles'])(
  verifies('secrets:keychain-refuses', 'a store whose keychain %s is neither read nor changed'),
  async (mode) => {
    const { layout, open, become, fileKeys } = await openStage();
    await open().setAll(one);
    const before = await readFile(layout.secrets, 'utf8');
    await become(mode);
    await expectRefused(open);
    expect(await readFile(layout.secrets, 'utf8')).toBe(before);
    expect(await fileKeys()).toBe(0);
    await become('works');
    expect(await open().values()).toEqual(one);
  },
);

async function expectRefused(open: () => SecretBook): Promise<void> {
  const works: readonly ((book: SecretBook) => Promise<unknown>)[] = [
    (book) => book.values(),
    (book) => book.list(),
    (book) => book.set('B', 'x'),
    (book) => book.remove('A'),
    (book) => book.rotate(),
    (book) => book.rotate('file'),
  ];
  for (const work of works) {
    const error = await work(open()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HubError);
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(KEYCHAIN_UNAVAILABLE|CONFIG_INVALID)$/),
      hint: expect.any(String),
    });
  }
}

test.each<[string, (stage: Stage) => Promise<void>, RegExp]>([
  ['is empty', (stage) => stage.replaceEntries({}), /their key [0-9a-f]{16} is not in the keychain/],
  ['has the key of another store', replaceByAnother, /their key [0-9a-f]{16} is not in the keychain/],
  ['has a text of another program', (stage) => overwrite(stage, 'sesame'), /holds no key of Quartermaster/],
  ['has a forged key', forge, /does not fit/],
])(
  verifies('secrets:keychain-refuses', 'where the keychain was replaced and %s, nothing opens and nothing is lost'),
  async (_what, replace, says) => {
    const stage = await openStage();
    await stage.open().setAll(one);
    const [before, entries] = [await readFile(stage.layout.secrets, 'utf8'), stage.entries()];
    await replace(stage);
    const error = await stage
      .open()
      .values()
      .catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(says);
    expect(JSON.stringify(error)).not.toContain('sesame');
    await expectRefused(stage.open);
    expect(await readFile(stage.layout.secrets, 'utf8')).toBe(before);
    await stage.replaceEntries(entries);
    expect(await stage.open().values()).toEqual(one);
  },
);

async function overwrite({ entries, replaceEntries }: Stage, text: string): Promise<void> {
  await replaceEntries(Object.fromEntries(Object.keys(entries()).map((name) => [name, text])));
}

async function replaceByAnother(stage: Stage): Promise<void> {
  const other = await openStage();
  await other.open().set('A', 'value-of-another');
  await overwrite(stage, Object.values(other.entries())[0] ?? '');
}

/** The id of the key is no secret, so an attacker can write another key under it. */
async function forge(stage: Stage): Promise<void> {
  const text = Object.values(stage.entries())[0] ?? '';
  await overwrite(stage, text.replace(/"key":"[^"]*"/, `"key":"${'A'.repeat(43)}"`));
}

test(
  verifies('secrets:keychain-refuses', 'without a way to the keychain, the store says where its key is'),
  async () => {
    const { layout, open } = await openStage();
    await open().setAll(one);
    const without = (): SecretBook => bookOf(createFileSecretStore(layout));
    await expect(without().values()).rejects.toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
    await expect(without().set('B', 'x')).rejects.toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
    await expect(without().rotate('file')).rejects.toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
  },
);

test.each<KeyPlaceKind>(['file', 'keychain'])(
  verifies('secrets:key-moves', 'the key moves to the %s and nothing of the old one is left'),
  async (to) => {
    const { open, fileKeys, keychainKeys } = await openStage();
    await open().rotate(to === 'file' ? 'keychain' : 'file');
    await open().setAll(one);
    expect(await open().rotate(to)).toEqual({ secrets: 1, keyIn: to });
    expect(await open().list()).toMatchObject({ keyIn: to });
    expect(await open().values()).toEqual(one);
    expect([await fileKeys(), keychainKeys()]).toEqual(to === 'file' ? [1, 0] : [0, 1]);
  },
);

/** Fails at the given write, as if the process had been killed before it. */
function killedAt(store: SecretStore, write: number): SecretStore {
  let left = write;
  const stepped =
    <Args extends unknown[]>(work: (...args: Args) => Promise<void>) =>
    async (...args: Args): Promise<void> => {
      if (left-- === 0) throw new Error('killed');
      await work(...args);
    };
  const { file, keychain } = store.keys;
  return {
    ...store,
    save: stepped(store.save),
    keys: {
      file: { ...file, save: stepped(file.save) },
      keychain: { ...keychain, save: stepped(keychain.save) },
    },
  };
}

const moves = (['file', 'keychain'] as const).flatMap((from) =>
  (['file', 'keychain'] as const).map((to) => [from, to]),
);
const kills = moves.flatMap(([from = 'file', to = 'file']) => [0, 1, 2, 3].map((write) => ({ from, to, write })));

test.each(kills)(
  verifies('secrets:key-moves', 'a rotation from $from to $to that is killed before write $write loses nothing'),
  async ({ from, to, write }) => {
    const { store, open, fileKeys, keychainKeys } = await openStage(openMemoryStage);
    await open().rotate(from);
    await open().setAll(one);
    // A rotation in one place has fewer writes, and may end before it is killed.
    await bookOf(killedAt(store, write))
      .rotate(to)
      .catch((error: unknown) => expect(String(error)).toContain('killed'));
    expect(await open().values()).toEqual(one);
    await open().set('B', 'value-of-b');
    // The next one ends it, and nothing of the first key is left.
    expect(await open().rotate(to)).toEqual({ secrets: 2, keyIn: to });
    expect(await open().values()).toEqual(new Map([...one, ['B', 'value-of-b']]));
    expect([await fileKeys(), keychainKeys()]).toEqual(to === 'file' ? [1, 0] : [0, 1]);
  },
);

test.each<KeyPlaceKind>(['file', 'keychain'])(
  verifies('secrets:key-moves', 'a first secret that is killed at any write leaves a usable store, key in the %s'),
  async (keyIn) => {
    for (const write of [0, 1]) {
      const { store, open, become } = await openStage();
      if (keyIn === 'file') await become('refuses');
      await expect(bookOf(killedAt(store, write)).setAll(one)).rejects.toThrow('killed');
      expect(await open().values()).toEqual(new Map());
      await open().setAll(one);
      expect(await open().values()).toEqual(one);
    }
  },
);

test(
  verifies('secrets:key-moves', 'a keychain that fails at the end leaves the new key in force, and says so'),
  async () => {
    const { store, open, keychainKeys } = await openStage();
    await open().setAll(one);
    const { keychain } = store.keys;
    const failing: SecretStore = {
      ...store,
      keys: {
        ...store.keys,
        keychain: {
          ...keychain,
          save: () =>
            Promise.reject(new HubError('KEYCHAIN_UNAVAILABLE', 'Locked.', { details: { why: 'it locked' } })),
        },
      },
    };
    expect(await bookOf(failing).rotate('file')).toEqual({ secrets: 1, keyIn: 'file', left: 'it locked' });
    expect(await open().values()).toEqual(one);
    expect(keychainKeys()).toBe(1);
    expect(await open().rotate('file')).toEqual({ secrets: 1, keyIn: 'file' });
    expect(keychainKeys()).toBe(0);
  },
);

test('the key of a state that is deleted leaves the keychain, and those of others stay', async () => {
  const { layout, keychain, open, keychainKeys } = await openStage(openMemoryStage);
  const other = await temporaryWorkspace();
  await bookOf(createFileSecretStore(other, { keychain })).setAll(one);
  expect(await findKeyPlace(layout)).toBeUndefined();
  await forgetKeychainKey(layout, keychain);
  await open().setAll(one);
  expect(await findKeyPlace(layout)).toBe('keychain');
  expect(keychainKeys()).toBe(2);
  await forgetKeychainKey(layout, keychain);
  expect(keychainKeys()).toBe(1);
  expect(await bookOf(createFileSecretStore(other, { keychain })).values()).toEqual(one);
});

test('a new key goes where the operator wants it, also before the first secret', async () => {
  const { open, fileKeys, keychainKeys } = await openStage();
  expect(await open().rotate()).toEqual({ secrets: 0 });
  expect(await open().rotate('file')).toEqual({ secrets: 0, keyIn: 'file' });
  await open().setAll(one);
  expect(await open().list()).toMatchObject({ keyIn: 'file' });
  expect([await fileKeys(), keychainKeys()]).toEqual([1, 0]);
});

test(verifies('secrets:keychain-refuses', 'a move to a keychain that refuses changes nothing'), async () => {
  const { layout, open, become, fileKeys } = await openStage();
  await open().rotate('file');
  await open().setAll(one);
  const before = await readFile(layout.secrets, 'utf8');
  await become('refuses');
  await expect(open().rotate('keychain')).rejects.toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
  await become('forgets');
  await expect(open().rotate('keychain')).rejects.toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
  expect(await readFile(layout.secrets, 'utf8')).toBe(before);
  expect(await fileKeys()).toBe(1);
});

test(verifies('secrets:rotation', 'a reader during rotations always gets the values'), async () => {
  const layout = await temporaryWorkspace();
  const open = (): SecretBook => bookOf(createFileSecretStore(layout));
  await open().setAll(one);
  let rotating = true;
  const rotations = (async () => {
    for (let round = 0; round < 20; round += 1) await open().rotate();
    rotating = false;
  })();
  while (rotating) expect(await open().values()).toEqual(one);
  await rotations;
});

test('a key file that is damaged is an error and is not replaced', async () => {
  const layout = await temporaryWorkspace();
  const open = (): SecretBook => bookOf(createFileSecretStore(layout));
  await open().setAll(one);
  await writeFile(layout.secretKeys, '{"version":1,"keys":[{"id":"x"}]}');
  await expect(open().values()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  await expect(open().rotate()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(await readFile(layout.secretKeys, 'utf8')).toContain('"x"');
});
