import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { isAlive, pidsOfHub } from '../../src/upstream/children/fixtures/processes.mjs';
import { removeState, stateEnv } from '../support/state-home.ts';
import { eventually, within } from '../support/within.ts';

const qm = resolve(import.meta.dirname, '..', '..', 'bin', 'qm');

/** A workspace on the real disk, gone after the test. */
export async function makeWorkspace(config?: object | string): Promise<string> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'qm-cli-')));
  onTestFinished(async () => {
    await removeState(workspace);
    await rm(workspace, { recursive: true, force: true, maxRetries: 3 });
  });
  if (config !== undefined) await configure(workspace, config);
  return workspace;
}

export async function configure(workspace: string, config: object | string): Promise<void> {
  const text = typeof config === 'string' ? config : JSON.stringify(config, undefined, 2);
  await writeFile(join(workspace, 'quartermaster.yaml'), text);
}

export interface QmOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface QmResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export async function runQm(args: readonly string[], options: QmOptions = {}): Promise<QmResult> {
  const running = startQm(args, options);
  running.child.stdin.end(options.input ?? '');
  return running.ended();
}

export interface RunningQm {
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The next line of stdout. */
  line(): Promise<string>;
  /** Waits for the end, and that none of its servers lives on. */
  ended(): Promise<QmResult>;
  signal(name: NodeJS.Signals): void;
}

/** The built program as a process of its own; it is killed after the test if it still runs. */
export function startQm(args: readonly string[], options: QmOptions = {}): RunningQm {
  const env = { PATH: process.env.PATH ?? '', HOME: tmpdir(), ...stateEnv, ...options.env };
  const child = spawn(process.execPath, [qm, ...args], { stdio: 'pipe', env, cwd: options.cwd ?? tmpdir() });
  const pid = child.pid ?? -1;
  let [stdout, stderr, taken] = ['', '', 0];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // A command that does not read its input closes it.
  child.stdin.on('error', () => {});
  const exit = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  onTestFinished(async () => {
    if (isAlive(pid)) child.kill('SIGKILL');
    await exit;
  });
  return {
    child,
    pid,
    stdout: () => stdout,
    stderr: () => stderr,
    line: () =>
      eventually(() => {
        const end = stdout.indexOf('\n', taken);
        if (end < 0) {
          if (!isAlive(pid)) throw new Error(`qm ended without another line: ${stderr}`);
          return undefined;
        }
        const line = stdout.slice(taken, end);
        taken = end + 1;
        return line;
      }, 'a line of stdout'),
    async ended() {
      const code = await within(exit, `qm ${args.join(' ')} to end; it said ${stderr}`);
      await eventually(() => pidsOfHub(pid).length === 0 || undefined, 'the servers to end');
      expect(pidsOfHub(pid), 'servers left').toEqual([]);
      return { code, stdout, stderr };
    },
    signal: (name) => child.kill(name),
  };
}

/** Starts `qm serve` on a free port and waits until it listens. */
export async function serveQm(
  workspace: string,
  options: QmOptions & { readonly args?: readonly string[] } = {},
): Promise<RunningQm & { readonly url: string; readonly firstLine: string }> {
  const args = ['serve', '--json', '--port', '0', '--workspace', workspace, ...(options.args ?? [])];
  const running = startQm(args, options);
  const firstLine = await running.line();
  const { url } = JSON.parse(firstLine) as { url: string }; // checked by the test of that line
  return { ...running, url, firstLine };
}
