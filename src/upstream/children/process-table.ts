import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { cookieName, type ProcessRow, readProcess } from '../../base/index.ts';

export type ListProcesses = () => Promise<ProcessRow[]>;

/**
 * For many who look at the processes at the same time, as when all children end: whoever comes while somebody looks shares
 * the next look, which begins after everybody who shares it has asked.
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

/** None without /proc (macOS). Read in slices, so that a machine full of processes does not hold up the event loop. */
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

/** Not in this thread: the kernel lets this read wait while the process holds its memory map. */
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

/** Processes end while they are looked at; that is no failure. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
