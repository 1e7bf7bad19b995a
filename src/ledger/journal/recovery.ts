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
} from '../../base/index.ts';
import type { LedgerPlaces } from '../places.ts';
import { runLine } from '../records/call-text.ts';
import { interruptedParts, voidParts } from '../records/end-text.ts';
import type { LedgerFiles } from './file-operations.ts';
import { claimedName, type JournalName, leftName, parseJournalName } from './journal-name.ts';
import { pairCalls } from './journal-reader.ts';
import { isMissing, openRegularFile } from './line-chunks.ts';
import { createMissingLines } from './missing-lines.ts';

export interface RecoveryDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: LedgerFiles;
}

/**
 * Takes over the journals of ended process lives and brings the run files up to date with them. A call that was sent and
 * has no end becomes `interrupted`; one that was held and never sent becomes `void`, because it did not run. Never fails
 * as a whole: a life that cannot be recovered now is left for later.
 */
export async function recoverJournals(deps: RecoveryDeps, places: LedgerPlaces, boot: string): Promise<void> {
  const { workspace, journal } = places;
  const folder = openGuardedFolder(journal.root, journal.names);
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
    if (await isInUse(deps, folder.path, life)) return;
    const claimed = claimLife(folder, life, boot);
    if (claimed.length > 0) await recoverLife(deps, claimed);
  } catch (error) {
    // Its hub was just stopping and removed the file.
    if (isMissing(error)) return;
    deps.logger.error('ledger.recovery-failed', { files: life.map((name) => name.file), error });
  }
}

/**
 * The files of each process life, oldest first. They belong together: a call may begin in one file and end in the next.
 */
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

/** Whether a living process writes or recovers these files. */
export async function isInUse(
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
  // The file is just being created, or it is damaged; its age decides.
  return deps.clock.now() - (await stat(path)).mtimeMs < unreadableHeaderGraceMs;
}

/** A rename succeeds once: the process that renames the oldest file owns the life, all others give up. */
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
  const {
    open: interrupted,
    held,
    corrupt,
  } = await pairCalls(sources, ({ parts, connection }, end) =>
    missing.add(parts.run, parts.id, runLine(parts, connection, end)),
  );
  for (const { parts, connection } of interrupted.values()) {
    await missing.add(parts.run, parts.id, runLine(parts, connection, interruptedParts()));
  }
  for (const { parts, connection } of held.values()) {
    await missing.add(parts.run, parts.id, runLine(parts, connection, voidParts()));
  }
  const failed = await missing.finish();
  const files = life.map((name) => name.original);
  if (corrupt > 0) deps.logger.warn('ledger.records-corrupted', { files, count: corrupt });
  if (failed.size === 0) {
    // Oldest first: an end without its beginning is harmless, but a beginning without its
    // end would count as interrupted.
    for (const name of life) folder.remove(name.file);
    deps.logger.info('ledger.recovered', { files, interrupted: interrupted.size, void: held.size });
    return;
  }
  for (const name of life) folder.rename(name.file, leftName(name.original));
  const [run, error] = [...failed][0] ?? [];
  deps.logger.error('ledger.recovery-postponed', { files, run, error });
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    // A hub creates only regular files here, so ignore links and pipes.
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
