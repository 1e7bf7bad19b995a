import { closeSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { createId, type GuardedFolder, openGuardedFolder, type RandomBytes } from '../../base/index.ts';
import { placeIn, type WorkspaceLayout } from './layout.ts';
import { unfinishedSuffix } from './state-place.ts';

/** Says which workspace a state folder belongs to. */
export const originName = 'origin.json';

const originSchema = z.object({
  version: z.literal(2),
  path: z.string().describe('The real path of the workspace'),
  device: z.string(),
  inode: z.string(),
  born: z.string().describe('Nanoseconds since the epoch; 0 where the file system does not keep it'),
});

export type Origin = Readonly<Omit<z.infer<typeof originSchema>, 'version'>>;

/** The workspace as it is now. */
export function originOf({ workspace }: WorkspaceLayout): Origin {
  const { dev, ino, birthtimeNs } = statSync(workspace, { bigint: true });
  return { path: workspace, device: String(dev), inode: String(ino), born: String(birthtimeNs) };
}

/** Device numbers do not survive a reboot. */
export function isSameFolder(a: Origin, b: Origin): boolean {
  return a.inode === b.inode;
}

/** Tells a folder from another one at the same path. */
export type WorkspaceIdentity = Pick<Origin, 'inode' | 'born'>;

/** Zeros if there is no folder. */
export function workspaceIdentity({ workspace }: Pick<WorkspaceLayout, 'workspace'>): WorkspaceIdentity {
  const found = statSync(workspace, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return { inode: '0', born: '0' };
  const { ino, birthtimeNs, ctimeNs } = found;
  // Where the time of birth is unknown, Node may give the time of the last change.
  return { inode: String(ino), born: birthtimeNs === ctimeNs ? '0' : String(birthtimeNs) };
}

/** A new folder may get the inode of one that was deleted, but not its time of birth. */
export function isSameWorkspace(one: WorkspaceIdentity, other: WorkspaceIdentity): boolean {
  return one.inode === other.inode && (one.born === other.born || one.born === '0' || other.born === '0');
}

export function readOrigin(folder: GuardedFolder): Origin | undefined {
  let fd: number;
  try {
    fd = folder.open(originName, 'read');
  } catch {
    return undefined;
  }
  try {
    return parseOrigin(readFileSync(fd, 'utf8'));
  } finally {
    closeSync(fd);
  }
}

export function writeOrigin(folder: GuardedFolder, origin: Origin, random: RandomBytes): void {
  const draft = `${originName}.${createId(random, 12)}${unfinishedSuffix}`;
  const fd = folder.open(draft, 'create');
  try {
    writeFileSync(fd, `${JSON.stringify({ version: 2, ...origin })}\n`);
  } finally {
    closeSync(fd);
  }
  // In one step: another process must not find half of it.
  folder.rename(draft, originName);
}

/** The state of a workspace that was at another path before it was moved here. */
export function findMovedState(
  layout: WorkspaceLayout,
): { readonly path: string; readonly folder: string } | undefined {
  const here = originOf(layout);
  for (const { folder, origin } of listStates(layout.home)) {
    // A new folder may get the inode of one that was deleted, but not its time of birth.
    const isSame = isSameFolder(origin, here) && origin.device === here.device && origin.born === here.born;
    const isHere = isSame && here.born !== '0' && origin.path !== here.path;
    if (isHere && !exists(origin.path)) return { path: origin.path, folder };
  }
  return undefined;
}

export interface StoredState {
  readonly folder: string;
  readonly origin: Origin;
}

/** The state folders of all workspaces. */
export function listStates(home: string): readonly StoredState[] {
  const all = join(home, 'workspaces');
  return foldersIn(all).flatMap((name) => {
    const folder = join(all, name);
    const origin = readOriginAt(join(folder, originName));
    return origin === undefined ? [] : [{ folder, origin }];
  });
}

/** The states of workspaces that no longer exist. */
export function listOrphans(home: string): readonly StoredState[] {
  return listStates(home).filter(({ origin }) => !exists(origin.path));
}

export function removeState(home: string, folder: string): void {
  withParent(home, folder, (parent) => parent.removeTree(basename(folder)));
}

/** Gives a workspace the state that it had at its path before. Its own, if it has any, must be gone. */
export function adoptState(layout: WorkspaceLayout, folder: string, random: RandomBytes): void {
  withParent(layout.home, folder, (parent) => {
    parent.rename(basename(folder), basename(layout.folder));
    const adopted = parent.child(basename(layout.folder));
    if (adopted === undefined) return;
    try {
      writeOrigin(adopted, originOf(layout), random);
    } finally {
      adopted.close();
    }
  });
}

function withParent(home: string, folder: string, work: (parent: GuardedFolder) => void): void {
  const { root, names } = placeIn({ home }, folder);
  const parent = openGuardedFolder(root, names.slice(0, -1));
  if (parent === undefined) return;
  try {
    work(parent);
  } finally {
    parent.close();
  }
}

function foldersIn(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

function readOriginAt(path: string): Origin | undefined {
  try {
    return parseOrigin(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function parseOrigin(text: string): Origin | undefined {
  try {
    const { success, data } = originSchema.safeParse(JSON.parse(text.slice(0, maxCharacters)));
    return success ? { path: data.path, device: data.device, inode: data.inode, born: data.born } : undefined;
  } catch {
    return undefined;
  }
}

const maxCharacters = 10_000;

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
