import { closeSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  createId,
  errnoOf,
  type GuardedFolder,
  type GuardedPlace,
  HubError,
  openGuardedFolder,
  type RandomBytes,
} from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { layoutIn, type WorkspaceLayout } from './layout.ts';
import { type LockOptions, lockInPlace } from './lock-in-place.ts';
import { unfinishedSuffix } from './state-place.ts';
import { replaceFile } from './write-file.ts';

/** The folder in which earlier versions kept their state, in the workspace. */
export const earlierName = '.quartermaster';

/**
 * State in the workspace. Own: made by an earlier version on this machine. Foreign: anything else, such as a folder that
 * came with a repository; it holds tokens that somebody else knows.
 */
export type EarlierState = 'none' | 'own' | 'foreign';

export function findEarlierState({ workspace }: WorkspaceLayout): EarlierState {
  const folder = openEarlier(workspace);
  if (folder === undefined) return 'none';
  try {
    if (folder.stat(barrierName)?.isFile() === true) return 'none';
    const holdsState = folder.list().some((name) => isStateName(name) && name !== '.gitignore');
    if (!holdsState) return 'none';
    return isMadeHere(folder) ? 'own' : 'foreign';
  } finally {
    folder.close();
  }
}

/** Where an earlier version kept its journal. */
export function earlierJournal({ workspace }: WorkspaceLayout): GuardedPlace {
  return { root: workspace, names: [earlierName, 'journal'] };
}

/** Runs `move`, which removes the lock too, while no hub of an earlier version serves the workspace; fails if one does. */
export async function withEarlierLock(
  layout: WorkspaceLayout,
  options: LockOptions,
  move: () => Promise<void>,
): Promise<void> {
  const lock = await lockInPlace(earlierLayout(layout), 'hub', { ...options, waitMs: 0 });
  try {
    await move();
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * Copies the catalog, and the tokens to a file in which they count for nothing until the operator confirms them. Then
 * removes the state from the workspace and leaves a file at which an earlier version fails, so that it does not start
 * beside this one. The admin token and the keys are not taken: an agent's file tools could have read them.
 */
export async function moveEarlierState(layout: WorkspaceLayout, random: RandomBytes): Promise<void> {
  const folder = openEarlier(layout.workspace);
  if (folder === undefined) return;
  try {
    const [catalog, tokens] = ['catalog.json', 'tokens.json'].map((name) => readText(folder, name));
    if (catalog !== undefined) await replaceFile(layout, layout.catalog, catalog, random);
    if (tokens !== undefined) await replaceFile(layout, layout.earlierTokens, tokens, random);
    const others = folder.list().filter((name) => !isStateName(name));
    if (others.length === 0) leaveFile(layout, random);
    else leaveBarrier(folder, random);
  } catch (error) {
    throw fileError(error, 'move the state out of', folder.path);
  } finally {
    folder.close();
  }
}

const stateNames: ReadonlySet<string> = new Set([
  '.gitignore',
  'admin-token',
  'catalog.json',
  'journal',
  'lock',
  'names.json',
  'origin.json',
  'serve.json',
  'state-key',
  'tokens.json',
]);

/** Other files are the user's own, such as what a memory server keeps. */
function isStateName(name: string): boolean {
  return stateNames.has(name) || name.startsWith('untrusted-') || name.endsWith(unfinishedSuffix);
}

/** An earlier version wants a folder of this name, and does not move a file away. */
const barrierName = 'journal';

const notice =
  'Quartermaster keeps its state outside the workspace: `qm state path` says where.\n' +
  'This file stops earlier versions from starting here. You may delete it once none is installed.\n';

function leaveFile({ workspace }: WorkspaceLayout, random: RandomBytes): void {
  const root = openGuardedFolder(workspace, []);
  if (root === undefined) return;
  const draft = `${earlierName}.${createId(random, 12)}${unfinishedSuffix}`;
  try {
    writeNew(root, draft);
    root.removeTree(earlierName);
    root.rename(draft, earlierName);
  } finally {
    root.removeIfThere(draft);
    root.close();
  }
}

/** The folder stays, for the files in it that are not the hub's. */
function leaveBarrier(folder: GuardedFolder, random: RandomBytes): void {
  for (const name of folder.list()) if (isStateName(name)) folder.removeTree(name);
  const draft = `${barrierName}.${createId(random, 12)}${unfinishedSuffix}`;
  writeNew(folder, draft);
  folder.rename(draft, barrierName);
}

function writeNew(folder: GuardedFolder, name: string): void {
  const fd = folder.open(name, 'create');
  try {
    writeFileSync(fd, notice);
  } finally {
    closeSync(fd);
  }
}

function earlierLayout({ workspace }: WorkspaceLayout): WorkspaceLayout {
  const folder = join(workspace, earlierName);
  return layoutIn(workspace, folder, folder);
}

/** A file or a link of that name holds no state. */
function openEarlier(workspace: string): GuardedFolder | undefined {
  try {
    return openGuardedFolder(workspace, [earlierName]);
  } catch (error) {
    if (error instanceof HubError || errnoOf(error) === 'ENOTDIR' || errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const maxBytes = 64 * 1024 * 1024;

function readText(folder: GuardedFolder, name: string): string | undefined {
  if (folder.stat(name) === undefined) return undefined;
  const fd = folder.open(name, 'read', { secret: true });
  try {
    const text = readFileSync(fd, 'utf8');
    return text.length > maxBytes ? undefined : text;
  } finally {
    closeSync(fd);
  }
}

const originSchema = z.object({
  version: z.literal(1),
  inode: z.string(),
  born: z.string().nullable(),
});

/**
 * The earlier version wrote down the folder's own inode and birth time: a copy gets new values from the file system, and
 * nobody can choose them.
 */
function isMadeHere(folder: GuardedFolder): boolean {
  try {
    const found = originSchema.safeParse(JSON.parse(readText(folder, 'origin.json') ?? ''));
    const { inode, born } = folder.fstatExact();
    if (!found.success || found.data.inode !== String(inode)) return false;
    return found.data.born === null ? born === 0n : found.data.born === String(born);
  } catch {
    return false;
  }
}
