/** The hub's first list before real agents: servers that nobody has seen start while the agent asks. */
import { join } from 'node:path';
import { runClient } from './run-client.mjs';
import { isCalled, visitTools } from './scripts.mjs';
import { makeWorkspace } from './served-hub.mjs';

const servers = join(import.meta.dirname, '..', 'servers');
const node = (file, ...args) => ({ command: process.execPath, args: [join(servers, file), ...args] });
const quick = Array.from({ length: 9 }, (_, index) => `quick${index + 1}`);

export const scenarios = [
  {
    name: 'one server, 8 s to start',
    servers: { late: node('late.mjs', '--start', '8000') },
    quick: [],
  },
  {
    name: 'nine quick servers, one of 30 s',
    servers: {
      ...Object.fromEntries(quick.map((name) => [name, node('echo-stdio.mjs')])),
      late: node('late.mjs', '--start', '30000'),
    },
    quick: quick.map((name) => `${name}_echo`),
  },
];

/** What a model may call while it waits: a tool of a quick server, one of the hub, one that Codex always has. */
const meanwhile = ['quick1_echo', 'quartermaster_status', 'list_mcp_resources'];

export async function runFirstContact({ client, transport, scenario }) {
  const workspace = await makeWorkspace(scenario.servers);
  const wanted = [...scenario.quick.slice(-1), 'late_echo'];
  try {
    const hub = transport === 'http' ? await workspace.serve() : undefined;
    try {
      const run = await runClient({
        client,
        server: hub ?? workspace.stdio,
        script: visitTools({ wanted, meanwhile, rounds: 14, pauseMs: 3000 }),
        deadlineMs: 150_000,
      });
      return judge(scenario, run, client);
    } finally {
      await hub?.stop();
    }
  } finally {
    await workspace.remove();
  }
}

/**
 * Quick servers have to be there, and callable, at the first turn; the late one has to be callable in the same run. A
 * client that takes its first turn without waiting has to get them at some turn. One that never lists again cannot get a
 * server that comes after its list.
 *
 * @returns {{ first: string, called: string, seconds: number, problems: string[] }}
 */
export function judge(scenario, { turns, ms, isLate, code, output }, client = {}) {
  const first = turns[0]?.tools ?? [];
  const missing = scenario.quick.filter((name) => !offers(first, name));
  const lateAt = turns.findIndex(({ tools }) => offers(tools, 'late_echo'));
  const results = turns.at(-1)?.results ?? [];
  const mayComeLater = client.listsAgain !== false || scenario.quick.length === 0;
  const problems = [
    ...(isLate || code !== 0 ? [`ended with ${isLate ? 'the deadline' : code}: ${output.slice(-500)}`] : []),
    ...(missing.length > 0 && !client.takesFirstTurnWithout
      ? [`not offered at the first turn: ${missing.join(', ')}`]
      : []),
    ...scenario.quick
      .slice(-1)
      .filter((name) => !isCalled(results, name))
      .map((name) => `${name} was not answered`),
    ...(lateAt < 0 && mayComeLater ? ['late_echo was never offered'] : []),
    ...(lateAt >= 0 && !isCalled(results, 'late_echo') ? ['late_echo was not answered'] : []),
  ];
  const late = lateAt < 0 ? 'never' : `turn ${lateAt + 1}, ${(turns[lateAt].atMs / 1000).toFixed(1)} s`;
  return {
    first: firstTurn(scenario.quick.length, missing.length, lateAt === 0),
    late,
    answered: isCalled(results, 'late_echo') ? 'yes' : 'no',
    seconds: Math.round(ms / 100) / 10,
    problems,
  };
}

function firstTurn(count, missing, late) {
  const parts = [...(count > 0 ? [`${count - missing} of ${count} quick`] : []), ...(late ? ['late one'] : [])];
  return parts.join(', ') || 'nothing';
}

function offers(tools, name) {
  return tools.some((tool) => tool.replaceAll('-', '_').includes(name));
}
