import { closeSync, fstatSync, fsync, read, write } from 'node:fs';
import { promisify } from 'node:util';
import type { ApprovalStore } from '../../approvals/index.ts';
import { errnoOf, type Logger, type RandomBytes } from '../../base/index.ts';
import type { TextSeal } from '../../vault/index.ts';
import { fileError } from '../files/file-error.ts';
import { readSmallFile } from '../files/json-document.ts';
import type { WorkspaceLayout } from '../files/layout.ts';
import { expectFolderOf, openFolderOf, statePlaceName } from '../files/state-place.ts';
import { replaceFile } from '../files/write-file.ts';
import { ApprovalLog } from './approval-log.ts';

/** The files of the store of approvals. Each write is on disk when its promise resolves. */
export interface ApprovalLogFile {
  readonly path: string;
  /** Undefined if there is none. What is read survives a power cut. */
  read(): Promise<Buffer | undefined>;
  /** False if the file does not have that size. */
  append(size: number, text: string): Promise<boolean>;
  replace(text: string): Promise<void>;
  /** Renames a damaged file, for people to look at. */
  putAside(): void;
  epochs(): Promise<readonly string[]>;
  keepEpochs(epochs: readonly string[]): Promise<void>;
}

export interface ApprovalFileDeps {
  readonly logger: Logger;
  readonly random: RandomBytes;
  /** Arguments may contain secrets. */
  readonly seal: TextSeal;
}

/** The approvals of a file workspace. */
export function createFileApprovalStore(
  layout: WorkspaceLayout,
  deps: ApprovalFileDeps,
  change: (file: ApprovalLogFile) => ApprovalLogFile = (file) => file,
): ApprovalStore {
  return new ApprovalLog({ ...deps, file: change(approvalLogFile(layout, deps)) });
}

function approvalLogFile(layout: WorkspaceLayout, { random }: Pick<ApprovalFileDeps, 'random'>): ApprovalLogFile {
  const { approvals: path, approvalsEpoch } = layout;
  const failing = (doing: string) => (error: unknown) => Promise.reject(fileError(error, doing, path));
  return {
    path,
    read: () => readSynced(layout, path).catch(failing('read')),
    append: (size, text) => appendSynced(layout, path, size, text).catch(failing('write')),
    replace: (text) => replaceFile(layout, path, text, random).catch(failing('write')),
    putAside() {
      const folder = openFolderOf(layout, path);
      try {
        folder?.rename(statePlaceName(path), `${statePlaceName(path)}.damaged`);
      } finally {
        folder?.close();
      }
    },
    async epochs() {
      const text = await readSmallFile(layout, approvalsEpoch, {
        maxBytes: 1000,
        fix: 'Delete it; everybody is asked again.',
      });
      return (text ?? '').split(/\s+/).filter((epoch) => epoch !== '');
    },
    keepEpochs: (epochs) =>
      replaceFile(layout, approvalsEpoch, `${epochs.join(' ')}\n`, random).catch(failing('write')),
  };
}

async function readSynced(layout: WorkspaceLayout, path: string): Promise<Buffer | undefined> {
  const folder = openFolderOf(layout, path);
  if (folder === undefined) return undefined;
  try {
    const fd = folder.open(statePlaceName(path), 'update', { secret: true });
    try {
      await promisify(fsync)(fd);
      const bytes = Buffer.alloc(fstatSync(fd).size);
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await promisify(read)(fd, bytes, at, bytes.length - at, at);
        if (bytesRead === 0) return bytes.subarray(0, at);
        at += bytesRead;
      }
      return bytes;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  } finally {
    folder.close();
  }
}

async function appendSynced(layout: WorkspaceLayout, path: string, size: number, text: string): Promise<boolean> {
  const folder = expectFolderOf(layout, path);
  try {
    const fd = folder.open(statePlaceName(path), 'update', { secret: true });
    try {
      if (fstatSync(fd).size !== size) return false;
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await promisify(write)(fd, bytes, at, bytes.length - at, size + at);
        at += bytesWritten;
      }
      await promisify(fsync)(fd);
      return true;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  } finally {
    folder.close();
  }
}
