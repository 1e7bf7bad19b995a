import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { HubError } from '../../base/index.ts';
import { loadFleet } from '../../config/index.ts';
import { type Fleet, placeOf } from '../../domain/index.ts';
import { acquireLock, workspaceLayout } from '../../storage/index.ts';
import { fileFailure } from '../../workspace-files/index.ts';
import type { CliContext } from './context.ts';
import { sayIfUntrusted } from './untrusted-state.ts';

/** Runs `work` while no other command changes the configuration of the workspace. */
export async function withConfigLock<T>(cli: CliContext, workspace: string, work: () => Promise<T>): Promise<T> {
  const { clock, random } = cli;
  const layout = workspaceLayout(workspace);
  await sayIfUntrusted(cli, layout);
  const lock = await acquireLock(layout, 'config', { clock, random });
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** What the hub would make of these files, tried out in a folder of its own before anybody sees them. */
export async function tryOut(
  env: CliContext['env'],
  files: readonly { readonly file: string; readonly text: string }[],
): Promise<Fleet> {
  const stage = await mkdtemp(join(tmpdir(), 'qm-try-')).catch((error: unknown) => {
    throw fileFailure(error, 'make a folder in', tmpdir());
  });
  try {
    for (const { file, text } of files) {
      await mkdir(dirname(join(stage, file)), { recursive: true });
      await writeFile(join(stage, file), text, { mode: 0o600 });
    }
    return await loadFleet({ env }, { workspace: stage });
  } catch (error) {
    throw error instanceof HubError ? error : fileFailure(error, 'write below', tmpdir());
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** A file with a mistake that is not one server's alone is corrected by a person first. Without `files`: any file. */
export function refuseBrokenFile(fleet: Fleet, files?: readonly string[]): void {
  const [first, ...more] = fleet.problems.filter(
    ({ severity, server, file }) => severity === 'error' && server === undefined && files?.includes(file) !== false,
  );
  if (first === undefined) return;
  throw new HubError('CONFIG_INVALID', `${placeOf(first)}: ${first.message} Nothing was changed.`, {
    hint: first.fix ?? 'Correct it, then try again.',
    details: { problems: [first, ...more] },
  });
}
