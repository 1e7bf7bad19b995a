/** The hub as its users run it: `qm serve` from the build, in a fresh workspace with fresh state. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { trustFolder } from '../support/trust-folder.mjs';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'qm');
const agent = 'tester';

/** `settings`: other sections of its configuration. */
export async function makeWorkspace(servers, settings = {}) {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'qm-agents-')));
  const [folder, home] = [join(place, 'team'), join(place, 'home')];
  await Promise.all([mkdir(folder), mkdir(home)]);
  await writeFile(join(folder, 'quartermaster.yaml'), JSON.stringify({ servers, ...settings }, undefined, 2));
  trustFolder(join(home, '.config'), place);
  const env = { PATH: process.env.PATH ?? '', HOME: home, XDG_STATE_HOME: join(home, 'state') };

  /** What a command of the operator prints. */
  async function qm(...args) {
    const { stdout } = await promisify(execFile)(process.execPath, [bin, ...args, '--workspace', folder], { env });
    return stdout;
  }

  return {
    qm,
    /** How a client starts the hub itself. */
    stdio: { command: process.execPath, args: [bin, 'stdio', '--agent', agent, '--workspace', folder] },
    async serve() {
      const { token } = JSON.parse(await qm('token', 'issue', '--agent', agent, '--json'));
      const hub = await serve(folder, env);
      return { ...hub, token };
    },
    remove: () => rm(place, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function serve(folder, env) {
  const child = spawn(process.execPath, [bin, 'serve', '--json', '--port', '0', '--workspace', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const line = await Promise.race([
    new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve)),
    ended.then((code) => Promise.reject(new Error(`qm serve ended with ${code}`))),
  ]);
  return {
    url: `${JSON.parse(line).url}/mcp`,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await ended;
      clearTimeout(timer);
    },
  };
}
