import { lstat, mkdir, readdir, realpath, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import { isInsideRepository } from './inside-repository.ts';
import { copyRegularFile, readRegularFile } from './regular-file.ts';
import type { Repository } from './repository.ts';

/** Copied, because these are small or git sometimes writes them. */
const copied: readonly string[] = [
  'HEAD',
  'index',
  'ORIG_HEAD',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'FETCH_HEAD',
];

/** An index has about 100 bytes per file; this allows over two million files. */
const mostIndex = 256 * 1024 * 1024;
/** For all other files, which have a few lines. */
const mostOther = 16 * 1024 * 1024;
/** For all copies of one call together: a repository may have any number of shared indexes. */
const mostCopied = 512 * 1024 * 1024;

/** Read through links, each checked at its real location. */
const linked: Readonly<Record<keyof Pick<Repository, 'gitDir' | 'commonDir'>, readonly string[]>> = {
  gitDir: ['info/sparse-checkout', 'logs/HEAD'],
  commonDir: ['objects', 'refs', 'packed-refs', 'reftable', 'shallow', 'info/exclude', 'info/attributes', 'logs/refs'],
};

/**
 * Fills a folder that git uses instead of the repository's own. It lacks the repository's configuration and hooks, so
 * nothing that they name can run. Git writes only here, and the folder is removed afterwards. It is created for each
 * call, because the repository changes between calls.
 */
export async function fillPrivateDir(dir: string, repository: Repository, signal: AbortSignal): Promise<void> {
  await requireOwnObjects(repository, signal);
  await Promise.all([mkdir(join(dir, 'info')), mkdir(join(dir, 'logs'))]);
  await copyParts(repository, dir, signal);
  for (const name of linked.gitDir) await link(repository, join(repository.gitDir, name), join(dir, name));
  for (const name of linked.commonDir) await link(repository, join(repository.commonDir, name), join(dir, name));
}

/**
 * The real location of a part of the repository; undefined if it does not exist. Throws for a link that leads out, and
 * for anything that is neither a file nor a folder.
 */
export async function partOf({ gitDir, commonDir }: Repository, path: string): Promise<string | undefined> {
  const found = await realpath(path).catch((error: unknown) => {
    if (errnoOf(error) !== 'ENOENT') throw error;
  });
  if (found === undefined) return undefined;
  const entry = await lstat(found);
  if (!isInsideRepository(gitDir, found) && !isInsideRepository(commonDir, found)) {
    throw new ToolFault(`Part of the repository is a link that leads out of it and is not read: ${path}.`);
  }
  if (!entry.isFile() && !entry.isDirectory()) {
    throw new ToolFault(`Part of the repository is neither a file nor a folder and is not read: ${path}.`);
  }
  return found;
}

/** Objects of another repository are content that nobody asked to serve. */
async function requireOwnObjects(repository: Repository, signal: AbortSignal): Promise<void> {
  for (const name of ['objects', 'objects/pack', 'objects/info']) {
    const folder = await partOf(repository, join(repository.commonDir, name));
    const entries = folder === undefined ? [] : await readdir(folder, { withFileTypes: true });
    const link = entries.find((entry) => entry.isSymbolicLink());
    if (link !== undefined) throw new ToolFault(`Objects that are links are refused: ${join(name, link.name)}.`);
  }
  const alternates = await partOf(repository, join(repository.commonDir, 'objects/info/alternates'));
  if (alternates === undefined) return;
  if (!/^[^#\n]/m.test((await readRegularFile(alternates, { maxBytes: mostOther, signal })) ?? '')) return;
  throw new ToolFault(
    'The repository borrows objects from another one (objects/info/alternates), which is not served. ' +
      'The operator can make it independent: git repack -a -d, then remove that file.',
  );
}

async function copyParts(repository: Repository, dir: string, signal: AbortSignal): Promise<void> {
  const shared = (await readdir(repository.gitDir)).filter((name) => name.startsWith('sharedindex.'));
  const parts: { readonly name: string; readonly from: string }[] = [];
  let total = 0;
  for (const name of [...copied, ...shared]) {
    signal.throwIfAborted();
    const from = await partOf(repository, join(repository.gitDir, name));
    if (from === undefined) continue;
    // A file that is too large by itself is refused by name below.
    total += Math.min((await lstat(from)).size, mostOf(name));
    parts.push({ name, from });
  }
  if (total > mostCopied) {
    throw new ToolFault(`The indexes of the repository have more than ${mostCopied} bytes in total and are not read.`);
  }
  // Count again, because files may have grown.
  let left = mostCopied;
  for (const { name, from } of parts) {
    left -= await copyRegularFile(from, join(dir, name), { maxBytes: Math.min(left, mostOf(name)), signal });
  }
}

function mostOf(name: string): number {
  return name.includes('index') ? mostIndex : mostOther;
}

async function link(repository: Repository, from: string, to: string): Promise<void> {
  const target = await partOf(repository, from);
  if (target !== undefined) await symlink(target, to);
}
