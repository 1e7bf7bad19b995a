import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { httpNames, servers, upstreamArgs } from './servers.mjs';
import { within } from './within.mjs';

/** The upstreams behind HTTP: processes of the soak, not of the hub. */
export async function startHttpUpstreams(executed) {
  const running = new Map();

  async function start(name, port) {
    const args = [...upstreamArgs(name, servers[name], executed), '--http', String(port)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const line = new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`upstream ${name} ended with ${code}`)));
    });
    running.set(name, { child, url: JSON.parse(await within(line, 30_000, `upstream ${name}`)).url });
  }

  await Promise.all(httpNames.map((name) => start(name, 0)));
  const signal = (name, which) => running.get(name).child.kill(which);
  return {
    urls: Object.fromEntries([...running].map(([name, { url }]) => [name, url])),
    pids: () => [...running.values()].map(({ child }) => child.pid),
    stop: (name) => signal(name, 'SIGSTOP'),
    goOn: (name) => signal(name, 'SIGCONT'),
    down: (name) => signal(name, 'SIGKILL'),
    up: (name) => start(name, new URL(running.get(name).url).port),
    end: () => {
      for (const { child } of running.values()) child.kill('SIGKILL');
    },
  };
}
