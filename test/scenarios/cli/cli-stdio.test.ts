import { expect, test } from 'vitest';
import { readCalls, readOpenCalls } from '../../../src/ledger/index.ts';
import { ledgerPlaces } from '../../../src/storage/index.ts';
import { stdioServer } from '../../support/hub.ts';
import { initializeRequest } from '../../support/mcp-clients.ts';
import { layoutOf, ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, type RunningQm, startQm } from '../qm.fixture.ts';

const team = {
  servers: { echo: stdioServer('echo-stdio.mjs'), other: stdioServer('echo-modern.mjs') },
  agents: { tester: { servers: ['echo'] } },
};

function open(workspace: string, ...more: string[]): RunningQm {
  return startQm(['stdio', '--agent', 'tester', '--workspace', workspace, ...more]);
}

function send({ child }: RunningQm, ...messages: object[]): void {
  for (const message of messages) child.stdin.write(`${JSON.stringify(message)}\n`);
}

/** The next response. Skips notifications in between. */
async function answer(qm: RunningQm): Promise<{ id: unknown; result: Record<string, unknown> }> {
  for (;;) {
    const message = JSON.parse(await qm.line()) as { id?: unknown; result: Record<string, unknown> };
    if (message.id !== undefined) return { id: message.id, result: message.result };
  }
}

function call(id: number, name: string, args: object): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

test(verifies('stdio:view', "an agent's view works over stdio, and stdout carries only the protocol"), async () => {
  const workspace = await makeWorkspace(team);
  const qm = open(workspace, '--run', 'piped', '--log-level', 'debug');
  send(qm, initializeRequest('2025-11-25', 1), { jsonrpc: '2.0', method: 'notifications/initialized' });
  expect((await answer(qm)).result).toMatchObject({ serverInfo: { name: 'quartermaster' } });
  send(qm, { jsonrpc: '2.0', id: 2, method: 'tools/list' });
  const { tools } = (await answer(qm)).result as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toContain('echo_add');
  expect(tools.some(({ name }) => name.startsWith('other'))).toBe(false);
  send(qm, call(3, 'echo_add', { a: 1, b: 2 }));
  expect(await answer(qm)).toEqual({ id: 3, result: { content: [{ type: 'text', text: '3' }] } });
  qm.child.stdin.end();
  const { code, stdout } = await qm.ended();
  expect(code).toBe(0);
  for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  expect((await readCalls(ledgerOf(workspace), { run: 'piped' })).map(({ tool }) => tool)).toEqual(['add']);
});

test('a call in flight at the end of input is still answered', async () => {
  const workspace = await makeWorkspace(team);
  const qm = open(workspace);
  send(qm, initializeRequest('2025-11-25', 1), call(2, 'echo_slow', { ms: 1000 }));
  await answer(qm);
  await eventually(
    async () => (await readOpenCalls(ledgerPlaces(layoutOf(workspace)))).length > 0 || undefined,
    'the call to be sent',
  );
  qm.child.stdin.end();
  expect(await answer(qm)).toMatchObject({ id: 2, result: { content: [{ text: 'waited 1000 ms' }] } });
  expect((await qm.ended()).code).toBe(0);
});

test('signals and a closed reader end the command and its servers', async () => {
  const workspace = await makeWorkspace(team);
  for (const [name, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 0],
    ['SIGHUP', 0],
  ] as const) {
    const qm = open(workspace);
    send(qm, initializeRequest('2025-11-25', 1), call(2, 'echo', { message: 'x' }));
    await answer(qm);
    await answer(qm);
    qm.signal(name);
    expect((await qm.ended()).code, name).toBe(code);
  }
  const qm = open(workspace);
  send(qm, initializeRequest('2025-11-25', 1));
  await answer(qm);
  qm.child.stdout.destroy();
  send(qm, { jsonrpc: '2.0', id: 2, method: 'ping' });
  expect((await qm.ended()).code).toBe(0);
});

test('kill -9 leaves no server behind', async () => {
  const workspace = await makeWorkspace(team);
  const qm = open(workspace);
  send(qm, initializeRequest('2025-11-25', 1), call(2, 'echo', { message: 'x' }));
  await answer(qm);
  await answer(qm);
  qm.signal('SIGKILL');
  expect((await qm.ended()).code).toBeNull();
});
