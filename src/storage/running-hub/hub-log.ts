import { fstatSync, ftruncateSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceLayout } from '../files/layout.ts';
import { expectFolderOf } from '../files/state-place.ts';

const name = 'hub.log';
const earlier = 'hub.log.1';
const maxBytes = 4 * 1024 * 1024;

export function hubLogPath({ folder }: WorkspaceLayout): string {
  return join(folder, name);
}

/** Opens the log of a hub in the background for appending and returns a file descriptor. A large log is put aside. */
export function openHubLog(layout: WorkspaceLayout): number {
  const folder = expectFolderOf(layout, hubLogPath(layout));
  try {
    if ((folder.stat(name)?.size ?? 0) > maxBytes / 4) folder.rename(name, earlier);
    return folder.open(name, 'append', { secret: true });
  } finally {
    folder.close();
  }
}

/** Empties a log that has grown too large, for a hub that runs for weeks. Other files are left alone. */
export function boundHubLog(fd: number): void {
  const found = fstatSync(fd);
  if (found.isFile() && found.size > maxBytes) ftruncateSync(fd, 0);
}
