import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSystemClock } from '../../base/index.ts';
import { createKeychain, type Keychain, type KeychainOptions } from './keychain.ts';

export type KeyringMode = 'works' | 'refuses' | 'hangs' | 'crashes' | 'chatters' | 'mumbles' | 'forgets';

/** The real keychain code and its process, over a library that keeps its entries in a file and can misbehave. */
export interface KeychainStage {
  readonly keychain: Keychain;
  readonly library: string;
  readonly env: Readonly<Record<string, string>>;
  become(mode: KeyringMode): Promise<void>;
  /** The texts of all entries, by account. */
  entries(): Readonly<Record<string, string>>;
  /** As another program would. */
  replaceEntries(entries: Readonly<Record<string, string>>): Promise<void>;
  /** Of the processes that used the library. */
  pids(): number[];
  /** Their arguments and environments. */
  seen(): string;
}

export async function openKeychainStage(options: KeychainOptions = {}): Promise<KeychainStage> {
  const home = await mkdtemp(join(tmpdir(), 'qm-keychain-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const env = { HOME: home, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere', PATH: process.env.PATH ?? '' };
  const library = join(import.meta.dirname, 'fixtures', 'keyring-in-a-file.cjs');
  const read = (name: string): string | undefined =>
    existsSync(join(home, name)) ? readFileSync(join(home, name), 'utf8') : undefined;
  return {
    keychain: createKeychain({ clock: createSystemClock(), env }, { platform: 'linux', library, ...options }),
    library,
    env,
    become: (mode) => writeFile(join(home, 'keyring-mode'), mode),
    // Written by the library above.
    entries: () => JSON.parse(read('keyring.json') ?? '{}') as Record<string, string>,
    replaceEntries: (entries) => writeFile(join(home, 'keyring.json'), JSON.stringify(entries)),
    pids: () => (read('keyring-pids') ?? '').split('\n').filter(Boolean).map(Number),
    seen: () => read('keyring-seen') ?? '',
  };
}

/** The same without processes, for tests with many rounds. It always works. */
export async function openMemoryStage(): Promise<KeychainStage> {
  let held: Record<string, string> = {};
  return {
    keychain: {
      missing: () => undefined,
      read: async (account) => held[account],
      async write(account, text) {
        held = { ...held, [account]: text };
      },
      async remove(account) {
        const { [account]: _removed, ...others } = held;
        held = others;
      },
    },
    library: '',
    env: {},
    become: () => Promise.reject(new Error('it always works')),
    entries: () => held,
    async replaceEntries(entries) {
      held = { ...entries };
    },
    pids: () => [],
    seen: () => '',
  };
}
