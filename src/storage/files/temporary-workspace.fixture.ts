import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type WorkspaceLayout, workspaceLayout } from './layout.ts';

/** An empty workspace on the real disk, gone after the test. */
export async function temporaryWorkspace(): Promise<WorkspaceLayout> {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-storage-'));
  onTestFinished(() => rm(workspace, { recursive: true, force: true }));
  return workspaceLayout(workspace);
}
