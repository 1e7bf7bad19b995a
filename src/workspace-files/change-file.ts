import { chown, link, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createId, errnoOf, HubError, type RandomBytes } from '../base/index.ts';
import { fileFailure } from './file-failure.ts';
import { readBytes } from './read-bytes.ts';

/** A text file as it was read, and the only way to replace it. */
export interface OpenedFile {
  /** Undefined if there is no such file yet. */
  readonly text: string | undefined;
  /** Readers see the old text or the new one. Fails without a change if the file is no longer as it was read. */
  replace(text: string): Promise<void>;
  /** Removes the file; of a link, only the link. Fails without a change if the file is no longer as it was read. */
  remove(): Promise<void>;
  /** The first half of `replace`: the new text is on disk, but not visible yet. */
  prepare(text: string): Promise<PreparedChange>;
}

export interface PreparedChange {
  commit(): Promise<void>;
  /** Removes all traces of an uncommitted change. */
  discard(): Promise<void>;
}

export interface ChangeFileDeps {
  readonly random: RandomBytes;
  /** Throws if the file must not be written. Asked right before each change on disk. */
  readonly beforeChange?: (() => Promise<void>) | undefined;
}

/** `name` is the file's name in messages. Follows a link: its target is changed, and it stays a link. */
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
    async remove() {
      await deps.beforeChange?.();
      if (!sameBytes(before, await readBytes(target, name))) throw changedMeanwhile(name);
      await rm(path).catch((error: unknown) => {
        throw fileFailure(error, 'remove', name);
      });
    },
  };
}

/** Replaces several files together: all new texts are on disk before the first one becomes visible. */
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

async function prepareChange({ random, beforeChange }: ChangeFileDeps, change: Change): Promise<PreparedChange> {
  const { target, name, before, bytes } = change;
  const draft = join(dirname(target), `.${basename(target)}.${createId(random, 12)}.tmp`);
  const discard = (): Promise<void> => rm(draft, { force: true });
  await beforeChange?.();
  try {
    await writeDraft(draft, target, bytes);
  } catch (error) {
    await discard();
    throw fileFailure(error, 'write', name);
  }
  return {
    discard,
    async commit() {
      await beforeChange?.();
      // The last check before the change leaves a window of microseconds.
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

/** The new file gets the mode and the owner of the old one. */
async function writeDraft(draft: string, target: string, bytes: Buffer): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  const file = await open(draft, 'wx', 0o644);
  try {
    if (found !== undefined) {
      await file.chmod(found.mode & 0o7777);
      // Only root may change a file's owner, and only root would otherwise take the file from its owner.
      await chown(draft, found.uid, found.gid).catch(() => undefined);
    }
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Unlike a rename, a hard link does not replace a file created meanwhile. */
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
