import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openClient } from '../harness/mcp-client.mjs';
import { openHub } from '../harness/open-hub.mjs';
import { usageOf, within } from '../harness/processes.mjs';
import { figure, table } from '../harness/table.mjs';

const probe = new URL('../stall-probe.mjs', import.meta.url).href;
const growingProgram = fileURLToPath(new URL('../growing-stdio.mjs', import.meta.url));
const toolCount = 1000;
const changes = 5;
const tellMs = 60_000;
const atOnce = 4;

/** A server gets one more tool while many clients of as many agents are connected: how long does everybody wait? */
export async function measureChange(bench, { clients }) {
  const builds = [{ name: 'quartermaster', bench }];
  if (bench.before !== undefined) builds.unshift({ name: 'before', bench: { ...bench, qm: bench.before } });
  const rows = [];
  for (const build of builds) rows.push(...(await measureBuild(build, clients)));
  return {
    title: `One of ${toolCount} tools added, ${clients} agents with a stream each (goal: 20 ms, under 150 MB)`,
    text: table(
      ['clients', 'longest stall ms', 'of each change', 'CPU ms in it', 'MB after', 'MB at most', 'not told'],
      rows.map(({ name, stalls, cpu, rss, peak, untold }) => [
        name,
        figure(Math.max(...stalls), 1),
        stalls.map((ms) => figure(ms, 1)).join(' '),
        cpu.map((ms) => figure(ms, 1)).join(' '),
        figure(rss, 1),
        figure(peak, 1),
        figure(untold),
      ]),
    ),
    rows,
    failures: rows
      .filter(({ untold }) => untold > 0)
      .map(({ name, untold }) => ({ name, error: `${untold} clients were not told` })),
  };
}

async function measureBuild({ name, bench }, count) {
  bench.progress(`change: ${name}, starting`);
  const hub = await openHub(bench, `change-${name}`, {
    servers: { echo: { command: process.execPath, args: [growingProgram], env: { TOOLS: String(toolCount) } } },
    agents: count,
    tools: toolCount,
    nodeArgs: ['--import', probe],
    ipc: true,
  });
  const clients = await connect(bench, hub, count);
  const grower = openClient(hub);
  await grower.initialize();
  const rows = [];
  for (const kind of [{ what: 'told' }, { what: 'told, then list', lists: true }]) {
    bench.progress(`change: ${name}, ${kind.what}`);
    rows.push({ name: `${name}, ${kind.what}`, ...(await change(hub, clients, grower, kind)) });
  }
  await Promise.all([...clients, { client: grower }].map(({ client }) => client.drop()));
  await bench.processes.stop(hub.process);
  return rows;
}

/** Each has listed its tools once and listens. */
async function connect(bench, hub, count) {
  const clients = [];
  let started = 0;
  const one = async () => {
    for (let index = started++; index < count; index = started++) {
      bench.progress(`change: client ${index} of ${count}`);
      const issue = ['token', 'issue', '--agent', `agent-${index}`, '--json', '--workspace', hub.folder];
      const { token } = JSON.parse(await bench.processes.run('qm token issue', [bench.qm, ...issue]));
      const client = openClient({ url: hub.url, headers: { authorization: `Bearer ${token}` } });
      await client.initialize();
      await client.request('tools/list', {});
      const listener = { client, told: 0, onTold: () => {} };
      await client.listen((text) => {
        if (!text.includes('tools/list_changed')) return;
        listener.told++;
        listener.onTold();
      });
      clients.push(listener);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return clients;
}

async function change(hub, clients, grower, { lists = false }) {
  const stalls = [];
  const cpu = [];
  let untold = 0;
  for (let turn = 0; turn < changes; turn++) {
    // What the last one left to do is done by then.
    await sleep(1000);
    await ask(hub);
    const told = clients.map((listener) => toldNext(listener, lists));
    await grower.request('tools/call', { name: 'echo_grow', arguments: {} });
    const all = await Promise.allSettled(told);
    untold += all.filter(({ status }) => status === 'rejected').length;
    await sleep(200);
    const { longestMs, cpuMs } = await ask(hub);
    stalls.push(longestMs);
    cpu.push(cpuMs);
  }
  const { rss } = await ask(hub);
  return { stalls, cpu, untold, rss: rss / 1024 / 1024, peak: usageOf(hub.process.pid).peak };
}

function toldNext(listener, lists) {
  const told = new Promise((resolve, reject) => {
    listener.onTold = () => {
      listener.onTold = () => {};
      if (lists) listener.client.request('tools/list', {}).then(resolve, reject);
      else resolve();
    };
  });
  return within(told, tellMs, 'a client was not told');
}

function ask({ process: { child } }) {
  const reply = new Promise((resolve) => child.once('message', resolve));
  child.send('measure');
  return within(reply, 30_000, 'the hub did not tell its longest stall');
}
