import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type WorkspaceLayout, workspaceLayout } from './layout.ts';

/** An empty workspace on the real disk, without state, removed after the test. */
export async function temporaryWorkspace(): Promise<WorkspaceLayout> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-storage-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'workspace'));
  const layout = workspaceLayout(join(folder, 'workspace'), join(folder, 'state'));
  await mkdir(dirname(layout.folder), { recursive: true, mode: 0o700 });
  return layout;
}
