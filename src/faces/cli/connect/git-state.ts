import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findGit, guardedGitEnvironment, runGit } from '../../../apps/builtin/index.ts';
import { type Clock, defaultPath, errnoOf, pathOutside } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { repositoryOf } from './client-context.ts';

/** `outside`: in no repository, or git cannot tell. */
export type GitState = 'tracked' | 'ignored' | 'untracked' | 'outside';

/** A pipe in the place of a file of git would make it wait for ever. */
const patienceMs = 5_000;
const mostBytes = 64 * 1024;

/** What git does with a file, which need not exist yet. No program, and no setting that runs one, is taken from a repository. */
export async function gitStateOf(
  { env, clock }: Pick<CliContext, 'env' | 'clock'>,
  workspace: string,
  path: string,
): Promise<GitState> {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  const top = repositoryOf(folder);
  if (top === undefined || !hasReadableIgnores(folder, top)) return 'outside';
  const program = await findGit(pathOutside(workspace, env.PATH ?? defaultPath).path, top);
  if (program === undefined) return 'outside';
  const home = env.HOME === undefined ? {} : { HOME: env.HOME };
  const exitCode = (...args: string[]): Promise<number | null> =>
    endedWithin(clock, (signal) =>
      runGit({
        program,
        args: ['-C', folder, ...harmless, ...args, '--', path],
        // Not the workspace: the machine may look up programs and settings in the folder that a program starts in.
        cwd: '/',
        env: { ...guardedGitEnvironment, ...home, PATH: dirname(program), GIT_TERMINAL_PROMPT: '0' },
        maxBytes: mostBytes,
        signal,
      }),
    );
  const tracked = await exitCode('--literal-pathspecs', 'ls-files', '--error-unmatch');
  if (tracked === 0) return 'tracked';
  // 1: it is not. Anything else: git took too long, or does not trust the repository.
  if (tracked !== 1) return 'outside';
  const ignored = await exitCode('check-ignore', '--quiet');
  return ignored === 0 ? 'ignored' : ignored === 1 ? 'untracked' : 'outside';
}

/** The settings of a repository that somebody else wrote must not run programs. */
const harmless = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

/** Git reads these files of the work tree and would wait at a pipe. */
function hasReadableIgnores(folder: string, top: string): boolean {
  for (let here = folder; ; here = dirname(here)) {
    const found = lstatSync(join(here, '.gitignore'), { throwIfNoEntry: false });
    // Git does not follow a link here.
    if (found !== undefined && !found.isFile() && !found.isSymbolicLink()) return false;
    if (here === top) return true;
  }
}

/** Null: git was ended, or could not be started. */
async function endedWithin(
  clock: Clock,
  run: (signal: AbortSignal) => ReturnType<typeof runGit>,
): Promise<number | null> {
  const ending = new AbortController();
  const timer = clock.setTimer(patienceMs, () => ending.abort());
  try {
    return (await run(ending.signal)).code;
  } catch (error) {
    if (ending.signal.aborted || errnoOf(error) !== undefined) return null;
    throw error;
  } finally {
    timer.cancel();
  }
}
