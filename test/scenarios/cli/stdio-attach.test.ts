import { expect, test } from 'vitest';
import { readCalls } from '../../../src/ledger/index.ts';
import { pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { stdioServer } from '../../support/hub.ts';
import { initializeRequest } from '../../support/mcp-clients.ts';
import { ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, type RunningQm, serveQm, startQm } from '../qm.fixture.ts';

const echo = stdioServer('echo-stdio.mjs');

interface Answer {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly data?: { readonly code?: string } };
}

function open(workspace: string, ...more: string[]): RunningQm {
  return startQm(['stdio', '--agent', 'tester', '--workspace', workspace, ...more]);
}

function send({ child }: RunningQm, ...messages: object[]): void {
  for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

async function next(qm: RunningQm, wanted: (message: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const message = JSON.parse(await qm.line()) as Answer;
    if (wanted(message)) return message;
  }
}

const answerTo =
  (id: unknown) =>
  (message: Answer): boolean =>
    message.id === id;

function call(id: number, name: string, args: object): object {
  return { id, method: 'tools/call', params: { name, arguments: args } };
}

async function begin(workspace: string, ...more: string[]): Promise<RunningQm> {
  const qm = open(workspace, ...more);
  send(qm, initializeRequest('2025-11-25', 1), { method: 'notifications/initialized' });
  await next(qm, answerTo(1));
  return qm;
}

test(
  verifies('stdio:one-hub', 'three stdio clients beside a hub share its server, its limit and its ledger'),
  async () => {
    const workspace = await makeWorkspace({
      servers: { echo: { ...echo, limits: { rate_per_min: 2 } } },
      agents: { tester: { servers: ['echo'] } },
    });
    const hub = await serveQm(workspace);
    const clients = await Promise.all(['a', 'b', 'c'].map((run) => begin(workspace, '--run', run)));
    for (const qm of clients) send(qm, call(2, 'echo_add', { a: 1, b: 2 }), call(3, 'echo_add', { a: 1, b: 2 }));
    const answers: Answer[] = [];
    for (const qm of clients)
      answers.push(
        await next(qm, (message) => message.id !== undefined),
        await next(qm, (message) => message.id !== undefined),
      );
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(2);
    expect(answers.filter(({ error }) => error?.data?.code === 'RATE_LIMITED')).toHaveLength(4);
    for (const { pid } of clients) expect(pidsOfHub(pid), 'servers of a client').toEqual([]);
    for (const qm of clients) {
      qm.child.stdin.end();
      expect((await qm.ended()).code).toBe(0);
    }
    hub.signal('SIGTERM');
    await hub.ended();
    const runs = await Promise.all(['a', 'b', 'c'].map((run) => readCalls(ledgerOf(workspace), { run })));
    expect(runs.map((calls) => calls.length)).toEqual([2, 2, 2]);
  },
);

test(
  verifies('stdio:hub-lost', 'calls in flight of a killed hub are answered, and the client goes on with the next hub'),
  async () => {
    const workspace = await makeWorkspace({ servers: { echo }, agents: { tester: { servers: ['echo'] } } });
    const first = await serveQm(workspace);
    const clients = await Promise.all(['a', 'b', 'c'].map((run) => begin(workspace, '--run', run)));
    for (const qm of clients) send(qm, { id: 'level', method: 'logging/setLevel', params: { level: 'error' } });
    for (const qm of clients) await next(qm, answerTo('level'));
    for (const qm of clients) send(qm, call(5, 'echo_slow', { ms: 60_000 }));
    await eventually(() => (pidsOfHub(first.pid).length > 0 ? true : undefined), 'the server to run');
    first.signal('SIGKILL');
    for (const qm of clients) {
      expect(await next(qm, answerTo(5))).toMatchObject({ error: { data: { code: 'HUB_LOST', retryable: false } } });
    }
    const second = await serveQm(workspace);
    for (const qm of clients) {
      await next(qm, ({ method }) => method === 'notifications/tools/list_changed');
      send(qm, call(6, 'echo_add', { a: 2, b: 2 }));
      expect(await next(qm, answerTo(6))).toMatchObject({ result: { content: [{ text: '4' }] } });
      expect(qm.stdout()).not.toContain('qm-replay');
      expect(pidsOfHub(qm.pid)).toEqual([]);
      qm.child.stdin.end();
      expect((await qm.ended()).code).toBe(0);
    }
    second.signal('SIGTERM');
    expect((await second.ended()).code).toBe(0);
  },
);

test('a client whose hub does not come back goes on with one of its own', async () => {
  const workspace = await makeWorkspace({ servers: { echo }, agents: { tester: { servers: ['echo'] } } });
  const hub = await serveQm(workspace);
  const qm = await begin(workspace);
  hub.signal('SIGTERM');
  await hub.ended();
  send(qm, call(2, 'echo_add', { a: 1, b: 2 }));
  expect(await next(qm, answerTo(2))).toMatchObject({ result: { content: [{ text: '3' }] } });
  qm.child.stdin.end();
  expect((await qm.ended()).code).toBe(0);
});

test('a call in flight at the end of input is still answered by the hub', async () => {
  const workspace = await makeWorkspace({ servers: { echo }, agents: { tester: { servers: ['echo'] } } });
  await serveQm(workspace);
  const qm = await begin(workspace);
  send(qm, call(2, 'echo_slow', { ms: 500 }));
  qm.child.stdin.end();
  expect(await next(qm, answerTo(2))).toMatchObject({ result: { content: [{ text: 'waited 500 ms' }] } });
  expect((await qm.ended()).code).toBe(0);
});

test(
  verifies('hub:foreground', 'a hub inside a client serves other clients too, and makes room for qm serve'),
  async () => {
    const workspace = await makeWorkspace({ servers: { echo }, agents: { tester: { servers: ['echo'] } } });
    const first = await begin(workspace, '--foreground');
    const second = await begin(workspace);
    for (const qm of [first, second]) {
      send(qm, call(2, 'echo_counter', {}));
      await next(qm, answerTo(2));
    }
    expect(pidsOfHub(first.pid)).not.toEqual([]);
    expect(pidsOfHub(second.pid)).toEqual([]);
    send(second, call(3, 'echo_slow', { ms: 500 }));
    const hub = await serveQm(workspace);
    expect(await next(second, answerTo(3))).toMatchObject({ result: { content: [{ text: 'waited 500 ms' }] } });
    for (const qm of [first, second]) {
      send(qm, call(4, 'echo_add', { a: 1, b: 2 }));
      expect(await next(qm, answerTo(4))).toMatchObject({ result: { content: [{ text: '3' }] } });
      expect(pidsOfHub(qm.pid)).toEqual([]);
      qm.child.stdin.end();
      expect((await qm.ended()).code).toBe(0);
    }
    hub.signal('SIGTERM');
    expect((await hub.ended()).code).toBe(0);
  },
);
