import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Clock, defaultPath, HubError } from '../../base/index.ts';
import { askKeychain, type KeychainAnswer, type KeychainRequest } from './keychain-process.ts';

/** The keychain of the operating system, as far as the hub uses it: one text per account. */
export interface Keychain {
  /** Why this session has none, as half a sentence. Undefined if it may have one. Asks nobody. */
  missing(): string | undefined;
  /** Undefined if it has none. Each of these rejects if the keychain is locked, refuses or does not answer in time. */
  read(account: string): Promise<string | undefined>;
  write(account: string, text: string): Promise<void>;
  remove(account: string): Promise<void>;
}

export interface KeychainDeps {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called while a person may have to answer the keychain. */
  readonly onWait?: (() => void) | undefined;
}

export interface KeychainOptions {
  /** Long enough to type a password. */
  readonly deadlineMs?: number;
  readonly platform?: NodeJS.Platform;
  /** The keyring package, or a file that stands in for it. */
  readonly library?: string;
}

const service = 'quartermaster';

export function createKeychain({ clock, env, onWait }: KeychainDeps, options: KeychainOptions = {}): Keychain {
  const { deadlineMs = 30_000, platform = process.platform } = options;
  const library = (): string | undefined => options.library ?? findLibrary();

  function missing(): string | undefined {
    if (/^(?:off|no|false|0)$/i.test(env.QM_KEYCHAIN ?? '')) return 'QM_KEYCHAIN turns it off';
    if (platform !== 'darwin' && platform !== 'linux') return `it is not supported on ${platform}`;
    if (platform === 'linux' && busAddress(env) === undefined) return 'this session has no D-Bus';
    return library() === undefined ? 'the package @napi-rs/keyring is not installed' : undefined;
  }

  async function ask(request: Omit<KeychainRequest, 'service'>): Promise<KeychainAnswer> {
    const why = missing();
    if (why !== undefined) throw unavailable(why);
    const answer = await askKeychain(
      { clock },
      { ...request, service },
      { library: library() ?? '', env: environment(env, platform), deadlineMs, onWait },
    );
    if (answer.kind === 'failed') throw unavailable(withoutStop(answer.why));
    return answer;
  }

  return {
    missing,
    async read(account) {
      const answer = await ask({ doing: 'read', account });
      return answer.kind === 'found' ? answer.text : undefined;
    },
    async write(account, text) {
      await ask({ doing: 'write', account, text });
    },
    async remove(account) {
      await ask({ doing: 'remove', account });
    },
  };
}

/** For a program that must not use one. */
export function createNoKeychain(): Keychain {
  const why = 'this program does not use it';
  const refuse = (): Promise<never> => Promise.reject(unavailable(why));
  return { missing: () => why, read: refuse, write: refuse, remove: refuse };
}

function unavailable(why: string): HubError {
  return new HubError('KEYCHAIN_UNAVAILABLE', `The keychain cannot be used: ${why}.`, {
    hint: 'Unlock it, or work in a session that has it, then try again.',
    details: { why },
  });
}

function withoutStop(text: string): string {
  return text.trim().replace(/\.$/, '');
}

/** Finds it without loading it. */
function findLibrary(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('@napi-rs/keyring');
  } catch {
    return undefined;
  }
}

/** The program gets what leads to the keychain, and nothing else of the environment. */
const passedOn = ['HOME', 'USER', 'LOGNAME', 'LANG', 'XDG_RUNTIME_DIR', '__CF_USER_TEXT_ENCODING'];

function environment(env: KeychainDeps['env'], platform: NodeJS.Platform): Record<string, string> {
  const kept: Record<string, string> = { PATH: defaultPath };
  for (const name of passedOn) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  const bus = platform === 'linux' ? busAddress(env) : undefined;
  return bus === undefined ? kept : { ...kept, DBUS_SESSION_BUS_ADDRESS: bus };
}

/** As the D-Bus specification and systemd have it. */
function busAddress({ DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: folder }: KeychainDeps['env']) {
  if (address !== undefined && address !== '') return address;
  if (folder === undefined || !folder.startsWith('/')) return undefined;
  const socket = join(folder, 'bus');
  return existsSync(socket) ? `unix:path=${escaped(socket)}` : undefined;
}

/** In an address, all but these characters are percent-encoded. */
function escaped(path: string): string {
  return path.replace(/[^-0-9A-Za-z_/.]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}
