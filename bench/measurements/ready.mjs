import { median } from '../harness/compare.mjs';
import { bareStdio } from '../harness/contenders.mjs';
import { serve } from '../harness/open-hub.mjs';
import { usageOf } from '../harness/processes.mjs';
import { figure, table } from '../harness/table.mjs';
import { stdioServer } from '../harness/workspace.mjs';

/** From the start of the process to the line that says where it listens, interleaved, without a database. */
export async function measureReady(bench, { starts }) {
  const servers = { echo: stdioServer() };
  const used = bench.workspace('ready-used', { servers });
  const ruled = bench.workspace('ready-rules', { servers, rules: 10_000 });
  const variants = {
    'node, an empty program': () => emptyProgram(bench),
    'bare-stdio': () => bareHop(bench),
    'qm serve, new workspace': (round) => hub(bench, bench.workspace(`ready-new-${round}`, { servers })),
    'qm serve, used workspace': () => hub(bench, used),
    'qm serve, 10000 rules': () => hub(bench, ruled),
  };
  const samples = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  await hub(bench, used);
  for (let round = 1; round <= starts; round++) {
    for (const [name, start] of Object.entries(variants)) {
      bench.progress(`start ${round} of ${starts}: ${name}`);
      samples[name].push(await start(round));
    }
  }
  const rows = Object.entries(samples).map(([name, all]) => ({ name, all, ...summary(all) }));
  return {
    title: `Ready: ms from spawn to the line that says it serves, ${starts} starts each (goal: under 700)`,
    text: table(
      ['started', 'median ms', 'slowest ms', 'MB then'],
      rows.map(({ name, ms, slowest, rss }) => [name, figure(ms), figure(slowest), figure(rss)]),
    ),
    rows,
    failures: [],
  };
}

async function hub(bench, folder) {
  const { process: started, readyMs } = await serve(bench, 'ready', folder);
  const { rss } = usageOf(started.pid);
  await bench.processes.stop(started);
  return { ms: readyMs, rss };
}

async function bareHop(bench) {
  const begin = process.hrtime.bigint();
  const { process: started } = await bareStdio(bench).start();
  const ms = since(begin);
  const { rss } = usageOf(started.pid);
  await bench.processes.stop(started);
  return { ms, rss };
}

async function emptyProgram(bench) {
  const begin = process.hrtime.bigint();
  await bench.processes.run('node', ['--eval', '0']);
  return { ms: since(begin), rss: Number.NaN };
}

function summary(all) {
  const times = all.map(({ ms }) => ms);
  return { ms: median(times), slowest: Math.max(...times), rss: median(all.map(({ rss }) => rss)) };
}

function since(begin) {
  return Number(process.hrtime.bigint() - begin) / 1e6;
}
