import { badAnswers, compare, median } from '../harness/compare.mjs';
import { bareStdio, library, quartermaster } from '../harness/contenders.mjs';
import { figure, table, times } from '../harness/table.mjs';
import { stdioServer } from '../harness/workspace.mjs';
import { comparisonTable } from './comparison-table.mjs';

const serverCount = 20;
const toolsEach = 50;
const allTools = serverCount * toolsEach;

/** Size must not cost: the list comes from a cache, and a call finds its way without a search. */
export async function measureList(bench, options) {
  const lists = await timeLists(bench, options);
  const calls = await costOfSize(bench, options);
  const title = `Lists of ${allTools} tools from ${serverCount} servers, to the last byte (goal: p50 under 2 ms)`;
  const second = 'Cost of size: × is the ratio to the same hub with 1 server, 10 tools and a handful of rules';
  return {
    title,
    text: `${listTable(lists)}\n\n${second}\n\n${comparisonTable(calls.rows)}`,
    rows: { lists, calls: calls.rows },
    failures: [...badAnswers(lists), ...calls.failures],
  };
}

/** `ping` is the price of an HTTP request on the same hub; the rest of a list is the list's own. */
async function timeLists(bench, { lists, rounds }) {
  const hops = [bareStdio(bench, { tools: allTools }), manyServers(bench, 'quartermaster, listing')];
  const running = [];
  for (const hop of hops) running.push(await hop.start());
  const rows = running.flatMap(({ process: { name }, load }) => [
    { name: `tools/list, ${name.replace(/,.*/, '')}`, load, kind: 'list', figures: [] },
    { name: `ping, ${name.replace(/,.*/, '')}`, load, kind: 'ping', figures: [] },
  ]);
  for (let round = 1; round <= rounds; round++) {
    for (const { name, load, kind, figures } of rows) {
      bench.progress(`round ${round} of ${rounds}: ${name}`);
      figures.push(await load({ kind, tools: allTools, inFlight: 1, calls: lists, warm: 20 }));
    }
  }
  await Promise.all(running.map(({ process: hub }) => bench.processes.stop(hub)));
  return rows.map(({ name, figures }) => ({ name, ...summary(figures), rounds: figures }));
}

function summary(figures) {
  return {
    p50: median(figures.map(({ p50 }) => p50)),
    p99: median(figures.map(({ p99 }) => p99)),
    bad: figures.reduce((sum, { bad }) => sum + bad, 0),
    why: figures.find(({ why }) => why !== undefined)?.why,
  };
}

function listTable(rows) {
  const reference = rows[0]?.p50;
  return table(
    ['request', 'p50 ms', '× bare list', 'p99 ms', 'bad'],
    rows.map(({ name, p50, p99, bad }) => [name, figure(p50, 3), times(p50 / reference), figure(p99, 2), figure(bad)]),
  );
}

async function costOfSize(bench, { inFlight, rounds, calls, only }) {
  const one = { echo: stdioServer() };
  const small = (name, settings = {}) =>
    quartermaster(bench, { name, upstream: 'stdio', servers: () => one, ...settings });
  const contenders = [
    small('quartermaster'),
    manyServers(bench, 'quartermaster, 20 servers, 1000 tools'),
    small('quartermaster, 10000 rules', { rules: 10_000 }),
    small('quartermaster, 1000 agents', { agents: 1000 }),
    library(bench, { name: 'library', upstream: 'stdio', servers: one }),
    library(bench, {
      name: 'library, 20 servers, 1000 tools',
      upstream: 'stdio',
      servers: twentyServers(),
      tools: allTools,
    }),
  ].filter(({ name }) => only === undefined || only.some((start) => name.startsWith(start)));
  const referenceOf = ({ name }) => name.replace(/,.*/, '');
  return compare(bench, contenders, { referenceOf, bytes: [32], inFlight, rounds, calls });
}

function manyServers(bench, name) {
  return quartermaster(bench, { name, upstream: 'stdio', servers: twentyServers, tools: allTools });
}

function twentyServers() {
  const names = Array.from({ length: serverCount }, (_, index) => (index === 0 ? 'echo' : `server-${index}`));
  return Object.fromEntries(names.map((name) => [name, stdioServer(toolsEach)]));
}
