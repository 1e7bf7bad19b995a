import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

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

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function readStart(pid: number): Promise<ProcessStart> {
  const bootId = await readOptional('/proc/sys/kernel/random/boot_id');
  return bootId === undefined ? startFromPs(pid) : startFromProc(pid, bootId.trim());
}

/** Start times in /proc count from boot, so the boot belongs to them. */
async function startFromProc(pid: number, bootId: string): Promise<ProcessStart> {
  const stat = await readOptional(`/proc/${pid}/stat`);
  if (stat === undefined) return { kind: 'unknown' };
  // The name in parentheses may hold anything; the numbered fields follow the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, threads, ticks] = [fields[0], Number(fields[17]), fields[19]];
  // The first thread may be gone while another still finishes a write.
  if ((state === 'Z' || state === 'X') && threads <= 1) return { kind: 'ended' };
  return ticks === undefined ? { kind: 'unknown' } : { kind: 'started', at: `${bootId}:${ticks}` };
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
