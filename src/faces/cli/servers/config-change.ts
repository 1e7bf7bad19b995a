import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { loadConfiguration } from '../../../config/index.ts';
import { affectsAll, type Configuration, placeOf } from '../../../domain/index.ts';
import { acquireLock } from '../../../storage/index.ts';
import { fileFailure } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import { stateLayout } from '../hub/state-layout.ts';

/** Runs `work` while no other command changes the configuration of the workspace. */
export async function withConfigLock<T>(cli: CliContext, workspace: string, work: () => Promise<T>): Promise<T> {
  const { clock, random } = cli;
  const layout = stateLayout(cli, workspace);
  const lock = await acquireLock(layout, 'config', { clock, random });
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Loads these files as the hub would, in a temporary folder, before they become visible. */
export async function tryOut(
  env: CliContext['env'],
  files: readonly { readonly file: string; readonly text: string }[],
): Promise<Configuration> {
  const stage = await mkdtemp(join(tmpdir(), 'qm-try-')).catch((error: unknown) => {
    throw fileFailure(error, 'make a folder in', tmpdir());
  });
  try {
    for (const { file, text } of files) {
      await mkdir(dirname(join(stage, file)), { recursive: true });
      await writeFile(join(stage, file), text, { mode: 0o600 });
    }
    return await loadConfiguration({ env }, { workspace: stage });
  } catch (error) {
    throw error instanceof HubError ? error : fileFailure(error, 'write below', tmpdir());
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/**
 * Throws if a file has an error that is not limited to one server or agent; a person must correct it first. Without `files`,
 * checks all files.
 */
export function refuseBrokenFile(configuration: Configuration, files?: readonly string[]): void {
  const [first, ...more] = configuration.problems.filter(
    (problem) => affectsAll(problem) && files?.includes(problem.file) !== false,
  );
  if (first === undefined) return;
  throw new HubError('CONFIG_INVALID', `${placeOf(first)}: ${first.message} Nothing was changed.`, {
    hint: first.fix ?? 'Correct it, then try again.',
    details: { problems: [first, ...more] },
  });
}
