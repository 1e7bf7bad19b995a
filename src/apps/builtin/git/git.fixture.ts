import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createSilentLogger, createSystemClock } from '../../../base/index.ts';
import { ToolFault, type ToolOutput } from '../../serving/index.ts';
import type { BuiltinServer } from '../builtin-kind.ts';
import { git } from './git.ts';

/** A folder for one test file, with git as a user runs it. */
export interface Workshop {
  readonly dir: string;
  /** Runs git with a fixed name and date and without this machine's configuration. `cwd` is relative to the folder. */
  git(cwd: string, ...args: readonly string[]): string;
  /** Creates a repository with one commit: `a.txt` and `src/b.txt`. */
  repository(name: string, ...initArgs: readonly string[]): string;
  remove(): void;
}

const identity = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_AUTHOR_DATE: '2026-01-02T03:04:05+01:00',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_COMMITTER_DATE: '2026-01-02T03:04:05+01:00',
};

export function createWorkshop(): Workshop {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'qm-git-test-')));
  const env = { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1', ...identity };
  const workshop: Workshop = {
    dir,
    git: (cwd, ...args) =>
      execFileSync('git', ['-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always', ...args], {
        cwd: join(dir, cwd),
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trimEnd(),
    repository(name, ...initArgs) {
      workshop.git('.', 'init', '--quiet', ...initArgs, name);
      execFileSync('sh', ['-c', 'printf "one\\ntwo\\n" > a.txt && mkdir src && printf "bee\\n" > src/b.txt'], {
        cwd: join(dir, name),
      });
      workshop.git(name, 'add', '.');
      workshop.git(name, 'commit', '--quiet', '-m', 'First words\n\nAnd a body.');
      return join(dir, name);
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
  return workshop;
}

export interface OpenOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

export function openGit(repository: string, { args = [], env = {}, clock }: OpenOptions = {}): Promise<BuiltinServer> {
  return git.open(
    { args: ['--repository', repository, ...args], env: { PATH: process.env.PATH, ...env }, cwd: '/' },
    { clock: clock ?? createSystemClock(), logger: createSilentLogger() },
  );
}

/** Does what a server does with a call: validates the arguments, then runs the tool. */
export async function callTool(
  server: BuiltinServer,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolOutput> {
  const tool = server.tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`There is no tool ${name}`);
  const parsed = tool.input.safeParse(args);
  if (!parsed.success)
    throw new ToolFault(parsed.error.issues.map(({ path, message }) => `${path}: ${message}`).join());
  return tool.run(parsed.data, { signal });
}

/** The message of the fault; throws if the call succeeds. */
export async function faultOf(
  server: BuiltinServer,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  try {
    await callTool(server, name, args);
  } catch (error) {
    if (error instanceof ToolFault) return error.message;
    throw error;
  }
  throw new Error(`${name} answered ${JSON.stringify(args)}`);
}

/** The commit subjects that git_log and git_search returned. */
export function subjectsOf({ structured }: ToolOutput): readonly string[] {
  // The shape of the tools' own results.
  const commits = (structured?.commits ?? []) as readonly { readonly subject: string }[];
  return commits.map(({ subject }) => subject);
}

/** Every file below a folder with its content and times, as one value to compare. */
export function everythingIn(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(dir, name);
      const { mode, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
      const isLink = (mode & 0o170000n) === 0o120000n;
      const isFile = (mode & 0o170000n) === 0o100000n;
      const content = isLink ? readlinkSync(path) : isFile ? readFileSync(path, 'base64') : '';
      return `${name} ${mode} ${mtimeNs} ${ctimeNs} ${content}`;
    });
}
