import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock } from '../../base/index.ts';
import { isAlive, pidsIn, until } from './fixtures/processes.mjs';
import { createWatchdog, type Watchdog } from './watchdog.ts';
import { watchdogScript } from './watchdog-script.ts';

// What the watchdog does to others is tested layer by layer: none of these processes has both a
// registered group and a cookie.
const shells = ['/bin/sh', '/bin/bash'].filter((shell) => existsSync(shell));
const nobody = 'QUARTERMASTER_CHILD=nobodyhasthis:';
const systemPath = '/usr/bin:/bin';
const leaf = fileURLToPath(new URL('fixtures/leaf.sh', import.meta.url));
let folder: string;
let started: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-watchdog-'));
  started = [];
});

afterEach(async () => {
  for (const child of started) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

test.each(shells)(
  verifies('children:watchdog', '%s: at EOF it ends the registered groups and no others'),
  async (shell) => {
    const [kept, released, first, second] = [
      await startLeaf({}),
      await startLeaf({}),
      await startLeaf({}),
      await startLeaf({}),
    ];
    const dog = startScript(shell, nobody, systemPath);
    dog.stdin?.write(`+${first}\n+${released}\n+${released}\n+${second}\n-${released}\n-${kept}\n`);
    // The last line has no end: its number may have been longer.
    dog.stdin?.end(`+${kept}`);
    await ended(dog);
    await until(() => ![first, second].some(isAlive), 'the registered groups are gone');
    expect([kept, released].filter(isAlive)).toEqual([kept, released]);
  },
);

test.each(shells)('%s: a registered group is asked to go before it is killed', async (shell) => {
  const file = join(folder, 'asked');
  const script = 'trap "echo asked >>$0.term; exit" TERM; echo $$ >>"$0"; while :; do sleep 0.05; done';
  const polite = spawn('/bin/sh', ['-c', script, file], { detached: true, stdio: 'ignore', env: { PATH: systemPath } });
  started.push(polite);
  await until(() => pidsIn(file).length === 1, 'it is up');
  const dog = startScript(shell, nobody, systemPath);
  dog.stdin?.end(`+${polite.pid}\n`);
  await ended(dog);
  expect(existsSync(`${file}.term`)).toBe(true);
});

test.each(shells)('%s: at EOF it ends those that carry the cookie, registered or not', async (shell) => {
  const marked = await startLeaf({ QUARTERMASTER_CHILD: 'boot1:1:2:3:4' });
  const others = await startLookalikes();
  const dog = startScript(shell, 'QUARTERMASTER_CHILD=boot1:', systemPath);
  dog.stdin?.end();
  await ended(dog);
  await until(() => !isAlive(marked), 'the marked process is gone');
  expect(others.filter(isAlive)).toEqual(others);
});

test('a grep that does not know -z will do', async () => {
  await writeFile(
    join(folder, 'grep'),
    '#!/bin/sh\ncase $1 in -*z*) exit 2 ;; esac\nexec /usr/bin/env -i PATH=/usr/bin:/bin grep "$@"\n',
    { mode: 0o755 },
  );
  const marked = await startLeaf({ QUARTERMASTER_CHILD: 'boot2:1:2:3:4' });
  const others = await startLookalikes();
  const dog = startScript('/bin/sh', 'QUARTERMASTER_CHILD=boot2:', `${folder}:${systemPath}`);
  dog.stdin?.end();
  await ended(dog);
  await until(() => !isAlive(marked), 'the marked process is gone');
  expect(others.filter(isAlive)).toEqual(others);
});

test('it gives the stubborn less than five seconds in all, counted by its pauses', async () => {
  const naps = join(folder, 'naps');
  await writeFile(join(folder, 'sleep'), `#!/bin/sh\necho "$1" >>${naps}\n`, { mode: 0o755 });
  const stubborn = await startLeaf({ QUARTERMASTER_CHILD: 'boot4:1:2:3:4' });
  const dog = startScript('/bin/sh', 'QUARTERMASTER_CHILD=boot4:', `${folder}:${systemPath}`);
  dog.stdin?.end(`+${stubborn}\n`);
  await ended(dog);
  await until(() => !isAlive(stubborn), 'it is gone');
  const seconds = readFileSync(naps, 'utf8').trim().split('\n').map(Number);
  expect(seconds.length).toBeGreaterThan(4);
  expect(seconds.reduce((sum, each) => sum + each, 0)).toBeLessThan(4);
});

test('a process that forks on and on is caught', async () => {
  const file = join(folder, 'pids');
  const script = 'echo $$ >>"$1"; sleep 0.05; setsid sh -c "$0" "$0" "$1" & sleep 0.05; exit';
  const runner = spawn('/bin/sh', ['-c', script, script, file], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: systemPath, QUARTERMASTER_CHILD: 'boot3:1:2:3:4' },
  });
  started.push(runner);
  await until(() => pidsIn(file).length > 3, 'it forks');
  const dog = startScript('/bin/sh', 'QUARTERMASTER_CHILD=boot3:', systemPath);
  dog.stdin?.end();
  await ended(dog);
  expect(pidsIn(file).filter(isAlive)).toEqual([]);
});

