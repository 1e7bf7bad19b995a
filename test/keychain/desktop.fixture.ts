import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSystemClock } from '../../src/base/index.ts';
import { createKeychain, type Keychain } from '../../src/storage/index.ts';
import { stateEnv } from '../support/state-home.ts';
import { eventually, within } from '../support/within.ts';

/** A login session with a keychain, in a home of its own. */
export interface Desktop {
  readonly home: string;
  /** For programs in this session. */
  readonly env: Readonly<Record<string, string>>;
  readonly keychain: Keychain;
  /** Starts the keychain again, as at the next login. */
  unlock(): Promise<void>;
  /** The same without the password. */
  lock(): Promise<void>;
  /** Stops the keychain where it is, so that it does not answer; and lets it go on. */
  freeze(): void;
  thaw(): void;
}

export async function openDesktop(): Promise<Desktop> {
  const home = await mkdtemp(join(tmpdir(), 'qm-desktop-'));
  const [data, cache, runtime] = [join(home, '.local', 'share'), join(home, '.cache'), join(home, 'run')];
  for (const folder of [data, cache, runtime]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const base = { PATH: process.env.PATH ?? '', HOME: home, XDG_RUNTIME_DIR: runtime };
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address', `--address=unix:path=${runtime}/bus`], {
    env: base,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let daemon: ChildProcess | undefined;
  onTestFinished(async () => {
    await end(daemon);
    await end(bus);
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  });
  const [line] = await within(once(bus.stdout, 'data'), 'the address of the bus');
  const env = {
    ...base,
    QM_STATE_DIR: stateEnv.QM_STATE_DIR,
    QM_KEYCHAIN: '',
    DBUS_SESSION_BUS_ADDRESS: String(line).trim(),
  };
  const keychain = createKeychain({ clock: createSystemClock(), env });

  async function start(args: readonly string[], password: string): Promise<void> {
    await end(daemon);
    daemon = spawn('gnome-keyring-daemon', ['--foreground', '--components=secrets', ...args], {
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    daemon.stdin?.end(password);
  }

  return {
    home,
    env,
    keychain,
    async unlock() {
      await start(['--unlock'], 'sesame of the login');
      await eventually(
        () =>
          keychain.read('nothing').then(
            () => true,
            () => undefined,
          ),
        'the keychain to answer',
      );
    },
    async lock() {
      await start(['--start'], '');
      await within(once(daemon ?? bus, 'spawn'), 'the keychain to start');
    },
    freeze: () => void daemon?.kill('SIGSTOP'),
    thaw: () => void daemon?.kill('SIGCONT'),
  };
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await within(gone, 'a program to end');
}
