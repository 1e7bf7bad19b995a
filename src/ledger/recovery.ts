import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Clock,
  type GuardedFolder,
  isAlive,
  isJsonObject,
  type Logger,
  openGuardedFolder,
  type ProcessLife,
  thisProcess,
} from '../base/index.ts';
import { runLine } from './call-text.ts';
import { interruptedParts } from './end-text.ts';
import { claimedName, type JournalName, leftName, parseJournalName } from './journal-name.ts';
import { pairCalls } from './journal-reader.ts';
import type { LedgerFiles } from './ledger-files.ts';
import { isMissing, openRegularFile } from './line-chunks.ts';
import { createMissingLines } from './missing-lines.ts';
import { journalPlace } from './places.ts';

export interface RecoveryDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: LedgerFiles;
}

/**
 * Takes over the journals of process lives that are over and brings the run files up to them. A call that was sent
 * and has no end becomes `interrupted`. Never fails as a whole: what cannot be recovered now is left for later.
 */
export async function recoverJournals(deps: RecoveryDeps, workspace: string, boot: string): Promise<void> {
  const folder = openGuardedFolder(workspace, journalPlace);
  if (folder === undefined) return;
  try {
    for (const life of await journalLives(folder.path)) await recoverIfOver({ ...deps, workspace, folder }, life, boot);
  } finally {
    folder.close();
  }
}

interface RecoveryPlace extends RecoveryDeps {
  readonly workspace: string;
  readonly folder: GuardedFolder;
}

async function recoverIfOver(deps: RecoveryPlace, life: readonly JournalName[], boot: string): Promise<void> {
  const { folder } = deps;
  try {
    if (await isHeld(deps, folder.path, life)) return;
    const claimed = claimLife(folder, life, boot);
    if (claimed.length > 0) await recoverLife(deps, claimed);
  } catch (error) {
    // Its hub was ending just then and took the file along.
    if (isMissing(error)) return;
    deps.logger.error('ledger.recovery-failed', { files: life.map((name) => name.file), error });
  }
}

/** The files of each process life, oldest first. A call may begin in one and end in the next, so they go together. */
export async function journalLives(folder: string): Promise<JournalName[][]> {
  const lives = new Map<string, JournalName[]>();
  for (const file of await filesIn(folder)) {
    const name = parseJournalName(file);
    if (name === undefined) continue;
    const life = lives.get(name.boot) ?? [];
    life.push(name);
    lives.set(name.boot, life);
  }
  return [...lives.values()].map((life) => life.sort((a, b) => a.number - b.number));
}

/** Whether a living process writes these files or is recovering them. */
export async function isHeld(
  deps: Pick<RecoveryDeps, 'clock'>,
  folder: string,
  life: readonly JournalName[],
): Promise<boolean> {
  for (const { holder } of life) if (typeof holder === 'object' && isAlive(holder)) return true;
  const written = life.find((name) => name.holder === 'writer');
  if (written === undefined) return false;
  const path = join(folder, written.file);
  const owner = await headerOwner(path);
  if (owner !== undefined) return isAlive(owner);
  // Just being created, or damaged: time tells.
  return deps.clock.now() - (await stat(path)).mtimeMs < unreadableHeaderGraceMs;
}

/** A rename happens once: whoever gets the oldest file has the life, everybody else walks away. */
export function claimLife(folder: GuardedFolder, life: readonly JournalName[], boot: string): JournalName[] {
  const owner = thisProcess();
  const claimed: JournalName[] = [];
  for (const name of life) {
    const file = claimedName(name.original, boot, owner);
    try {
      folder.rename(name.file, file);
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (claimed.length === 0) return [];
      continue;
    }
    claimed.push({ ...name, file, holder: owner });
  }
  return claimed;
}

const unreadableHeaderGraceMs = 60_000;

async function headerOwner(path: string): Promise<ProcessLife | undefined> {
  const handle = await openRegularFile(path);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(1024), 0, 1024, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    const header: unknown = JSON.parse(text.slice(0, text.indexOf('\n')));
    if (!isJsonObject(header) || typeof header.pid !== 'number') return undefined;
    return { pid: header.pid, start: typeof header.pid_start === 'number' ? header.pid_start : undefined };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  } finally {
    await handle.close();
  }
}

async function recoverLife(deps: RecoveryPlace, life: readonly JournalName[]): Promise<void> {
  const { workspace, folder } = deps;
  const missing = createMissingLines(deps, workspace);
  const sources = life.map((name) => ({ path: join(folder.path, name.file) }));
  const { open: interrupted, corrupt } = await pairCalls(sources, ({ parts, connection }, end) =>
    missing.add(parts.run, parts.id, runLine(parts, connection, end)),
  );
  for (const { parts, connection } of interrupted.values()) {
    await missing.add(parts.run, parts.id, runLine(parts, connection, interruptedParts()));
  }
  const failed = await missing.finish();
  const files = life.map((name) => name.original);
  if (corrupt > 0) deps.logger.warn('ledger.corrupt-records', { files, count: corrupt });
  if (failed.size === 0) {
    // Oldest first: an end without its beginning is harmless, the reverse would read as interrupted.
    for (const name of life) folder.remove(name.file);
    deps.logger.info('ledger.recovered', { files, interrupted: interrupted.size });
    return;
  }
  for (const name of life) folder.rename(name.file, leftName(name.original));
  const [run, error] = [...failed][0] ?? [];
  deps.logger.error('ledger.recovery-postponed', { files, run, error });
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    // A link or a pipe in this place was not made by a hub.
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
