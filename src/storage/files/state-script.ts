import { closeSync, fchmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createId, type RandomBytes } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import type { WorkspaceLayout } from './layout.ts';
import { expectFolderOf, unfinishedSuffix } from './state-place.ts';

/** Writes a program into the state folder, where no agent can change it, and returns its path. */
export function putStateScript(layout: WorkspaceLayout, name: string, text: string, random: RandomBytes): string {
  const path = join(layout.folder, name);
  const draft = `${name}.${createId(random, 12)}${unfinishedSuffix}`;
  try {
    const folder = expectFolderOf(layout, path);
    try {
      const fd = folder.open(draft, 'create');
      try {
        writeFileSync(fd, text);
        fchmodSync(fd, 0o700);
      } finally {
        closeSync(fd);
      }
      folder.rename(draft, name);
    } finally {
      folder.close();
    }
    return path;
  } catch (error) {
    throw fileError(error, 'write', path);
  }
}
