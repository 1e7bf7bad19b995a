import { stat } from 'node:fs/promises';
import { type Clock, createSystemClock, sleep } from '../base/index.ts';
import { type CallLine, parseCallLine } from './call-line.ts';
import { isMissing, readLineChunks } from './line-chunks.ts';
import { runFile } from './places.ts';
import { runNames, tailStart, unlessUnreadable } from './read-calls.ts';

export interface FollowCallsOptions {
  readonly run?: string;
  /** Begin with that many of each run's last calls; none by default. */
  readonly last?: number;
  readonly clock?: Clock;
}

/** With the line as it was written. */
export type OnCall = (call: CallLine, text: string) => void;

/** Tells of every call that ends from now on, in runs that begin later too; returns when the signal aborts. */
export async function followCalls(
  workspace: string,
  options: FollowCallsOptions,
  onLine: OnCall,
  signal: AbortSignal,
): Promise<void> {
  const { run, last = 0, clock = createSystemClock() } = options;
  const positions = new Map<string, number>();
  for (const name of await runNames(workspace, run)) {
    const path = runFile(workspace, name);
    positions.set(name, await unlessUnreadable(path, run, 0, () => tailStart(path, last)));
  }
  while (!signal.aborted) {
    const began = clock.monotonic();
    for (const name of await runNames(workspace, run)) {
      if (signal.aborted) return;
      const [path, from] = [runFile(workspace, name), positions.get(name) ?? 0];
      positions.set(name, await unlessUnreadable(path, run, from, () => readOn(path, from, onLine)));
    }
    // With thousands of runs a look takes long; looking stays a small part of the time.
    await sleep(clock, Math.max(pollMs, pollShare * (clock.monotonic() - began)), signal);
  }
}

const pollMs = 250;
const pollShare = 10;

async function readOn(path: string, from: number, onLine: OnCall): Promise<number> {
  const size = await sizeOf(path);
  if (size === from) return from;
  // Shorter than what was read: it is another file now.
  let position = size < from ? 0 : from;
  for await (const { lines, end } of readLineChunks(path, position)) {
    position = end;
    for (const line of lines) {
      const call = parseCallLine(line);
      if (call !== undefined) onLine(call, line);
    }
  }
  return position;
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
