import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually, within } from '../../../test/support/within.ts';
import { createSystemClock } from '../../base/index.ts';
import { isAlive } from '../../upstream/children/fixtures/processes.mjs';
import { type KeyringMode, openKeychainStage } from './keychain.fixture.ts';
import { createKeychain } from './keychain.ts';
import { keychainScript } from './keychain-script.ts';

const clock = createSystemClock();

test('an entry is written, read, replaced and removed', async () => {
  const { keychain, entries } = await openKeychainStage();
  expect(keychain.missing()).toBeUndefined();
  expect(await keychain.read('a')).toBeUndefined();
  await keychain.write('a', 'first');
  await keychain.write('b', 'ünïcödé "quoted"\n');
  await keychain.write('a', 'second');
  expect(await keychain.read('a')).toBe('second');
  expect(await keychain.read('b')).toBe('ünïcödé "quoted"\n');
  await keychain.remove('a');
  await keychain.remove('a');
  expect(await keychain.read('a')).toBeUndefined();
  expect(entries()).toEqual({ 'quartermaster/b': 'ünïcödé "quoted"\n' });
});

test(verifies('secrets:unseen', 'no key is in the arguments or the environment of a process'), async () => {
  const { library, env, seen } = await openKeychainStage();
  const keychain = createKeychain({ clock, env: { ...env, AWS_SECRET: 'of-another' } }, { platform: 'linux', library });
  await keychain.write('a', 'sesame');
  await keychain.read('a');
  expect(seen()).toContain('keyring-in-a-file.cjs');
  expect(seen()).not.toMatch(/sesame|of-another/);
});

const failures: readonly [mode: KeyringMode, message: RegExp][] = [
  ['refuses', /cannot be used: Secret Service: unlock prompt was dismissed\.$/],
  ['crashes', /its process ended with SIGABRT/],
  ['chatters', /its answer is too long/],
  ['mumbles', /its answer cannot be read/],
];

test.each(failures)(
  verifies('secrets:keychain-refuses', 'a keychain that %s is an error with a next step'),
  async (mode, message) => {
    const { keychain, become } = await openKeychainStage();
    await keychain.write('a', 'sesame');
    await become(mode);
    const works = [() => keychain.read('a'), () => keychain.write('a', 'other'), () => keychain.remove('a')];
    for (const work of works) {
      const error = await work().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE', hint: expect.stringContaining('Unlock it') });
      expect(String(error)).toMatch(message);
      expect(JSON.stringify([error, String(error)])).not.toContain('sesame');
    }
    await become('works');
    expect(await keychain.read('a')).toBe('sesame');
  },
);

test(
  verifies('secrets:keychain-refuses', 'a keychain that does not answer is given up, with its process'),
  async () => {
    let waited = 0;
    const { env, library, become, pids } = await openKeychainStage();
    const keychain = createKeychain(
      { clock, env, onWait: () => (waited += 1) },
      { platform: 'linux', library, deadlineMs: 2_000 },
    );
    await become('hangs');
    await expect(keychain.read('a')).rejects.toThrow(/did not answer in 2 s/);
    expect(waited).toBe(1);
    await eventually(() => (pids().some(isAlive) ? undefined : true), 'its process to end');
  },
);

test('the process ends when the one that started it is killed', async () => {
  const { env, library, become, pids } = await openKeychainStage();
  await become('hangs');
  const starter = `
    const { spawn } = require('node:child_process');
    const [script, library, request] = process.argv.slice(1);
    const child = spawn(process.execPath, ['--eval', script, library, String(process.pid)], { stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.end(request);
    setInterval(() => {}, 1000);`;
  const request = JSON.stringify({ doing: 'read', service: 's', account: 'a' });
  const parent = spawn(process.execPath, ['--eval', starter, keychainScript, library, request], { env });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [pid = -1] = await eventually(() => (pids().length > 0 ? pids() : undefined), 'the process to start');
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await within(once(parent, 'exit'), 'the parent to end');
  await eventually(() => (isAlive(pid) ? undefined : true), 'the process to end');
});

test.each([
  [{ QM_KEYCHAIN: 'off', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/x' }, 'linux', /QM_KEYCHAIN/],
  [{ QM_KEYCHAIN: 'OFF' }, 'darwin', /QM_KEYCHAIN/],
  [{}, 'linux', /no D-Bus/],
  [{ DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: '/nonexistent' }, 'linux', /no D-Bus/],
  [{}, 'freebsd', /not supported/],
] as const)('%j on %s has no keychain, and starts no process to know it', async (env, platform, why) => {
  const { library, env: stage, pids } = await openKeychainStage();
  const keychain = createKeychain({ clock, env: { HOME: stage.HOME, ...env } }, { platform, library });
  expect(keychain.missing()).toMatch(why);
  await expect(keychain.read('a')).rejects.toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
  expect(pids()).toEqual([]);
});

test('the socket in the runtime folder leads to D-Bus', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'qm run ü-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'bus'), '');
  const { library } = await openKeychainStage();
  expect(createKeychain({ clock, env: { XDG_RUNTIME_DIR: folder } }, { platform: 'linux', library }).missing()).toBe(
    undefined,
  );
});

test('the package itself is found', () => {
  const env = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };
  expect(createKeychain({ clock, env }, { platform: 'linux' }).missing()).toBeUndefined();
});
