import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { messagesOf } from './mcp-http.ts';
import { within } from './within.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'qm');
const run = promisify(execFile);

/** A workspace in which `qm serve` runs as users run it: as its own process, from the build. */
export interface ServedWorkspace {
  readonly folder: string;
  serve(options?: ServeOptions): Promise<ServedHub>;
  /** Runs any other `qm` command with `--json`. */
  qm(...args: string[]): Promise<unknown>;
}

export interface ServeOptions {
  /** A limit on open files. */
  readonly openFiles?: number;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** A different Node than the tests'. */
  readonly node?: string;
}

export interface ServedHub {
  readonly url: string;
  readonly pid: number;
  /** Its stderr output. */
  log(): string;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

export async function servedWorkspace(config: object): Promise<ServedWorkspace> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-served-')));
  const running = new Set<ChildProcess>();
  onTestFinished(async () => {
    for (const child of running) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await writeFile(join(folder, 'quartermaster.yaml'), JSON.stringify(config, undefined, 2));

  async function serve({ openFiles, env, node = process.execPath }: ServeOptions = {}): Promise<ServedHub> {
    const command = [node, bin, 'serve', '--json', '--port', '0', '--workspace', folder];
    const limit = openFiles === undefined ? '' : `ulimit -n ${openFiles}; `;
    const child = spawn('/bin/sh', ['-c', `${limit}exec "$@"`, 'sh', ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    running.add(child);
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-20_000);
    });
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => {
        running.delete(child);
        resolve(code);
      });
    });
    const line = new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      void ended.then((code) => reject(new Error(`qm serve ended with ${code}: ${log}`)));
    });
    const { url } = JSON.parse(await within(line, 'qm serve to come up')) as { url: string };
    const pid = child.pid as number; // it printed a line, so it runs
    return {
      url: `${url}/mcp`,
      pid,
      log: () => log,
      kill(signal) {
        child.kill(signal);
        return within(ended, `qm serve to end after ${signal}`);
      },
    };
  }

  return {
    folder,
    serve,
    async qm(...args) {
      const { stdout } = await run(process.execPath, [bin, ...args, '--json', '--workspace', folder], {
        timeout: 30_000,
        maxBuffer: 64 * 1024 * 1024,
      });
      return JSON.parse(stdout) as unknown;
    },
  };
}

/** Calls tools over a legacy client session. Undefined if the hub is gone. */
export interface SessionClient {
  call(name: string, args: object): Promise<Answered | undefined>;
  close(): Promise<void>;
}

export interface Answered {
  readonly status: number;
  readonly result?: { readonly content?: readonly { readonly text?: string }[] };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly code?: string } };
}

export async function openSession(url: string, token: string): Promise<SessionClient> {
  const { Pool } = await import('undici');
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections: 64 });
  let nextId = 1;
  let session = '';
  async function post(method: string, params: object) {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session === '' ? {} : { 'mcp-session-id': session }),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: nextId++, method, params });
    const response = await pool.request({ path, method: 'POST', headers, body });
    const text = await response.body.text();
    // A slow call is answered with a stream.
    const isStream = response.headers['content-type'] === 'text/event-stream';
    const message = (isStream ? messagesOf(text).at(-1) : JSON.parse(text)) as Omit<Answered, 'status'>;
    return { headers: response.headers, answer: { status: response.statusCode, ...message } };
  }
  const clientInfo = { name: 'test', version: '1' };
  const opened = await post('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  session = String(opened.headers['mcp-session-id']);
  return {
    async call(name, args) {
      try {
        return (await post('tools/call', { name, arguments: args })).answer;
      } catch {
        return undefined;
      }
    },
    close: () => pool.destroy(),
  };
}
