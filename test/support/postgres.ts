import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import { programPath } from './programs.ts';
import { eventually } from './within.ts';

/** A PostgreSQL server for one test file, reachable only from this machine. */
export interface TestPostgres {
  readonly port: number;
  /** Writable by the server. */
  readonly folder: string;
  /** For the superuser `postgres`, unless a role is given. */
  url(role?: { readonly user: string; readonly password: string }, database?: string): string;
  /** Drops every connection. The address and data stay. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const superuser = { user: 'postgres', password: 'the-password-of-the-superuser' };

export async function startPostgres(): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-postgres-'));
  const account = await unprivileged();
  await chown(folder, account.uid, account.gid);
  const bin = await installInto(folder);
  await writeFile(join(folder, 'password'), superuser.password);
  const data = join(folder, 'data');
  const init = ['-D', data, '-U', superuser.user, '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await runToEnd(join(bin, 'initdb'), [...init, `--pwfile=${join(folder, 'password')}`], folder, account);
  const port = await freePort();
  const url: TestPostgres['url'] = ({ user, password } = superuser, database = 'postgres') =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  const launch = async (): Promise<ChildProcess> => {
    const args = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
    const child = spawn(join(bin, 'postgres'), [...args, '-c', 'fsync=off'], spawnOptions(folder, account));
    process.once('exit', () => child.kill('SIGQUIT'));
    const said = collect(child);
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}: ${said()}`);
      return answers(url());
    }, 'PostgreSQL to answer');
    return child;
  };
  let running = await launch();
  return {
    port,
    folder,
    url,
    async restart() {
      await end(running);
      running = await launch();
    },
    async stop() {
      await end(running);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. */
async function unprivileged(): Promise<Account> {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (own.uid !== 0) return own;
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((each) => each.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

/**
 * Copies the package to a place that any account can read, and creates the links that its install script would make.
 */
async function installInto(folder: string): Promise<string> {
  const native = join(folder, 'native');
  await cp(programPath('postgres'), native, { recursive: true });
  // The package's own file format.
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const target = join(folder, link.target);
    if (!existsSync(target)) await symlink(basename(link.source), target);
  }
  return join(native, 'bin');
}

function spawnOptions(cwd: string, { uid, gid }: Account): SpawnOptions {
  const account = process.getuid?.() === 0 ? { uid, gid } : {};
  return { cwd, env: { PATH: process.env.PATH, LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'pipe'], ...account };
}

async function runToEnd(program: string, args: readonly string[], folder: string, account: Account): Promise<void> {
  const child = spawn(program, args, spawnOptions(folder, account));
  const said = collect(child);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${basename(program)} ended with ${code}: ${said()}`);
}

function collect({ stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>): () => string {
  let text = '';
  for (const stream of [stdout, stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4_000);
    });
  }
  return () => text;
}

/** Below the ephemeral range, so that no connection takes the port before PostgreSQL does. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer().listen(port, '127.0.0.1');
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (free) return port;
  }
}

async function answers(url: string): Promise<true | undefined> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return undefined;
  }
}

/** A fast shutdown, which does not wait for clients and needs no recovery. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
}
