import { type Clock, createId, errnoOf, type GuardedFolder, type Logger, type RandomBytes } from '../../base/index.ts';
import type { WorkspaceLayout } from './layout.ts';
import { isMadeHere, markMadeHere, originName } from './state-origin.ts';
import { nameOf } from './state-place.ts';

interface SetAsideDeps {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly logger: Logger;
}

/**
 * Takes everything that gives rights, or says who holds the workspace, out of a folder that was not made here, and
 * makes it ours. The catalog and the names stay: they are only what servers said. Two processes may do this at once:
 * what each moves was there before it looked whose the folder is, so neither takes what the other has made since.
 */
export function setAsideUntrusted(layout: WorkspaceLayout, folder: GuardedFolder, deps: SetAsideDeps): void {
  const { clock, random, logger } = deps;
  const files = [layout.tokens, layout.adminToken, layout.stateKey, layout.serve, layout.locks].map(nameOf);
  const found = files.map((name) => ({ name, inode: folder.stat(name)?.ino }));
  if (isMadeHere(folder)) return;
  const locks = nameOf(layout.locks);
  const moved = found.filter(({ name, inode }) => inode !== undefined && (name !== locks || !isEmpty(folder, locks)));
  if (moved.length > 0) {
    const aside = `untrusted-${new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, '')}-${createId(random, 6)}`;
    const target = folder.ensureChild(aside);
    for (const { name, inode } of moved) moveIfSame(folder, target, name, inode);
    target.close();
    const setAside = moved.map(({ name }) => name);
    logger.error('state.untrusted', { folder: folder.path, setAside, to: aside, note });
  }
  markMadeHere(folder, random);
}

const note =
  `This folder was not made here: it was copied, restored, unpacked or came with a repository, or an earlier version ` +
  `made it (it has no valid ${originName}). Tokens in it are no longer valid: issue new ones with \`qm token issue\`.`;

function isEmpty(folder: GuardedFolder, name: string): boolean {
  const inner = folder.stat(name)?.isDirectory() === true ? folder.child(name) : undefined;
  try {
    return inner?.list().length === 0;
  } finally {
    inner?.close();
  }
}

function moveIfSame(folder: GuardedFolder, target: GuardedFolder, name: string, inode: number | undefined): void {
  if (folder.stat(name)?.ino !== inode) return;
  try {
    folder.moveTo(target, name);
  } catch (error) {
    // Another process was first.
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
