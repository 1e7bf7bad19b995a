/** What an agent does before one slow server, without the hub in between: its waits, and what it sends. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runClient } from './run-client.mjs';
import { isCalled, visitTools } from './scripts.mjs';

const late = join(import.meta.dirname, '..', 'servers', 'late.mjs');
const meanwhile = ['late_echo', 'list_mcp_resources'];

export const measureHead = ['what', 'result'];

/** How the server is slow, and which tools the model wants; a hub answers a long call by a stream. */
const cases = [
  ...[0.8, 1.5, 10, 25, 35].map((seconds) => ({
    what: `list after ${seconds} s`,
    args: ['--list', String(seconds * 1000)],
    wanted: ['late_echo'],
  })),
  { what: 'list_changed after 3 s', args: ['--grow', '3000'], wanted: ['late_echo', 'late_grown'], rounds: 10 },
  { what: 'call of 70 s', args: ['--sse', '--call', '70000'], wanted: ['late_echo'] },
  {
    what: 'call of 70 s, with progress',
    args: ['--sse', '--call', '70000', '--progress', '5000'],
    wanted: ['late_echo'],
  },
  { what: 'call of 70 s, no headers before', args: ['--call', '70000'], wanted: ['late_echo'], transport: 'http' },
];

export async function* measureClient(client, transport) {
  const sent = await observe(client, transport, { args: ['--era', 'both'], wanted: ['late_echo'] });
  yield ['sends', introductionIn(sent.received)];
  for (const each of cases.filter((one) => (one.transport ?? transport) === transport)) {
    const { turns, isLate } = await observe(client, transport, each);
    yield [each.what, isLate ? 'did not end' : describeTurns(turns, each.wanted.at(-1))];
  }
}

async function observe(client, transport, { args, wanted, rounds = 45 }) {
  const folder = await mkdtemp(join(tmpdir(), 'qm-measure-'));
  const record = join(folder, 'received.jsonl');
  const script = visitTools({ wanted, meanwhile, rounds, pauseMs: 1000 });
  const all = [late, '--record', record, ...args];
  const server = transport === 'http' ? await serve([...all, '--http']) : { command: process.execPath, args: all };
  try {
    const run = await runClient({ client, server, script, deadlineMs: 150_000 });
    const lines = (await readFile(record, 'utf8')).trim().split('\n');
    return { ...run, received: lines.map((line) => JSON.parse(line)) };
  } finally {
    server.stop?.();
    await rm(folder, { recursive: true, force: true });
  }
}

async function serve(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  return { url: JSON.parse(line).url, token: 'none', stop: () => child.kill() };
}

/** Name and version as the client gives them, its first message, and how it says so in HTTP. */
export function introductionIn(received) {
  const first = received.find(({ method }) => method === 'initialize' || method === 'server/discover');
  const meta = first?.params?._meta ?? {};
  const info = first?.params?.clientInfo ?? meta['io.modelcontextprotocol/clientInfo'];
  const version = first?.params?.protocolVersion ?? meta['io.modelcontextprotocol/protocolVersion'];
  const agent = first?.headers?.['user-agent'];
  const stream = received.some(({ http, method }) => http === 'GET' || method === 'subscriptions/listen');
  return [
    `${info?.name} ${info?.version}, ${first?.method} ${version}`,
    ...(agent === undefined ? [] : [`User-Agent ${agent}`, stream ? 'opens a stream' : 'opens no stream']),
  ].join(', ');
}

/** When the tool was there, and what became of its call. */
export function describeTurns(turns, name) {
  const at = turns.findIndex(({ tools }) => tools.some((tool) => tool.replaceAll('-', '_').includes(name)));
  if (at < 0) return `not offered in ${turns.length} turns`;
  const answered = isCalled(turns.at(-1).results, name) ? 'answered' : `failed: ${turns.at(-1).results.at(-1)}`;
  return `offered at turn ${at + 1}, ${answered}`;
}
