import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { cookieName, type ProcessRow, readProcess } from '../../base/index.ts';

export type ListProcesses = () => Promise<ProcessRow[]>;

/**
 * Shares scans of the process table between callers, as when all children end at once. A caller that comes during a
 * scan shares the next one with all others that wait.
 */
export function createSharedList(list: ListProcesses = listProcesses): ListProcesses {
  let running: Promise<unknown> | undefined;
  let next: Promise<ProcessRow[]> | undefined;

  async function look(before: Promise<unknown> | undefined): Promise<ProcessRow[]> {
    await before;
    const rows = list();
    running = rows;
    next = undefined;
    return rows;
  }

  return () => {
    next ??= look(running?.catch(() => {}));
    return next;
  };
}

/** Empty without /proc (macOS). Read in slices, so that many processes do not block the event loop. */
export async function listProcesses(): Promise<ProcessRow[]> {
  const names = orUndefined(() => readdirSync('/proc')) ?? [];
  const rows: ProcessRow[] = [];
  let read = 0;
  for (const name of names) {
    if (!/^[0-9]+$/.test(name)) continue;
    const row = readProcess(Number(name));
    if (row !== undefined) rows.push(row);
    read += 1;
    if (read % 64 === 0) await setImmediate();
  }
  return rows;
}

/** Asynchronous, because the kernel may block this read while the process changes its memory map. */
export async function readCookie(pid: number): Promise<string | undefined> {
  try {
    const entries = (await readFile(`/proc/${pid}/environ`, 'latin1')).split('\0');
    return entries.find((entry) => entry.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1);
  } catch {
    return undefined;
  }
}

export function hasOwnUser(pid: number): boolean {
  const owner = orUndefined(() => statSync(`/proc/${pid}`).uid);
  return owner !== undefined && owner === process.geteuid?.();
}

export function readOwnNamespace(): string {
  const link = orUndefined(() => readlinkSync('/proc/self/ns/pid'));
  return /[0-9]+/.exec(link ?? '')?.[0] ?? '0';
}

/** A process may end during the scan, which is no failure. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
