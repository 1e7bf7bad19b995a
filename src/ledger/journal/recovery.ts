import { stat } from 'node:fs/promises';
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
import { doneRecord, runLine } from '../records/call-text.ts';
import { interruptedParts, voidParts } from '../records/end-text.ts';
import type { LedgerFiles } from './file-operations.ts';
import { claimedName, type JournalName, leftName, sealedName } from './journal-name.ts';
import { pairCalls } from './journal-reader.ts';
import { isMissing, openRegularFile } from './line-chunks.ts';
import { createMissingLines } from './missing-lines.ts';
import { sealSegment } from './seal-segment.ts';
import { journalSegments } from './segments.ts';

export interface RecoveryDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: LedgerFiles;
}

export interface RecoveryOptions {
  /** The life of the process that recovers. */
  readonly boot: string;
  /** Removes the files afterwards instead of sealing them. */
  readonly removes?: boolean;
}

/**
 * Takes over the journals of ended process lives, seals them and brings the run files up to date with them. A call that
 * was sent and has no end becomes `interrupted`; one that was held and never sent becomes `void`, because it did not run.
 * Never fails as a whole: a life that cannot be recovered now is left for later.
 */
export async function recoverJournals(
  deps: RecoveryDeps,
  places: LedgerPlaces,
  options: RecoveryOptions,
): Promise<void> {
  const { workspace, journal } = places;
  const folder = openGuardedFolder(journal.root, journal.names);
  if (folder === undefined) return;
  try {
    for (const life of await journalLives(folder.path))
      await recoverIfOver({ ...deps, ...options, workspace, folder }, life);
  } finally {
    folder.close();
  }
}

interface RecoveryPlace extends RecoveryDeps, RecoveryOptions {
  readonly workspace: string;
  readonly folder: GuardedFolder;
}

async function recoverIfOver(deps: RecoveryPlace, life: readonly JournalName[]): Promise<void> {
  const { folder, boot } = deps;
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
 * The files of each process life that are not sealed, oldest first. They belong together: a call may begin in one file and
 * end in the next.
 */
export async function journalLives(folder: string): Promise<JournalName[][]> {
  const lives = await journalSegments(folder);
  return lives.map((life) => life.filter(({ holder }) => holder !== 'sealed')).filter((life) => life.length > 0);
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
  const missing = createMissingLines(deps, deps.workspace);
  const {
    open: interrupted,
    held,
    corrupt,
  } = await pairCalls(await sourcesOf(deps, life), ({ parts, connection }, end) =>
    missing.add(parts.run, parts.id, runLine(parts, connection, end)),
  );
  const ts = new Date(deps.clock.now()).toISOString();
  const ends: string[] = [];
  for (const [calls, end] of [[interrupted, interruptedParts()] as const, [held, voidParts()] as const]) {
    for (const { parts, connection } of calls.values()) {
      await missing.add(parts.run, parts.id, runLine(parts, connection, end));
      ends.push(doneRecord(parts, end, ts));
    }
  }
  const failed = await missing.finish();
  const files = life.map((name) => name.original);
  if (corrupt > 0) deps.logger.warn('ledger.records-corrupted', { files, count: corrupt });
  if (failed.size === 0) {
    await settle(deps, life, ts, ends);
    deps.logger.info('ledger.recovered', { files, interrupted: interrupted.size, void: held.size });
    return;
  }
  for (const name of life) deps.folder.rename(name.file, leftName(name.original));
  const [run, error] = [...failed][0] ?? [];
  deps.logger.error('ledger.recovery-postponed', { files, run, error });
}

/** A call that begins in one of these files may end in a later one that is sealed already. */
async function sourcesOf(
  { folder }: RecoveryPlace,
  life: readonly JournalName[],
): Promise<{ readonly path: string }[]> {
  const [first] = life;
  const all = (await journalSegments(folder.path)).find(([name]) => name?.boot === first?.boot) ?? life;
  return all
    .filter(({ number }) => number >= (first?.number ?? 0))
    .map((name) => ({ path: join(folder.path, name.file) }));
}

/** Oldest first: an end without its beginning is harmless, but a beginning without its end would count as interrupted. */
async function settle(
  { folder, files, boot, removes }: RecoveryPlace,
  life: readonly JournalName[],
  ts: string,
  ends: readonly string[],
): Promise<void> {
  for (const name of life) {
    if (removes === true) {
      folder.remove(name.file);
      continue;
    }
    await sealSegment(files, folder, name.file, { by: boot, ts, records: name === life.at(-1) ? ends : [] });
    folder.rename(name.file, sealedName(name.original));
  }
}
