/**
 * One run of an agent from npm in its one-shot mode: a home of its own, so that all caches are cold, an environment of
 * its own, a scripted model, and one MCP server. What it started ends with it.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trustFolder } from '../support/trust-folder.mjs';
import { startModel } from './models/scripted-model.mjs';

/** Where the agents are installed: all of them, or those that `npm test` has. */
const packages = ['.', '../programs'].map((folder) => join(import.meta.dirname, folder, 'node_modules'));
const outputLimit = 200_000;

/**
 * @param {{ client: object, script: Function, prompt?: string, deadlineMs: number,
 *   server: { url: string, token: string } | { command: string, args: string[] } }} request
 */
export async function runClient({ client, server, script, deadlineMs, prompt = 'Use the tool.' }) {
  return inFreshHome(client.name, script, async ({ home, work, model }) => {
    trustFolder(join(home, '.config'), tmpdir());
    const { args, env } = await client.setUp({ home, work, model, prompt, config: client.config(server) });
    const token = server.token === undefined ? {} : { QM_TOKEN: server.token };
    const deadline = AbortSignal.timeout(deadlineMs);
    const options = { cwd: work, env: { ...baseEnv(home), ...env, ...token } };
    const ended = await runProgram(programOf(client), args, options, deadline);
    return { ...ended, turns: model.turns, others: model.others };
  });
}

/** A home and a folder to work in that nobody has used, and a model; all gone afterwards. */
export async function inFreshHome(name, script, use) {
  const place = await realpath(await mkdtemp(join(tmpdir(), `qm-agent-${name}-`)));
  const [home, work] = [join(place, 'home'), join(place, 'work')];
  await Promise.all([mkdir(home), mkdir(work)]);
  const model = await startModel(script);
  try {
    return await use({ place, home, work, model });
  } finally {
    await model.close();
    await rm(place, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The program as it was installed, without its install scripts. */
export function programOf({ title, program }) {
  const name = program.file ?? program.script;
  const path = packages.map((folder) => join(folder, name)).find(existsSync);
  if (path === undefined) throw new Error(`${title} is not installed: ${name} is missing`);
  return program.file === undefined ? [process.execPath, path] : [path];
}

export function baseEnv(home) {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_DATA_HOME: join(home, '.local/share'),
    XDG_STATE_HOME: join(home, '.local/state'),
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
    LANG: 'C.UTF-8',
  };
}

/** Runs a command in a process group of its own, which is gone afterwards, whatever it left there. */
export async function runProgram([command, ...first], args, options, deadline) {
  const started = performance.now();
  const child = spawn(command, [...first, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  const take = (text) => {
    output = (output + text).slice(-outputLimit);
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  const end = () => killGroup(child.pid);
  deadline.addEventListener('abort', end);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  }).finally(() => {
    deadline.removeEventListener('abort', end);
    end();
  });
  return { code, isLate: deadline.aborted, output, ms: Math.round(performance.now() - started) };
}

function killGroup(pid) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
