import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { answersSignals, readProcess } from '../../base/index.ts';

/** One life of one process: the system reuses pids. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; empty if the system does not report it. */
  readonly startTime: string;
}

export async function identifyThisProcess(): Promise<ProcessIdentity> {
  const found = await readStart(process.pid);
  return { pid: process.pid, startTime: found.kind === 'started' ? found.at : '' };
}

/** If it cannot be decided, the process counts as running. */
export async function isRunning({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  if (!answersSignals(pid)) return false;
  const found = await readStart(pid);
  if (found.kind === 'ended') return false;
  return found.kind === 'unknown' || startTime === '' || found.at === startTime;
}

type ProcessStart =
  | { readonly kind: 'started'; readonly at: string }
  /** Ended, but not yet reaped by its parent. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'unknown' };

async function readStart(pid: number): Promise<ProcessStart> {
  const bootId = await readOptional('/proc/sys/kernel/random/boot_id');
  return bootId === undefined ? startFromPs(pid) : startFromProc(pid, bootId.trim());
}

/** Start times in /proc count from boot, so the boot id is part of the identity. */
function startFromProc(pid: number, bootId: string): ProcessStart {
  const row = readProcess(pid);
  if (row === undefined) return { kind: 'unknown' };
  return row.ended ? { kind: 'ended' } : { kind: 'started', at: `${bootId}:${row.start}` };
}

/** For systems without /proc. A fixed time zone and locale make the text the same for every process. */
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
