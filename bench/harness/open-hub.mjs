import { setTimeout as sleep } from 'node:timers/promises';
import { openClient } from './mcp-client.mjs';

const startMs = 30_000;

/**
 * Quartermaster as its users start it, on a free port and with a token of its own. Resolves when the agent `bench`
 * has all its tools; `readyMs` is the time up to the line that says where it listens.
 */
export async function openHub(bench, name, { tools = 10, nodeArgs, ipc, ...settings }) {
  const folder = bench.workspace(name, settings);
  const { process: hub, url, readyMs } = await serve(bench, name, folder, { nodeArgs, ipc });
  const issue = ['token', 'issue', '--agent', 'bench', '--json', '--workspace', folder];
  const { token } = JSON.parse(await bench.processes.run('qm token issue', [bench.qm, ...issue]));
  const opened = { process: hub, url, folder, readyMs, headers: { authorization: `Bearer ${token}` } };
  await waitForTools(opened, tools);
  return opened;
}

/** Only up to the line that says where it listens. */
export async function serve(bench, name, folder, options) {
  const begin = process.hrtime.bigint();
  const args = ['serve', '--json', '--port', '0', '--workspace', folder];
  const hub = bench.processes.start(name, [bench.qm, ...args], options);
  const line = JSON.parse(await hub.nextLine(startMs));
  const readyMs = Number(process.hrtime.bigint() - begin) / 1e6;
  return { process: hub, url: new URL('/mcp', line.url).href, readyMs };
}

async function waitForTools(endpoint, count) {
  const client = openClient(endpoint);
  await client.initialize();
  let found = 0;
  for (const end = Date.now() + startMs; Date.now() < end; await sleep(50)) {
    const { reply } = await client.request('tools/list', {});
    found = reply?.result?.tools?.length ?? 0;
    if (found === count) return client.end();
  }
  client.drop();
  throw new Error(`${endpoint.process.name} lists ${found} tools, not ${count}`);
}