test('it stands apart from the hub: session, signals, folder', async () => {
  const watchdog = create();
  const pid = await pidOf(watchdog);
  const trapped = () => (Number.parseInt(field(pid, 'SigIgn'), 16) & (1 << 14)) !== 0;
  await until(trapped, 'SIGTERM is ignored');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.kill(pid, signal);
  const session = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[3];
  expect(Number(session)).toBe(pid);
  expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
  expect(isAlive(pid)).toBe(true);
  await watchdog.close();
  expect(isAlive(pid)).toBe(false);
});

test('it holds no descriptor that the hub had inherited', async () => {
  const dog = startScript('/bin/sh', nobody, systemPath, ['pipe', 'pipe']);
  const low = () => readdirSync(`/proc/${dog.pid}/fd`).filter((name) => name.length === 1);
  await until(() => low().join() === '0,1,2', 'it has closed them');
  dog.stdin?.end();
  await ended(dog);
});

test('killed, it is replaced, and the new one knows every group', async () => {
  const watchdog = create();
  const [first, second] = [await startLeaf({}), await startLeaf({})];
  expect(await watchdog.register(first)).toBe(true);
  const pid = await pidOf(watchdog);
  process.kill(pid, 'SIGKILL');
  await until(() => watchdog.pid !== undefined && watchdog.pid !== pid, 'a new watchdog is there');
  expect(await watchdog.register(second)).toBe(true);
  await watchdog.close();
  await until(() => ![first, second].some(isAlive), 'both groups are gone');
});

test('a registration that finds it just killed goes to a new one', async () => {
  const watchdog = create();
  const group = await startLeaf({});
  const pid = await pidOf(watchdog);
  process.kill(pid, 'SIGKILL');
  // Without giving the event loop a turn: the hub has not noticed yet.
  expect(await watchdog.register(group)).toBe(true);
  await until(() => watchdog.pid !== undefined && watchdog.pid !== pid, 'a new watchdog is there');
  await watchdog.close();
  await until(() => !isAlive(group), 'the group is gone');
});

test('with nothing registered it just goes', async () => {
  const watchdog = create();
  const group = await startLeaf({});
  await watchdog.register(group);
  watchdog.release(group);
  const pid = await pidOf(watchdog);
  await Promise.all([watchdog.close(), watchdog.close()]);
  expect([isAlive(pid), isAlive(group)]).toEqual([false, true]);
  expect(await watchdog.register(group)).toBe(false);
});

function create(): Watchdog {
  return createWatchdog(
    { clock: createSystemClock(), logger: createSilentLogger() },
    { mark: nobody, searchPath: systemPath },
  );
}

async function pidOf(watchdog: Watchdog): Promise<number> {
  watchdog.start();
  if (watchdog.pid === undefined) throw new Error('no watchdog');
  return watchdog.pid;
}

function startScript(shell: string, mark: string, path: string, more: 'pipe'[] = []): ChildProcess {
  const dog = spawn(shell, ['-c', watchdogScript, 'watchdog', mark], {
    argv0: 'sh',
    detached: true,
    env: { PATH: path },
    stdio: ['pipe', 'ignore', 'inherit', ...more],
  });
  started.push(dog);
  return dog;
}

async function ended(dog: ChildProcess): Promise<void> {
  // It looks at every process of the machine, in a shell.
  await until(() => dog.exitCode !== null, 'the watchdog is done', 50_000);
  expect(dog.exitCode).toBe(0);
}

/** In a group of its own; ends only by SIGKILL. */
async function startLeaf(env: Record<string, string>): Promise<number> {
  const file = join(folder, `leaf-${started.length}`);
  const child = spawn('/bin/sh', [leaf, file], { detached: true, stdio: 'ignore', env: { PATH: systemPath, ...env } });
  started.push(child);
  await until(() => pidsIn(file).length === 1, 'the leaf is up');
  const [pid = 0] = pidsIn(file);
  return pid;
}

async function startLookalikes(): Promise<number[]> {
  return [
    await startLeaf({}),
    await startLeaf({ QUARTERMASTER_CHILD: 'boot:1:2:3:4' }),
    await startLeaf({ OTHER: 'QUARTERMASTER_CHILD=boot1:1:2:3:4' }),
    await startLeaf({ OTHER: 'QUARTERMASTER_CHILD=boot2:1:2:3:4' }),
  ];
}

function field(pid: number, name: string): string {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
}
