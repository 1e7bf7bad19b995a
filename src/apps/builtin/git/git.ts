import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { cookieName, HubError } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import type { BuiltinDeps, BuiltinKind, BuiltinServer, BuiltinSettings } from '../builtin-kind.ts';
import { numberOption, readOptions } from '../read-options.ts';
import { usages } from '../usages.ts';
import { gitBlame } from './blame.ts';
import { gitDiff } from './diff.ts';
import { findGit } from './find-git.ts';
import { createGitCalls, type GitCalls } from './git-calls.ts';
import { gitLog } from './log.ts';
import { locateRepository, type Repository } from './repository.ts';
import { gitSearch } from './search.ts';
import { gitShow } from './show.ts';
import { gitStatus } from './status.ts';

export const git: BuiltinKind = { ...usages.git, open };

/**
 * A control character takes six bytes of JSON, once as text and once as a value. A hub accepts messages up to 64 MiB.
 */
const mostBytes = 4 * 1024 * 1024;

async function open({ args, env, cwd }: BuiltinSettings, deps: BuiltinDeps): Promise<BuiltinServer> {
  const given = readOptions(git, args);
  const maxBytes = numberOption(git, given, 'max-bytes', { least: 1_024, most: mostBytes, otherwise: 262_144 });
  const seconds = numberOption(git, given, 'timeout', { least: 1, most: 3_600, otherwise: 60 });
  const folder = resolve(cwd, given.get('repository')?.[0] ?? '.');
  // The hub uses it to find leftover child processes, so pass it on to git.
  const cookie = env[cookieName];
  const program = await findGit(env.PATH, await realpath(folder).catch(() => folder));
  if (program === undefined) {
    throw new HubError('CONFIG_INVALID', 'The built-in server git needs the program git, which is not on PATH.', {
      hint: 'Install git, or correct the PATH of this server.',
    });
  }
  const host = {
    logger: deps.logger,
    program,
    env: cookie === undefined ? {} : { [cookieName]: cookie },
    maxBytes,
  };
  const calls = createGitCalls(
    { clock: deps.clock, host },
    { tmpDir: env.TMPDIR ?? '/tmp', timeoutMs: seconds * 1_000 },
  );
  const repository = await openRepository(calls, folder);
  const tools = { calls, repository, maxBytes };
  return {
    instructions: `Reads the git repository ${repository.root} and changes nothing. Paths are relative to its top folder.`,
    tools: [gitStatus, gitDiff, gitLog, gitShow, gitBlame, gitSearch].map((tool) => tool(tools)),
    close: () => calls.close(),
  };
}

/** Runs git once, so that a problem that would fail every call shows at the start. */
async function openRepository(calls: GitCalls, folder: string): Promise<Repository> {
  try {
    const repository = await locateRepository(folder, (file) => workTreeOf(calls, file));
    await calls.onRepository(repository, new AbortController(), (each) => each.run(['rev-parse', '--git-dir']));
    return repository;
  } catch (error) {
    if (!(error instanceof ToolFault)) throw error;
    throw new HubError('CONFIG_INVALID', `The repository ${folder} cannot be served: ${error.message}`, {
      cause: error,
    });
  }
}

async function workTreeOf(calls: GitCalls, file: string): Promise<string | undefined> {
  const entries = await calls.readConfig(file);
  return entries.findLast(({ key }) => key === 'core.worktree')?.value;
}
