import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../base/index.ts';
import type { SourceFile } from './emit-server.ts';
import { fileFailure } from './file-failure.ts';
import { readBytes } from './read-bytes.ts';

export interface FolderFile extends SourceFile {
  readonly isLink: boolean;
}

/** The files of a workspace folder, sorted by name; empty if there is no such folder. */
export async function readFolder(workspace: string, folder: string, endings: readonly string[]): Promise<FolderFile[]> {
  const names = await namesIn(join(workspace, folder), folder);
  const ours = names.filter((name) => !name.startsWith('.') && endings.some((ending) => name.endsWith(ending)));
  return Promise.all(ours.sort().map((name) => readOne(workspace, `${folder}/${name}`)));
}

async function namesIn(path: string, folder: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw fileFailure(error, 'read', folder);
  }
}

async function readOne(workspace: string, file: string): Promise<FolderFile> {
  const path = join(workspace, file);
  const found = await lstat(path).catch((error: unknown) => {
    throw fileFailure(error, 'read', file);
  });
  const text = (await readBytes(path, file))?.toString('utf8') ?? '';
  return { file, isLink: found.isSymbolicLink(), text };
}
