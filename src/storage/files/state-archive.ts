import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { errnoOf, type GuardedFolder, HubError } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import { isKept, keptPattern } from './kept-names.ts';
import type { WorkspaceLayout } from './layout.ts';
import type { LockOptions } from './lock-in-place.ts';
import { restoreFolder } from './restore-steps.ts';
import { openStateFolder } from './state-folder.ts';

const name = z.string().regex(keptPattern);

const parts = {
  quartermaster: z.literal('state'),
  workspace: z.string(),
  created: z.string(),
  files: z.array(z.strictObject({ path: z.tuple([name], name), data: z.base64() })),
};

const archiveSchema = z.discriminatedUnion('version', [
  z.strictObject({ ...parts, version: z.literal(2), code: z.string().regex(/^[0-9a-f]{64}$/) }),
  /** Without an authentication code. */
  z.strictObject({ ...parts, version: z.literal(1) }),
]);

export type StateArchive = z.infer<typeof archiveSchema>;

/** A copy of the state in one compressed file. It contains keys and token hashes. `key`: of the state home. */
export function packState(layout: WorkspaceLayout, now: number, key: Uint8Array): Buffer {
  const folder = openStateFolder(layout);
  if (folder === undefined) throw new HubError('INTERNAL', `${layout.folder} is missing.`);
  try {
    const files = filesIn(folder, []).map(({ path, bytes }) => ({ path, data: bytes.toString('base64') }));
    const content = { workspace: layout.workspace, created: new Date(now).toISOString(), files };
    const archive = { quartermaster: 'state', version: 2, ...content, code: codeOf(content, key) };
    return gzipSync(JSON.stringify(archive));
  } catch (error) {
    throw fileError(error, 'read', layout.folder);
  } finally {
    folder.close();
  }
}

/** Throws if the text is not a backup: `packState` writes neither these names nor one path twice. */
export function readArchive(bytes: Buffer, file: string): StateArchive {
  try {
    const archive = archiveSchema.parse(JSON.parse(gunzipSync(bytes, { maxOutputLength: maxBytes }).toString('utf8')));
    refuseForeign(archive);
    return archive;
  } catch (cause) {
    throw new HubError('USAGE', `${file} is not a backup of Quartermaster's state.`, {
      hint: 'Name a file that `qm state backup` wrote.',
      cause,
    });
  }
}

const maxBytes = 1024 * 1024 * 1024;

/** Whether `packState` wrote exactly this with the same key. */
export function isAuthentic(archive: StateArchive, key: Uint8Array): boolean {
  if (archive.version === 1) return false;
  return timingSafeEqual(Buffer.from(archive.code, 'hex'), Buffer.from(codeOf(archive, key), 'hex'));
}

function codeOf({ workspace, created, files }: ArchiveContent, key: Uint8Array): string {
  const document = ['backup', workspace, created, files.map(({ path, data }) => [path, data])];
  return createHmac('sha256', key).update(JSON.stringify(document)).digest('hex');
}

interface ArchiveContent extends Pick<StateArchive, 'workspace' | 'created'> {
  readonly files: readonly { readonly path: readonly string[]; readonly data: string }[];
}

function refuseForeign({ files }: StateArchive): void {
  const taken = new Set<string>();
  for (const { path } of files) {
    const full = path.join('/');
    if (taken.has(full) || !path.every((each, index) => isKept(each, index === 0)))
      throw new Error(`Not ours: ${full}`);
    taken.add(full);
  }
  for (const { path } of files) {
    const isBelowFile = path.some((_, index) => index > 0 && taken.has(path.slice(0, index).join('/')));
    if (isBelowFile) throw new Error(`Both a file and a folder: ${path.join('/')}`);
  }
}

/** Replaces the state by the backup. Nothing may use the state meanwhile. The state before it is kept under `aside`. */
export async function unpackState(
  layout: WorkspaceLayout,
  archive: StateArchive,
  aside: string,
  options: LockOptions = {},
): Promise<void> {
  const folder = openStateFolder(layout);
  if (folder === undefined) throw new HubError('INTERNAL', `${layout.folder} is missing.`);
  const fill = (fresh: GuardedFolder): void => {
    for (const { path, data } of archive.files) writeInto(fresh, path, Buffer.from(data, 'base64'));
  };
  try {
    await restoreFolder(layout, folder, { aside, fill }, options);
  } catch (error) {
    throw fileError(error, 'restore', layout.folder);
  } finally {
    folder.close();
  }
}

interface PackedFile {
  readonly path: readonly [string, ...string[]];
  readonly bytes: Buffer;
}

function filesIn(folder: GuardedFolder, parents: readonly string[]): PackedFile[] {
  return folder.list().flatMap((each): PackedFile[] => {
    if (!isKept(each, parents.length === 0)) return [];
    const [first = each, ...rest] = [...parents, each];
    if (folder.stat(each)?.isDirectory() === true) {
      const inner = folder.child(each);
      if (inner === undefined) return [];
      try {
        return filesIn(inner, [...parents, each]);
      } finally {
        inner.close();
      }
    }
    const bytes = readIfThere(folder, each);
    return bytes === undefined ? [] : [{ path: [first, ...rest], bytes }];
  });
}

/** A running hub may seal a journal file meanwhile, which renames it, or remove one that expired. */
function readIfThere(folder: GuardedFolder, each: string): Buffer | undefined {
  let fd: number;
  try {
    fd = folder.open(each, 'read');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeInto(folder: GuardedFolder, [first, ...rest]: readonly [string, ...string[]], bytes: Buffer): void {
  const [second, ...more] = rest;
  if (second !== undefined) {
    const inner = folder.ensureChild(first);
    try {
      writeInto(inner, [second, ...more], bytes);
    } finally {
      inner.close();
    }
    return;
  }
  const fd = folder.open(first, 'create');
  try {
    writeFileSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
