import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import { buildRoom } from './fixtures/build.mjs';
import { isAlive, pidsIn, pidsOfHub, until } from './fixtures/processes.mjs';
import { createChildren } from './index.ts';

const kinds = [
  'ignores-eof',
  'ignores-term',
  'grandchild-in-group',
  'grandchild-in-own-session',
  'double-forked',
  'forks-upon-term',
  'leaves-grandchild',
];
/** Seven leaders and four grandchildren. */
const processCount = 11;
/** Some seconds on a machine with nothing else to do. */
const allowedMs = 45_000;

let buildFolder: string;
let built: string;
let folder: string;
let pidFile: string;
let running: Hub[];

interface Hub {
  readonly pid: number;
  readonly watchdogs: number[];
  readonly process: ChildProcessByStdio<null, Readable, null>;
}

beforeAll(async () => {
  buildFolder = await mkdtemp(join(tmpdir(), 'qm-built-'));
  built = await buildRoom(buildFolder);
});

afterAll(() => rm(buildFolder, { recursive: true }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-hub-death-'));
  pidFile = join(folder, 'pids');
  running = [];
});

afterEach(async () => {
  for (const hub of running) hub.process.kill('SIGKILL');
  for (const pid of pidsIn(pidFile).filter(isAlive)) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true });
});

test(verifies('children:gate', 'killed before the gate opens: the command never ran'), async () => {
  const marker = join(folder, 'ran');
  const hub = spawn(process.execPath, [fixture('dies-at-gate.mjs'), built, '/usr/bin/touch', marker], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  hub.stdout.on('data', (chunk) => {
    told += String(chunk);
  });
  await until(() => hub.signalCode === 'SIGKILL' && told.endsWith('\n'), 'the hub is dead');
  await until(() => !isAlive(Number(told)), 'the child is gone');
  expect(existsSync(marker)).toBe(false);
});

test(verifies('children:watchdog', 'killed -9: nothing is left of seven stubborn children'), async () => {
  const hub = await startHub();
  const pids = await allUp();
  hub.process.kill('SIGKILL');
  await until(() => nothingLeft(hub, pids), 'all are gone', allowedMs);
});

test('killed with its whole process group: the watchdog is not in it', async () => {
  const hub = await startHub();
  const pids = await allUp();
  process.kill(-hub.pid, 'SIGKILL');
  await until(() => nothingLeft(hub, pids), 'all are gone', allowedMs);
});

test('killed after its watchdog was killed and replaced: nothing is left', async () => {
  const hub = await startHub();
  const pids = await allUp();
  process.kill(watchdogOf(hub), 'SIGKILL');
  await until(() => hub.watchdogs.length > 1 && isAlive(watchdogOf(hub)), 'a new watchdog is there');
  hub.process.kill('SIGKILL');
  await until(() => nothingLeft(hub, pids), 'all are gone', allowedMs);
});

test(verifies('children:stale', 'killed together with its watchdog: the next start sweeps'), async () => {
  const hub = await startHub();
  const pids = await allUp();
  process.kill(watchdogOf(hub), 'SIGKILL');
  hub.process.kill('SIGKILL');
  await until(() => !isAlive(hub.pid), 'the hub is dead');
  const next = createChildren(
    { clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom },
    { baseEnv: {} },
  );
  await next.sweepStale();
  await until(() => nothingLeft(hub, pids), 'all are gone', allowedMs);
  await next.close();
});

async function startHub(): Promise<Hub> {
  const specs = kinds.map((kind) => ({
    server: kind,
    command: process.execPath,
    args: [fixture('stubborn.mjs'), kind, pidFile],
    env: {},
    cwd: folder,
  }));
  const hub = spawn(process.execPath, [fixture('hub.mjs'), built, JSON.stringify(specs)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (hub.pid === undefined) throw new Error('the hub did not start');
  const watchdogs: number[] = [];
  running.push({ pid: hub.pid, watchdogs, process: hub });
  createInterface(hub.stdout).on('line', (line) => {
    const { watchdog } = JSON.parse(line);
    if (typeof watchdog === 'number') watchdogs.push(watchdog);
  });
  await until(() => watchdogs.length > 0, 'the hub has its watchdog');
  return { pid: hub.pid, watchdogs, process: hub };
}

async function allUp(): Promise<number[]> {
  await until(() => pidsIn(pidFile).length >= processCount, 'all are up');
  return pidsIn(pidFile);
}

function watchdogOf(hub: Hub): number {
  const pid = hub.watchdogs.at(-1);
  if (pid === undefined) throw new Error('no watchdog');
  return pid;
}

/** Those that wrote themselves down, now or since, any other with the hub's cookie, and the watchdogs. */
function nothingLeft(hub: Hub, pids: readonly number[]): boolean {
  const known = [...pids, ...pidsIn(pidFile), ...hub.watchdogs];
  return !known.some(isAlive) && pidsOfHub(hub.pid).length === 0;
}

function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}
