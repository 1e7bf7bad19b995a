import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', 'servers');
const startMs = 15_000;
const stopMs = 5_000;

export interface HttpFixture {
  readonly url: string;
  /** The current process. Changes with a restart. */
  readonly pid: number;
  /** Ends the process. Afterwards nothing listens on the port. */
  stop(): Promise<void>;
  /** Starts it again on the same port, after stopping it if necessary. */
  restart(): Promise<void>;
}

/** The absolute path of a fixture server, such as `echo-stdio.mjs`. */
export function fixturePath(name: string): string {
  const path = join(folder, name);
  if (!existsSync(path)) throw new Error(`There is no fixture server ${name} in test/servers.`);
  return path;
}

/** Starts a fixture server that serves HTTP, on a free port unless the arguments name one. */
export async function startHttpFixture(
  file: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<HttpFixture> {
  const path = fixturePath(file);
  let current = await start([path, ...args], env);
  const port = new URL(current.url).port;
  return {
    url: current.url,
    get pid() {
      return current.pid;
    },
    stop: () => end(current.child),
    async restart() {
      await end(current.child);
      current = await start([path, ...args, '--port', port], env);
    },
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
}

async function start(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Started> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  try {
    const line = await firstLine(child);
    const { url } = JSON.parse(line) as { url: string }; // The fixtures' own format; see test/servers/raw/http.mjs.
    child.stdout.resume();
    return { child, pid: child.pid ?? -1, url };
  } catch (error) {
    await end(child);
    throw new Error(`The fixture server did not start: node ${args.join(' ')}\n${said}`, { cause: error });
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no line within ${startMs} ms`)), startMs);
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const end = text.indexOf('\n');
      if (end === -1) return;
      clearTimeout(timer);
      resolve(text.slice(0, end));
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${signal ?? code} before it listened`));
    });
  });
}

function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
