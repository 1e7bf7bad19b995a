import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import { guardedGitEnvironment } from './guarded-environment.ts';
import { type ConfigEntry, ownConfig, parseConfigList } from './local-config.ts';
import { fillPrivateDir, partOf } from './private-dir.ts';
import { requireRegularFile } from './regular-file.ts';
import type { Repository } from './repository.ts';
import { type GitOutput, runGit } from './run-git.ts';

/** The fixed conditions for every run of git. */
export interface GitHost {
  readonly logger: Logger;
  readonly program: string;
  /** Variables for git besides the fixed ones. */
  readonly env: Readonly<Record<string, string>>;
  readonly maxBytes: number;
}

/** Git on one repository, for one call. */
export interface Git {
  readonly repository: Repository;
  /** Rejects with a ToolFault if git fails. */
  run(args: readonly string[]): Promise<GitOutput>;
  /** For commands that may fail for a good reason; check the exit code. */
  attempt(args: readonly string[]): Promise<GitOutput>;
}

/** Sets up a private git folder for the repository and runs git with it. */
export async function prepareGit(
  host: GitHost,
  repository: Repository,
  dir: string,
  signal: AbortSignal,
): Promise<Git> {
  const config = await configOf(host, repository, dir, signal);
  await fillPrivateDir(dir, repository, signal);
  await writeFile(join(dir, 'config'), config);
  const { root, bare } = repository;
  const env = environment(host, dir);
  const place = bare ? { cwd: dir, env } : { cwd: root, env: { ...env, GIT_WORK_TREE: root } };
  const attempt = (args: readonly string[]): Promise<GitOutput> =>
    runGit({ ...place, program: host.program, args, maxBytes: host.maxBytes, signal });
  return {
    repository,
    attempt,
    async run(args) {
      const output = await attempt(args);
      if (output.code === 0 || output.cut) return output;
      host.logger.warn('git.failed', { command: args[0], code: output.code, said: output.said });
      throw new ToolFault(`git ${args[0]} failed with exit code ${output.code}; its output is in this server's log.`);
    },
  };
}

/** Configurations have a few lines per branch; this allows tens of thousands of branches. */
const mostConfig = 16 * 1024 * 1024;

/** The settings of one configuration file, without its includes. `dir` is still empty. */
export async function listConfig(
  host: GitHost,
  file: string,
  dir: string,
  signal: AbortSignal,
): Promise<readonly ConfigEntry[]> {
  await requireRegularFile(file, mostConfig);
  const args = ['config', '--file', file, '--no-includes', '--list', '-z'];
  // The folder is not a repository yet, so git finds no other configuration.
  const env = environment(host, dir);
  const output = await runGit({ program: host.program, args, cwd: dir, env, maxBytes: mostConfig, signal });
  if (output.code === 0 && !output.cut) return parseConfigList(output.stdout.toString('utf8'));
  host.logger.warn('git.config-read-failed', { file, code: output.code, said: output.said });
  throw new ToolFault('The configuration of the repository cannot be read. The operator must repair it.');
}

async function configOf(host: GitHost, repository: Repository, dir: string, signal: AbortSignal): Promise<string> {
  const read = async (file: string): Promise<readonly ConfigEntry[]> => {
    const part = await partOf(repository, file);
    return part === undefined ? [] : listConfig(host, part, dir, signal);
  };
  const entries = await read(join(repository.commonDir, 'config'));
  if (!entries.some(({ key }) => key === 'extensions.worktreeconfig')) return ownConfig(entries, repository);
  return ownConfig([...entries, ...(await read(join(repository.gitDir, 'config.worktree')))], repository);
}

/**
 * Git's environment, independent of the hub's. The first three exclude the configuration of machine and user,
 * the fourth patterns in paths.
 */
function environment({ program, env }: GitHost, dir: string): Readonly<Record<string, string>> {
  return {
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_LITERAL_PATHSPECS: '1',
    ...guardedGitEnvironment,
    PATH: dirname(program),
    GIT_DIR: dir,
    ...env,
  };
}
