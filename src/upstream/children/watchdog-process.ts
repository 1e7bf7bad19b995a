import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { type Clock, settlesWithin } from '../../base/index.ts';
import { watchdogScript } from './watchdog-script.ts';

export interface WatchdogOptions {
  /** The environment entry of every child of this hub begins with this text. */
  readonly mark: string;
  readonly searchPath: string;
}

const exitWaitMs = 3_000;

/** Starts one watchdog process outside the hub's session. Undefined if that fails at once. */
export function spawnWatchdog({ mark, searchPath }: WatchdogOptions): ChildProcess | undefined {
  try {
    const dog = spawn('/bin/sh', ['-c', watchdogScript, 'quartermaster-watchdog', mark], {
      cwd: '/',
      detached: true,
      env: { PATH: `/usr/bin:/bin:${searchPath}` },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    dog.stdin.on('error', () => {});
    // The watchdog must not keep the hub's process alive.
    dog.unref();
    if (dog.stdin instanceof Socket) dog.stdin.unref();
    return dog;
  } catch {
    // Some failures are thrown and some are events. The caller treats both as a missing watchdog.
    return undefined;
  }
}

/** Resolves to true when the group is in the pipe, from which the watchdog reads it even after the hub's death. */
export function writeGroup(dog: ChildProcess, group: number): Promise<boolean> {
  return new Promise((resolve) => {
    if (dog.pid === undefined || dog.stdin === null) resolve(false);
    else dog.stdin.write(`+${group}\n`, (error) => resolve(error === null || error === undefined));
  });
}

/** Closes the pipe and waits for the exit. With `isDone`, the watchdog leaves without looking for processes. */
export async function endWatchdog(clock: Clock, dog: ChildProcess, isDone: boolean): Promise<void> {
  if (isDone) dog.stdin?.write('.\n');
  dog.stdin?.end();
  if (dog.exitCode !== null || dog.signalCode !== null) return;
  await settlesWithin(clock, exitWaitMs, once(dog, 'exit'));
}
