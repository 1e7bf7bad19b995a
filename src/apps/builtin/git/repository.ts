import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { isInsideRepository } from './inside-repository.ts';
import { readRegularFile } from './regular-file.ts';

/** The served repository as found when the server was opened. All paths are real paths. */
export interface Repository {
  /** The top of the work tree; for a bare repository, the repository itself. */
  readonly root: string;
  readonly bare: boolean;
  /** Contains HEAD and the index. */
  readonly gitDir: string;
  /** Contains objects and refs, which linked work trees share. */
  readonly commonDir: string;
}

/** Finds the repository whose top is exactly this folder. Folders above it are never served. */
export async function locateRepository(
  folder: string,
  workTreeOf: (configFile: string) => Promise<string | undefined>,
): Promise<Repository> {
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined || !(await isFolder(root))) {
    throw invalid(`The folder ${folder} does not exist.`, 'Give the top folder of a work tree with --repository.');
  }
  const dotGit = join(root, '.git');
  const entry = await lstat(dotGit).catch(() => undefined);
  if (entry?.isDirectory()) return { root, bare: false, gitDir: dotGit, commonDir: dotGit };
  if (entry?.isFile()) return elsewhere(root, workTreeOf);
  if (entry?.isSymbolicLink()) throw invalid(`${dotGit} is a link.`, 'Give the work tree it belongs to.');
  if (entry !== undefined) throw invalid(`${dotGit} is neither a file nor a folder.`, 'Name another repository.');
  if (await isGitDir(root)) return { root, bare: true, gitDir: root, commonDir: root };
  throw noTop(root, await topAbove(root));
}

/** For a file that contains one path. */
const onePath = { maxBytes: 64 * 1024 };

/** The text after `gitdir: `, without trailing newlines. */
function pointerIn(written: string): string | undefined {
  if (!written.startsWith('gitdir: ')) return undefined;
  let end = written.length;
  while (written[end - 1] === '\n') end--;
  return written.slice('gitdir: '.length, end) || undefined;
}

/**
 * The folder has a `.git` file that points elsewhere. Anyone who can write to the folder can make it point anywhere, so
 * the other side must point back, as it does for a linked work tree and for a submodule.
 */
async function elsewhere(
  root: string,
  workTreeOf: (configFile: string) => Promise<string | undefined>,
): Promise<Repository> {
  const pointer = pointerIn((await readRegularFile(join(root, '.git'), onePath)) ?? '');
  const gitDir = pointer === undefined ? undefined : await real(resolve(root, pointer));
  if (gitDir === undefined)
    throw invalid(`${join(root, '.git')} points to a missing folder.`, 'Repair it: git worktree repair.');
  const shared = await text(join(gitDir, 'commondir'));
  const back =
    shared === undefined
      ? await workTreeOf(join(gitDir, 'config'))
      : dirname((await text(join(gitDir, 'gitdir'))) ?? '');
  if (back === undefined || (await real(resolve(gitDir, back))) !== root) {
    throw invalid(
      `${join(root, '.git')} points to ${gitDir}, which does not list this work tree.`,
      'Only linked work trees and submodules can have their repository elsewhere. Give the repository itself.',
    );
  }
  const commonDir = shared === undefined ? gitDir : await real(resolve(gitDir, shared));
  // The git folder of a linked work tree lies inside its repository.
  if (commonDir === undefined || !isInsideRepository(commonDir, gitDir)) {
    throw invalid(`${gitDir} is not inside the repository that it names.`, 'Repair it: git worktree repair.');
  }
  return { root, bare: false, gitDir, commonDir };
}

async function isGitDir(folder: string): Promise<boolean> {
  const parts = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => stat(join(folder, name)).catch(() => null)),
  );
  return parts.every((part) => part !== null);
}

async function topAbove(root: string): Promise<string | undefined> {
  for (let folder = dirname(root), below = root; folder !== below; below = folder, folder = dirname(folder)) {
    if ((await real(join(folder, '.git'))) !== undefined) return folder;
  }
  return undefined;
}

function noTop(root: string, top: string | undefined): HubError {
  if (top === undefined) return invalid(`${root} is not a git repository.`, 'Name one with --repository.');
  return invalid(
    `${root} is inside the repository ${top}. Only its top folder can be served.`,
    `Use --repository ${top}, or give another repository.`,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path)).isDirectory();
}

/** Undefined if there is nothing at the path. */
async function real(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

async function text(path: string): Promise<string | undefined> {
  return (await readRegularFile(path, onePath))?.trimEnd();
}

function invalid(message: string, hint: string): HubError {
  return new HubError('CONFIG_INVALID', `The built-in server git cannot start: ${message}`, { hint });
}
