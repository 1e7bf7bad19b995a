import { setTimeout as sleep } from 'node:timers/promises';
import { openClient } from '../harness/mcp-client.mjs';
import { openHub } from '../harness/open-hub.mjs';
import { within } from '../harness/processes.mjs';
import { figure, table } from '../harness/table.mjs';
import { stdioServer } from '../harness/workspace.mjs';

const probe = new URL('../memory-probe.mjs', import.meta.url).href;
const atOnce = 20;

/** Clients seldom say goodbye. What do those cost that are simply gone, and what is left when they have expired? */
export async function measureSessions(bench, { sessions, sessionIdleSeconds }) {
  const kinds = [
    { name: 'initialized and gone', abandon: initializeAndGo },
    { name: 'stream still open', abandon: keepStreamOpen },
  ];
  const rows = [];
  for (const kind of kinds) rows.push(await measureKind(bench, kind, { sessions, sessionIdleSeconds }));
  return {
    title: `Client sessions: ${sessions} abandoned, heap after a collection (goal: at most 10 kB each)`,
    text: table(
      ['clients', 'kB heap each', 'kB RSS each', 'kB heap each, expired', 'MB before', 'MB with', 'MB expired'],
      rows.map(({ name, before, open, expired }) => [
        name,
        figure((open.heapUsed - before.heapUsed) / sessions / 1024, 2),
        figure((open.rss - before.rss) / sessions / 1024, 2),
        figure((expired.heapUsed - before.heapUsed) / sessions / 1024, 2),
        ...[before, open, expired].map(({ rss }) => figure(rss / 1024 / 1024, 1)),
      ]),
    ),
    rows,
    failures: rows
      .filter(({ survivors }) => survivors > 0)
      .map(({ name, survivors }) => ({ name, error: `${survivors} sessions outlived their time` })),
  };
}

async function measureKind(bench, { name, abandon }, { sessions, sessionIdleSeconds }) {
  bench.progress(`client sessions: ${name}`);
  const hub = await openHub(bench, `sessions-${name.split(' ')[0]}`, {
    servers: { echo: stdioServer() },
    clientSessionIdleSeconds: sessionIdleSeconds,
    nodeArgs: ['--expose-gc', '--import', probe],
    ipc: true,
  });
  // Code that runs for the first time leaves its own traces on the heap.
  await many(atOnce * 5, async () => {
    const client = openClient(hub);
    await client.initialize();
    await client.end();
  });
  const before = await memoryOf(hub);
  const begin = Date.now();
  const left = await many(sessions, () => abandon(hub));
  const open = await memoryOf(hub);
  if (Date.now() - begin > sessionIdleSeconds * 1000)
    throw new Error('the first sessions expired before the last opened');
  bench.progress(`client sessions: ${name}, waiting ${sessionIdleSeconds} s for the end of all`);
  // Idle sessions are looked for from time to time; half as long again is ample.
  await sleep(sessionIdleSeconds * 1500);
  const survivors = await countSurvivors(hub, left);
  // A connection that stays open after its stream has ended is not the session's.
  await Promise.all(left.map(({ client }) => client?.drop()));
  const expired = await memoryOf(hub);
  await bench.processes.stop(hub.process);
  return { name, before, open, expired, survivors };
}

async function initializeAndGo(hub) {
  const client = openClient(hub);
  const session = await client.initialize();
  await client.drop();
  return { session, client: undefined };
}

async function keepStreamOpen(hub) {
  const client = openClient(hub);
  const session = await client.initialize();
  await client.listen();
  return { session, client };
}

async function many(count, act) {
  const results = [];
  let started = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (started++ < count) results.push(await act());
    }),
  );
  return results;
}

async function memoryOf({ process: { child } }) {
  // Connections that the clients dropped are noticed a moment later.
  await sleep(500);
  const reply = new Promise((resolve) => child.once('message', resolve));
  child.send('measure');
  return within(reply, 10_000, 'the hub did not tell its memory');
}

async function countSurvivors({ url, headers }, left) {
  const sessions = left.map(({ session }) => session);
  const known = await many(sessions.length, async () => {
    const client = openClient({ url, headers: { ...headers, 'mcp-session-id': sessions.pop() } });
    const { status } = await client.request('ping', {});
    await client.drop();
    return status !== 404;
  });
  return known.filter(Boolean).length;
}
