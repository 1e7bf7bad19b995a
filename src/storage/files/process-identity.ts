import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { answersSignals, readProcess } from '../../base/index.ts';

/** One life of one process: a number alone is given again to others. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; empty where the system does not tell. */
  readonly startTime: string;
}

export async function identifyThisProcess(): Promise<ProcessIdentity> {
  const found = await readStart(process.pid);
  return { pid: process.pid, startTime: found.kind === 'started' ? found.at : '' };
}

/** In doubt yes: what cannot be told apart is treated as alive. */
export async function isRunning({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  if (!answersSignals(pid)) return false;
  const found = await readStart(pid);
  if (found.kind === 'ended') return false;
  return found.kind === 'unknown' || startTime === '' || found.at === startTime;
}

type ProcessStart =
  | { readonly kind: 'started'; readonly at: string }
  /** Ended and not yet collected by its parent. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'unknown' };

async function readStart(pid: number): Promise<ProcessStart> {
  const bootId = await readOptional('/proc/sys/kernel/random/boot_id');
  return bootId === undefined ? startFromPs(pid) : startFromProc(pid, bootId.trim());
}

/** Start times in /proc count from boot, so the boot belongs to them. */
function startFromProc(pid: number, bootId: string): ProcessStart {
  const row = readProcess(pid);
  if (row === undefined) return { kind: 'unknown' };
  return row.ended ? { kind: 'ended' } : { kind: 'started', at: `${bootId}:${row.start}` };
}

/** For systems without /proc. A fixed zone and language make the text the same for every process. */
export async function startFromPs(pid: number): Promise<ProcessStart> {
  try {
    const env = { LC_ALL: 'C', TZ: 'UTC' };
    const { stdout } = await promisify(execFile)('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { env });
    const at = stdout.trim().replaceAll(/\s+/g, ' ');
    return at === '' ? { kind: 'unknown' } : { kind: 'started', at };
  } catch {
    return { kind: 'unknown' };
  }
}

async function readOptional(path: string): Promise<string | undefined> {
  return readFile(path, 'latin1').catch(() => undefined);
}
