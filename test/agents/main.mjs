/**
 * `npm run test:agents`: the agents from npm, offline, with a scripted model.
 *
 *   npm run test:agents                       all of them before the hub, over HTTP and stdio: what they see and call first
 *   npm run test:agents -- codex gemini       only these
 *   npm run test:agents -- --connect          each of them connected by `qm connect`, before and after
 *   npm run test:agents -- --approvals        each of them calls a tool that a person has to approve
 *   npm run test:agents -- --measure          without the hub: what they send, how long they wait, whether they list again
 */
import { parseArgs } from 'node:util';
import { build, runSteps, testAgents } from '../../scripts/steps.mjs';
import { approvalScenarios, runApproved } from './approved-agent.mjs';
import { clients } from './clients/index.mjs';
import { runConnected } from './connected-agent.mjs';
import { runFirstContact, scenarios } from './first-contact.mjs';
import { measureClient, measureHead } from './measure.mjs';
import { formatTable } from './table.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    measure: { type: 'boolean', default: false },
    connect: { type: 'boolean', default: false },
    approvals: { type: 'boolean', default: false },
    transport: { type: 'string', multiple: true, default: ['http', 'stdio'] },
  },
});
const unknown = positionals.filter((name) => !clients.some((client) => client.name === name));
const chosen = clients.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

if (unknown.length > 0) {
  console.error(`Unknown agent: ${unknown.join(', ')}. Known: ${clients.map(({ name }) => name).join(', ')}`);
  process.exitCode = 2;
} else {
  runSteps(values.measure ? [testAgents] : [testAgents, build]);
  if (!process.exitCode) await chosenRun()();
}

function chosenRun() {
  if (values.measure) return measure;
  if (values.approvals) return approvals;
  return values.connect ? connect : firstContact;
}

async function approvals() {
  const rows = [];
  const problems = [];
  for (const client of chosen) {
    for (const scenario of approvalScenarios) {
      const result = await runApproved({ client, scenario });
      rows.push([client.title, scenario.name, result.calls, result.seconds]);
      console.log(`${rows.at(-1).join(' · ')}${result.problems.length > 0 ? ' · FAILED' : ''}`);
      problems.push(...result.problems.map((problem) => `${client.title}, ${scenario.name}: ${problem}`));
    }
  }
  console.log(`\n${formatTable(['agent', 'person', 'calls', 'seconds'], rows)}`);
  for (const problem of problems) console.error(`FAILED ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

async function firstContact() {
  const rows = [];
  const problems = [];
  for (const client of chosen) {
    for (const transport of values.transport) {
      for (const scenario of scenarios) {
        const result = await runFirstContact({ client, transport, scenario });
        const row = [client.title, transport, scenario.name];
        rows.push([...row, result.first, result.late, result.answered, result.seconds]);
        console.log(`${rows.at(-1).join(' · ')}${result.problems.length > 0 ? ' · FAILED' : ''}`);
        problems.push(...result.problems.map((problem) => `${row.join(', ')}: ${problem}`));
      }
    }
  }
  const head = [
    'agent',
    'transport',
    'servers',
    'offered at the first turn',
    'late one offered',
    'answered',
    'seconds',
  ];
  console.log(`\n${formatTable(head, rows)}`);
  for (const problem of problems) console.error(`FAILED ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

async function connect() {
  const rows = [];
  const problems = [];
  for (const client of chosen.filter(({ connected }) => connected !== undefined)) {
    const result = await runConnected(client);
    rows.push([client.title, result.first.join(', ') || 'nothing', result.seconds]);
    console.log(`${rows.at(-1).join(' · ')}${result.problems.length > 0 ? ' · FAILED' : ''}`);
    problems.push(...result.problems.map((problem) => `${client.title}: ${problem}`));
  }
  console.log(`\n${formatTable(['agent', 'offered at the first turn', 'seconds'], rows)}`);
  for (const problem of problems) console.error(`FAILED ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

async function measure() {
  const rows = [];
  for (const client of chosen) {
    for (const transport of values.transport) {
      for await (const row of measureClient(client, transport)) {
        rows.push([client.title, transport, ...row]);
        console.log(rows.at(-1).join(' · '));
      }
    }
  }
  console.log(`\n${formatTable(['agent', 'transport', ...measureHead], rows)}`);
}
