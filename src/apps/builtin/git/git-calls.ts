import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Clock, errnoOf, type Logger } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import { type ConfigEntry, ownConfig, parseConfigList } from './local-config.ts';
import { fillPrivateDir, partOf } from './private-dir.ts';
import type { Repository } from './repository.ts';
import { type GitOutput, runGit } from './run-git.ts';

export interface GitCallsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface GitCallsOptions {
  readonly program: string;
  /** Variables that git gets besides its own fixed ones. */
  readonly env: Readonly<Record<string, string>>;
  /** Where each call has a folder while it runs. */
  readonly tmpDir: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Runs git for the tools, one call at a time or many. */
export interface GitCalls {
  /** What git says of one configuration file; what that file includes is left out. */
  readConfig(file: string): Promise<readonly ConfigEntry[]>;
  /** Ends what git is still doing for the work when the signal aborts, when time is up, or at `close`. */
  onRepository<T>(repository: Repository, signal: AbortSignal, work: (git: Git) => Promise<T>): Promise<T>;
  /** Resolves when no git runs any more and nothing of it is left. */
  close(): Promise<void>;
}

/** Git on one repository, for the time of one call. */
export interface Git {
  readonly repository: Repository;
  /** Rejects with a ToolFault where git fails. */
  run(args: readonly string[]): Promise<GitOutput>;
  /** Where git has a reason to fail: the exit code tells. */
  attempt(args: readonly string[]): Promise<GitOutput>;
}

/** What its tools have in common. */
export interface GitTools {
  readonly calls: GitCalls;
  readonly repository: Repository;
  readonly maxBytes: number;
}

export function createGitCalls(deps: GitCallsDeps, options: GitCallsOptions): GitCalls {
  const underWay = new Map<AbortController, Promise<unknown>>();
  let closed = false;

  async function inDir<T>(signal: AbortSignal, work: (dir: string, signal: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new AbortController();
    if (closed) throw givenUp();
    const giveUp = (): void => ending.abort(givenUp());
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    const timer = deps.clock.setTimer(options.timeoutMs, () => ending.abort(late(options.timeoutMs)));
    const running = inTemporaryDir(options.tmpDir, (dir) => work(dir, ending.signal)).catch(asFault);
    underWay.set(ending, running);
    try {
      return await running;
    } finally {
      underWay.delete(ending);
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
    }
  }

  function start(
    args: readonly string[],
    cwd: string,
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<GitOutput> {
    const all = { ...fixedEnvironment, ...options.env, PATH: dirname(options.program), ...env };
    return runGit({ program: options.program, args, cwd, env: all, maxBytes: options.maxBytes, signal });
  }

  async function list(file: string, dir: string, signal: AbortSignal): Promise<readonly ConfigEntry[]> {
    const args = ['config', '--file', file, '--no-includes', '--list', '-z'];
    // The folder is no repository, so git knows no other configuration either.
    const output = await start(args, dir, { GIT_DIR: dir }, signal);
    if (output.code === 0 && !output.cut) return parseConfigList(output.stdout.toString('utf8'));
    deps.logger.warn('git.config_unreadable', { file, code: output.code, said: output.said });
    throw new ToolFault('The configuration of the repository cannot be read. Its operator must repair it.');
  }

  async function configOf(repository: Repository, dir: string, signal: AbortSignal): Promise<string> {
    const read = async (file: string): Promise<readonly ConfigEntry[]> => {
      const part = await partOf(repository, file);
      return part === undefined ? [] : list(part, dir, signal);
    };
    const entries = await read(join(repository.commonDir, 'config'));
    if (!entries.some(({ key }) => key === 'extensions.worktreeconfig')) return ownConfig(entries, repository);
    return ownConfig([...entries, ...(await read(join(repository.gitDir, 'config.worktree')))], repository);
  }

  async function prepared(repository: Repository, dir: string, signal: AbortSignal): Promise<Git> {
    const config = await configOf(repository, dir, signal);
    await fillPrivateDir(dir, repository);
    await writeFile(join(dir, 'config'), config);
    const { root, bare } = repository;
    const env: Readonly<Record<string, string>> = bare ? { GIT_DIR: dir } : { GIT_DIR: dir, GIT_WORK_TREE: root };
    const attempt = (args: readonly string[]): Promise<GitOutput> => start(args, bare ? dir : root, env, signal);
    return {
      repository,
      attempt,
      async run(args) {
        const output = await attempt(args);
        if (output.code === 0 || output.cut) return output;
        deps.logger.warn('git.failed', { command: args[0], code: output.code, said: output.said });
        throw new ToolFault(
          `git ${args[0]} failed with exit code ${output.code}; what it said is in this server's log.`,
        );
      },
    };
  }

  return {
    readConfig: (file) => inDir(new AbortController().signal, (dir, signal) => list(file, dir, signal)),
    onRepository: (repository, signal, work) =>
      inDir(signal, async (dir, ending) => work(await prepared(repository, dir, ending))),
    async close() {
      closed = true;
      for (const ending of underWay.keys()) ending.abort(givenUp());
      await Promise.allSettled(underWay.values());
    },
  };
}

/**
 * Git's environment, whatever the hub's own is. The first three keep out what belongs to the machine and the user; then
 * no patterns in paths, nothing from the network, and no new index, which would be thrown away.
 */
const fixedEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C.UTF-8',
};

async function inTemporaryDir<T>(parent: string, work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(parent, 'qm-git-'));
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What the operating system refuses is nobody's defect: folders go away, disks are full. */
function asFault(error: unknown): never {
  const code = errnoOf(error);
  // Node's own codes are for wrong arguments, which would be a defect.
  if (code === undefined || code.startsWith('ERR_')) throw error;
  throw new ToolFault(`The repository, git or the folder for temporary files cannot be used (${code}).`);
}

function givenUp(): ToolFault {
  return new ToolFault('The call was given up before git had answered.');
}

function late(ms: number): ToolFault {
  return new ToolFault(
    `git took longer than ${ms / 1_000} seconds and was ended. Ask for less: a path, a smaller limit, a later date.`,
  );
}
