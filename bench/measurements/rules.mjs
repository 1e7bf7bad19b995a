import { fileURLToPath } from 'node:url';
import { compare, median } from '../harness/compare.mjs';
import { bareStdio, quartermaster } from '../harness/contenders.mjs';
import { figure, table, times } from '../harness/table.mjs';
import { stdioServer } from '../harness/workspace.mjs';
import { comparisonTable } from './comparison-table.mjs';

const sizes = [10, 100, 10_000];
const decideProgram = fileURLToPath(new URL('../decide-rules.mjs', import.meta.url));
const servers = { echo: stdioServer() };

/** Rules on arguments: what a decision costs with more of them, and what a whole call costs beside the bare hop. */
export async function measureRules(bench, options) {
  const decisions = await timeDecisions(bench, options);
  const calls = await costOfRules(bench, options);
  const title = `Rules on arguments: one decision, of which ${sizes[0]} rules are the reference`;
  const second = 'Whole calls: × is the ratio to the bare hop';
  return {
    title,
    text: `${decisionTable(decisions)}\n\n${second}\n\n${comparisonTable(calls.rows)}`,
    rows: { decisions, calls: calls.rows },
    failures: calls.failures,
  };
}

/** Four rules look at the argument of the call, however many others there are. */
async function timeDecisions(bench, { rounds, decisions }) {
  const rows = [...sizes.map((rules) => ({ rules, shadow: false })), { rules: sizes[0], shadow: true }].map((row) => ({
    ...row,
    name: `${row.rules} rules${row.shadow ? ' and a shadow policy' : ''}`,
    figures: [],
  }));
  for (let round = 1; round <= rounds; round++) {
    for (const { name, rules, shadow, figures } of rows) {
      bench.progress(`round ${round} of ${rounds}: deciding, ${name}`);
      const folder = bench.workspace(`decide ${name}`, { servers, argumentRules: rules, shadow });
      const args = [decideProgram, bench.compiled, folder, String(decisions)];
      figures.push(JSON.parse(await bench.processes.run('decide-rules', args)));
    }
  }
  return rows.map(({ name, figures }) => ({
    name,
    callNs: median(figures.map(({ callNs }) => callNs)),
    listNs: median(figures.map(({ listNs }) => listNs)),
    rounds: figures,
  }));
}

function decisionTable(rows) {
  const reference = rows[0];
  return table(
    ['rules', 'a call, ns', '×', 'first decision on a tool, µs', '×'],
    rows.map(({ name, callNs, listNs }) => [
      name,
      figure(callNs),
      times(callNs / reference.callNs),
      figure(listNs / 1000, 1),
      times(listNs / reference.listNs),
    ]),
  );
}

async function costOfRules(bench, { inFlight, bytes, rounds, calls, only }) {
  const hub = (name, settings) =>
    quartermaster(bench, { name: `quartermaster, ${name}`, upstream: 'stdio', servers: () => servers, ...settings });
  const contenders = [
    bareStdio(bench),
    hub('no rules on arguments', {}),
    ...sizes.map((size) => hub(`${size} rules on arguments`, { argumentRules: size })),
    hub('10 rules and a shadow policy', { argumentRules: 10, shadow: true }),
  ].filter(({ name }) => only === undefined || only.some((start) => name.startsWith(start)));
  return compare(bench, contenders, { referenceOf: () => 'bare-stdio', bytes, inFlight, rounds, calls });
}
