import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { createWorkspace } from '../../support/gateway.ts';
import { initializeRequest, modernClient } from '../../support/mcp-clients.ts';
import type { Stream } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

/** What clients that never say goodbye cost, in a hub of its own process. */
interface HeapHub {
  readonly url: string;
  readonly token: string;
  measure(passMs?: number): Promise<{ readonly heap: number; readonly sessions: number }>;
  /** Bytes that only a full collection frees. */
  old(): Promise<number>;
}

const abandoned = 1000;

test.each([
  ['1,000 abandoned sessions', false],
  ['1,000 abandoned sessions with open streams', true],
])('%s cost little while they last and nothing afterwards', { timeout: 120_000 }, async (_, withStreams) => {
  const hub = await startHeapHub();
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  // Twice before anything is counted: the first round pays for code and tables that stay.
  for (let round = 0; round < 2; round++) {
    const close = await abandon(hub, agent, abandoned, withStreams);
    await expired(hub);
    close();
  }
  const before = await hub.measure();
  const close = await abandon(hub, agent, abandoned, withStreams);
  const during = await hub.measure();
  expect(during.sessions).toBe(abandoned);
  await expired(hub);
  close();
  // Sockets take leave in their own time.
  const after = await eventually(async () => {
    const { heap } = await hub.measure();
    return heap < before.heap * 1.1 ? heap : undefined;
  }, `the memory to come back from ${during.heap} to ${before.heap}`);
  agent.destroy();
  const each = (during.heap - before.heap) / abandoned;
  console.log(
    `${withStreams ? 'with a stream' : 'alone'}: ${Math.round(each)} bytes each; before ${before.heap}, after ${after}`,
  );
  expect(each).toBeLessThan(10_000);
});

test('calls are garbage as soon as they have ended, also in a hub that has been idle', {
  timeout: 120_000,
}, async () => {
  const hub = await startHeapHub();
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const session = await initialize(hub, agent);
  await makeCalls(hub, agent, session, 2000);
  // When nothing happens, Node collects everything, and whatever is left counts as old from then on.
  await hub.measure();
  const before = await hub.old();
  const grown: number[] = [];
  for (let round = 0; round < 8; round++) {
    await makeCalls(hub, agent, session, 500);
    grown.push((await hub.old()) - before);
  }
  agent.destroy();
  const each = Math.max(...grown) / (grown.length * 500);
  console.log(`${Math.round(each)} bytes of each call have grown old`);
  expect(each).toBeLessThan(500);
});

test(verifies('http:messages-forgotten', 'sessions and streams keep little of the messages that opened them'), {
  timeout: 120_000,
}, async () => {
  const hub = await startHeapHub();
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const much = 'A'.repeat(1_000_000);
  const client = modernClient(hub.url, hub.token);
  const open = async (count: number): Promise<(() => void)[]> => {
    const streams: Stream[] = [];
    for (let each = 0; each < count; each++) {
      await post(hub, agent, initializeRequest('2025-11-25', 1, { elicitation: { much, form: { much } } }));
      const uris = [much, `memo://${much}`];
      const wanted = { toolsListChanged: true, resourceSubscriptions: uris };
      streams.push(
        await client.stream('subscriptions/listen', { notifications: wanted, much }, { id: 'i'.repeat(200) }),
      );
    }
    return streams.map((stream) => () => stream.close());
  };
  const close = await open(2);
  const before = await hub.measure();
  close.push(...(await open(20)));
  const during = await hub.measure();
  for (const end of close) end();
  agent.destroy();
  expect(during.sessions).toBe(22);
  // The messages had 80 MB together.
  expect(during.heap - before.heap).toBeLessThan(4_000_000);
});

const inFlight = 32;

async function makeCalls(hub: HeapHub, agent: Agent, session: string, count: number): Promise<void> {
  let left = count;
  const params = { name: 'echo', arguments: { text: 'x'.repeat(1000) } };
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) {
        const { status } = await post(hub, agent, { jsonrpc: '2.0', id: left, method: 'tools/call', params }, session);
        expect(status).toBe(200);
      }
    }),
  );
}

const idleSeconds = 20;

/** Sessions end when nothing was asked for a while, whatever is open. */
async function expired(hub: HeapHub): Promise<void> {
  await hub.measure(idleSeconds * 1000);
  await eventually(async () => (await hub.measure()).sessions === 0 || undefined, 'the sessions to expire');
}

async function abandon(hub: HeapHub, agent: Agent, count: number, withStreams: boolean): Promise<() => void> {
  const close: (() => void)[] = [];
  for (let left = count; left > 0; left -= 50) {
    await Promise.all(
      Array.from({ length: Math.min(left, 50) }, async () => {
        const session = await initialize(hub, agent);
        if (withStreams) close.push(await openStream(hub, session));
      }),
    );
  }
  return () => {
    for (const end of close) end();
  };
}

async function initialize(hub: HeapHub, agent: Agent): Promise<string> {
  return String((await post(hub, agent, initializeRequest())).session);
}

function post(
  { url, token }: HeapHub,
  agent: Agent,
  message: object,
  session?: string,
): Promise<{ readonly status: number | undefined; readonly session: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const ofSession = session === undefined ? {} : { 'mcp-session-id': session };
    const sent = request(url, { method: 'POST', agent, headers: { ...headers, ...ofSession } }, (response) => {
      const { statusCode: status } = response;
      response.resume().once('end', () => resolve({ status, session: response.headers['mcp-session-id'] }));
    });
    sent.once('error', reject);
    sent.end(JSON.stringify(message));
  });
}

function openStream({ url, token }: HeapHub, session: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': session, accept: 'text/event-stream' };
    const sent = request(url, { agent: false, headers }, (response) => {
      response.on('error', () => {}).resume();
      resolve(() => sent.destroy());
    });
    sent.once('error', reject);
    sent.end();
  });
}

async function startHeapHub(): Promise<HeapHub> {
  const workspace = await createWorkspace({ serve: { clientSessionIdle_s: idleSeconds } });
  const child = spawn(process.execPath, ['--expose-gc', fixturePath('heap-hub.mjs'), workspace]);
  const exit = new Promise<void>((resolve) => child.once('close', () => resolve()));
  onTestFinished(async () => {
    child.stdin.end();
    await within(exit, 'the hub to end', 30_000).finally(() => child.kill('SIGKILL'));
    await rm(workspace, { recursive: true, force: true, maxRetries: 3 });
  });
  const next = linesOf(child);
  const { url, token } = JSON.parse(await next()) as { url: string; token: string }; // the fixture's own line
  return {
    url,
    token,
    async measure(passMs = 0) {
      child.stdin.write(`${passMs}\n`);
      return JSON.parse(await next()) as { heap: number; sessions: number }; // the fixture's own line
    },
    async old() {
      child.stdin.write('old\n');
      return (JSON.parse(await next()) as { old: number }).old; // the fixture's own line
    },
  };
}

function linesOf(child: ChildProcessWithoutNullStreams): () => Promise<string> {
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => {
    const line = await within(lines.next(), 'a line of the hub', 20_000);
    if (line.done === true) throw new Error(`The hub ended: ${said}`);
    return line.value;
  };
}
