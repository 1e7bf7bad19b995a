import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { type Clock, type Logger, sleep, type Timer } from '../../base/index.ts';
import { watchdogScript } from './watchdog-script.ts';

/** A process outside the hub's session that ends the registered groups when the hub is gone. */
export interface Watchdog {
  readonly pid: number | undefined;
  start(): void;
  /** True when the group will be ended though the hub dies now; false when no watchdog stays alive. */
  register(group: number): Promise<boolean>;
  release(group: number): void;
  close(): Promise<void>;
}

/** A watchdog that dies this young would die again at once. */
const shortLifeMs = 1_000;
const maxAttempts = 3;
const farewellMs = 3_000;

export function createWatchdog(
  deps: { readonly clock: Clock; readonly logger: Logger },
  options: { readonly mark: string; readonly searchPath: string },
): Watchdog {
  const { clock, logger } = deps;
  const groups = new Set<number>();
  let current: ChildProcess | undefined;
  let replacement: Timer | undefined;
  let closing: Promise<void> | undefined;

  function start(): ChildProcess | undefined {
    replacement?.cancel();
    replacement = undefined;
    current ??= begin();
    return current;
  }

  function begin(): ChildProcess | undefined {
    const startedAt = clock.monotonic();
    const dog = spawnWatchdog(options);
    if (dog === undefined) {
      replaceLater();
      return undefined;
    }
    dog.on('error', lost);
    dog.on('exit', lost);
    if (groups.size > 0) dog.stdin?.write([...groups].map((group) => `+${group}\n`).join(''));
    return dog;

    function lost(): void {
      if (current !== dog) return;
      current = undefined;
      if (closing !== undefined || groups.size === 0) return;
      logger.warn('watchdog.lost', { pid: dog?.pid, groups: groups.size });
      if (clock.monotonic() - startedAt >= shortLifeMs) start();
      else replaceLater();
    }
  }

  function replaceLater(): void {
    if (groups.size > 0) replacement ??= clock.setTimer(shortLifeMs, start);
  }

  async function register(group: number): Promise<boolean> {
    groups.add(group);
    for (let attempt = 0; attempt < maxAttempts && closing === undefined; attempt += 1) {
      const dog = start();
      if (dog !== undefined && (await written(dog, `+${group}\n`))) return true;
      // Its child has ended meanwhile: nothing to watch, and its number may become another's.
      if (!groups.has(group)) return true;
      if (current === dog) current = undefined;
    }
    groups.delete(group);
    replaceLater();
    return false;
  }

  async function farewell(): Promise<void> {
    replacement?.cancel();
    const dog = current;
    if (dog?.pid === undefined) return;
    if (groups.size === 0) dog.stdin?.write('.\n');
    dog.stdin?.end();
    if (dog.exitCode !== null || dog.signalCode !== null) return;
    const ended = new AbortController();
    const end = (): void => ended.abort();
    // An error is an end, too.
    once(dog, 'exit').then(end, end);
    await sleep(clock, farewellMs, ended.signal);
  }

  return {
    get pid() {
      return current?.pid;
    },
    start() {
      start();
    },
    register,
    release(group) {
      if (groups.delete(group)) current?.stdin?.write(`-${group}\n`);
    },
    close() {
      closing ??= farewell();
      return closing;
    },
  };
}

function spawnWatchdog(options: { readonly mark: string; readonly searchPath: string }): ChildProcess | undefined {
  try {
    const dog = spawn('/bin/sh', ['-c', watchdogScript, 'quartermaster-watchdog', options.mark], {
      cwd: '/',
      detached: true,
      env: { PATH: `/usr/bin:/bin:${options.searchPath}` },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    dog.stdin.on('error', () => {});
    // The hub may end while it is watched.
    dog.unref();
    if (dog.stdin instanceof Socket) dog.stdin.unref();
    return dog;
  } catch {
    // Some failures are thrown and some are events; the caller sees either as no watchdog.
    return undefined;
  }
}

/** True when the line is in the pipe, from where it is read even after the hub's death. */
function written(dog: ChildProcess, line: string): Promise<boolean> {
  return new Promise((resolve) => {
    if (dog.pid === undefined || dog.stdin === null) resolve(false);
    else dog.stdin.write(line, (error) => resolve(error === null || error === undefined));
  });
}
