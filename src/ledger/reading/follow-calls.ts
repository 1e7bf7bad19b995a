import { stat } from 'node:fs/promises';
import { type Clock, createSystemClock, sleep } from '../../base/index.ts';
import { isMissing, readLineChunks } from '../journal/line-chunks.ts';
import { runFile } from '../places.ts';
import { type CallLine, parseCallLine } from '../records/call-line.ts';
import { runNames, tailStart, unlessUnreadable } from './read-calls.ts';

export interface FollowCallsOptions {
  readonly run?: string;
  /** Start with this many of each run's last calls. Default: 0. */
  readonly last?: number;
  readonly clock?: Clock;
}

/** `text` is the line as it was written. */
export type OnCall = (call: CallLine, text: string) => void;

/** Reports every call that ends from now on, also in runs that begin later. Returns when the signal aborts. */
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
    // With thousands of runs one scan takes long, so sleep in proportion to it.
    await sleep(clock, Math.max(pollMs, pollShare * (clock.monotonic() - began)), signal);
  }
}

const pollMs = 250;
const pollShare = 10;

async function readOn(path: string, from: number, onLine: OnCall): Promise<number> {
  const size = await sizeOf(path);
  if (size === from) return from;
  // Shorter than the part already read, so the file was replaced.
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
