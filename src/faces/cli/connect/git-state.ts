import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CliContext } from '../context.ts';
import { repositoryOf } from './client-context.ts';

/** `outside`: in no repository, or git cannot tell. */
export type GitState = 'tracked' | 'ignored' | 'untracked' | 'outside';

const patienceMs = 10_000;

/** What git does with a file, which need not exist yet. */
export async function gitStateOf({ env }: Pick<CliContext, 'env'>, path: string): Promise<GitState> {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  if (repositoryOf(folder) === undefined) return 'outside';
  const tracked = await exitCode(env, folder, ['ls-files', '--error-unmatch', '--', path]);
  if (tracked === 0) return 'tracked';
  // 1: it is not. Anything else: git is missing, or does not trust the repository.
  if (tracked !== 1) return 'outside';
  return (await exitCode(env, folder, ['check-ignore', '--quiet', '--', path])) === 0 ? 'ignored' : 'untracked';
}

/** The settings of a repository that somebody else wrote must not run programs. */
const harmless = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

function exitCode(env: CliContext['env'], cwd: string, args: readonly string[]): Promise<number> {
  const { PATH, HOME } = env;
  return new Promise((resolve) => {
    const options = {
      cwd,
      env: { PATH, HOME, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
      timeout: patienceMs,
    };
    execFile('git', [...harmless, ...args], options, (error) => {
      resolve(error === null ? 0 : typeof error.code === 'number' ? error.code : -1);
    });
  });
}
