import { chown, link, lstat, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createId, errnoOf, HubError, type RandomBytes } from '../base/index.ts';

/** A text file as it was read, and the one way to put another text in its place. */
export interface OpenedFile {
  /** Undefined: there is no such file yet. */
  readonly text: string | undefined;
  /** Readers see the old text or the new one. Fails, and changes nothing, when the file is no longer what was read. */
  replace(text: string): Promise<void>;
  /** The first half of it: the new text is on the disk, but nobody sees it yet. */
  prepare(text: string): Promise<PreparedChange>;
}

export interface PreparedChange {
  commit(): Promise<void>;
  /** Leaves no trace of a change that was not committed. */
  discard(): Promise<void>;
}

export interface ChangeFileDeps {
  readonly random: RandomBytes;
}

/** `name` is how messages call the file. A link is followed: what it leads to is changed, and it stays a link. */
export async function openFile(deps: ChangeFileDeps, path: string, name: string): Promise<OpenedFile> {
  const target = await resolveLinks(path, name);
  const before = await readBytes(target, name);
  const text = before === undefined ? undefined : decode(before, name);
  const mark = text === undefined ? '' : (byteOrderMark.exec(text)?.[0] ?? '');
  const prepare = (next: string): Promise<PreparedChange> =>
    prepareChange(deps, { target, name, before, bytes: Buffer.from(mark + next) });
  return {
    text: text?.replace(byteOrderMark, ''),
    prepare,
    async replace(next) {
      await commitAll([await prepare(next)]);
    },
  };
}

/** Files that change together: all of them are on the disk before the first takes its place. */
export async function replaceAll(
  changes: readonly { readonly file: OpenedFile; readonly text: string }[],
): Promise<void> {
  const prepared: PreparedChange[] = [];
  try {
    for (const { file, text } of changes) prepared.push(await file.prepare(text));
  } catch (error) {
    for (const each of prepared) await each.discard();
    throw error;
  }
  await commitAll(prepared);
}

async function commitAll(prepared: readonly PreparedChange[]): Promise<void> {
  try {
    for (const each of prepared) await each.commit();
  } finally {
    for (const each of prepared) await each.discard();
  }
}

const byteOrderMark = /^\ufeff/;

interface Change {
  readonly target: string;
  readonly name: string;
  readonly before: Buffer | undefined;
  readonly bytes: Buffer;
}

async function prepareChange({ random }: ChangeFileDeps, change: Change): Promise<PreparedChange> {
  const { target, name, before, bytes } = change;
  const draft = join(dirname(target), `.${basename(target)}.${createId(random, 12)}.tmp`);
  const discard = (): Promise<void> => rm(draft, { force: true });
  try {
    await writeDraft(draft, target, bytes);
  } catch (error) {
    await discard();
    throw fileFailure(error, 'write', name);
  }
  return {
    discard,
    async commit() {
      // The last look before the change; what could come in between now has microseconds.
      if (!sameBytes(before, await readBytes(target, name))) throw changedMeanwhile(name);
      try {
        if (before === undefined) await place(draft, target, name);
        else await rename(draft, target);
      } catch (error) {
        throw error instanceof HubError ? error : fileFailure(error, 'write', name);
      }
    },
  };
}

/** The new file has the rights and the owner of the old one. */
async function writeDraft(draft: string, target: string, bytes: Buffer): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  const file = await open(draft, 'wx', 0o644);
  try {
    if (found !== undefined) {
      await file.chmod(found.mode & 0o7777);
      // Only root may give files away, and only root would take somebody's file from them here.
      await chown(draft, found.uid, found.gid).catch(() => undefined);
    }
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A hard link, unlike a rename, does not replace what somebody made meanwhile. */
async function place(draft: string, target: string, name: string): Promise<void> {
  try {
    await link(draft, target);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') throw changedMeanwhile(name);
    if (errno === undefined || !withoutLinks.has(errno)) throw error;
    await rename(draft, target);
  }
}

const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

async function resolveLinks(path: string, name: string): Promise<string> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return path;
  try {
    return await realpath(path);
  } catch (error) {
    throw new HubError('CONFIG_INVALID', `${name} is a link that leads nowhere.`, {
      cause: error,
      hint: 'Correct the link or remove it.',
    });
  }
}

async function readBytes(path: string, name: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw fileFailure(error, 'read', name);
  }
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new HubError('CONFIG_INVALID', `${name} is not valid UTF-8.`, {
      cause: error,
      hint: 'Save it as UTF-8, then try again.',
    });
  }
}

function sameBytes(left: Buffer | undefined, right: Buffer | undefined): boolean {
  return left === undefined || right === undefined ? left === right : left.equals(right);
}

function changedMeanwhile(name: string): HubError {
  return new HubError(
    'STATE_LOCKED',
    `${name} was changed by somebody else in this very moment; nothing was written.`,
    {
      hint: 'Look at it, then try again.',
    },
  );
}

/** A failed system call on a file of the workspace, with what to do about it. */
export function fileFailure(error: unknown, doing: string, name: string): HubError {
  const errno = errnoOf(error) ?? 'unknown error';
  return new HubError('CONFIG_INVALID', `Cannot ${doing} ${name} (${errno}); it is as it was.`, {
    cause: error,
    hint: fixes[errno] ?? 'Check the file, its folder and the disk.',
    details: { errno },
  });
}

const fixes: Readonly<Record<string, string>> = {
  EACCES: 'Give yourself the right to write it and its folder.',
  EPERM: 'Give yourself the right to write it and its folder.',
  EROFS: 'The file system is read-only.',
  ENOSPC: 'The disk is full; free some space.',
  EDQUOT: 'The quota is used up; free some space.',
  EISDIR: 'Move that folder away; a file belongs there.',
  ENOTDIR: 'Move the file away that stands where a folder belongs.',
  EEXIST: 'Move the file away that stands where a folder belongs.',
};
