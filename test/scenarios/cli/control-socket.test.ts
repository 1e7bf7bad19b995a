import { once } from 'node:events';
import { lstat, readFile, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { stdioServer } from '../../support/hub.ts';
import { initializeRequest } from '../../support/mcp-clients.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { within } from '../../support/within.ts';
import { makeWorkspace, serveQm } from '../qm.fixture.ts';

const team = { servers: { echo: stdioServer('echo-stdio.mjs') }, agents: { tester: { servers: ['echo'] } } };

async function socketOf(workspace: string): Promise<string> {
  const { controlSocket } = JSON.parse(await readFile(layoutOf(workspace).serve, 'utf8')) as { controlSocket: string };
  return controlSocket;
}

interface Talk {
  readonly socket: Socket;
  say(line: string): void;
  next(): Promise<Record<string, unknown> | undefined>;
}

function talk(path: string): Talk {
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  const reader: Interface = createInterface({ input: socket });
  const lines = reader[Symbol.asyncIterator]();
  return {
    socket,
    say: (line) => void socket.write(`${line}\n`),
    async next() {
      for (;;) {
        const { value, done } = await within(lines.next(), 'a line of the hub');
        if (done === true) return undefined;
        const message = JSON.parse(String(value)) as Record<string, unknown>;
        // Lists may change at any time.
        if (!('method' in message)) return message;
      }
    },
  };
}

const hello = (workspace: string, more: object = {}): string =>
  JSON.stringify({ api: 1, version: '0.0.0', workspace, agent: 'tester', run: 'joined', ...more });

test(verifies('control:private', 'the control socket is short, private, and gone after the hub'), async () => {
  const workspace = await makeWorkspace(team);
  const hub = await serveQm(workspace);
  const path = await socketOf(workspace);
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100);
  expect((await lstat(path)).isSocket()).toBe(true);
  expect((await lstat(path)).mode & 0o777).toBe(0o600);
  expect((await lstat(dirname(path))).mode & 0o777).toBe(0o700);
  hub.signal('SIGTERM');
  expect((await hub.ended()).code).toBe(0);
  await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
});

test(
  verifies('control:attach', 'a client that attaches gets the view of its agent; unknown members are ignored'),
  async () => {
    const workspace = await makeWorkspace(team);
    await serveQm(workspace);
    const client = talk(await socketOf(workspace));
    // All in one piece: what follows the first line is not lost.
    client.say(
      `${hello(workspace, { later: { member: true } })}\n${JSON.stringify(initializeRequest('2025-11-25', 1))}`,
    );
    expect(await client.next()).toMatchObject({ ok: true, api: 1 });
    expect(await client.next()).toMatchObject({ id: 1, result: { serverInfo: { name: 'quartermaster' } } });
    client.say(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'echo_add', arguments: { a: 1, b: 2 } },
      }),
    );
    expect(await client.next()).toMatchObject({ id: 2, result: { content: [{ text: '3' }] } });
  },
);

test('a client that does not fit is told why, and the connection ends', async () => {
  const workspace = await makeWorkspace(team);
  await serveQm(workspace);
  const path = await socketOf(workspace);
  for (const [line, code] of [
    [hello('/elsewhere'), 'INVALID_REQUEST'],
    [hello(workspace, { api: 2 }), 'UNSUPPORTED_VERSION'],
    [hello(workspace, { agent: '../x' }), 'USAGE'],
    [hello(workspace, { run: 'a/b' }), 'USAGE'],
    ['GET / HTTP/1.1', 'INVALID_REQUEST'],
    ['{}', 'INVALID_REQUEST'],
  ] as const) {
    const client = talk(path);
    client.say(line);
    expect(await client.next(), line).toMatchObject({ ok: false, code });
    expect(await client.next(), line).toBeUndefined();
  }
  const endless = talk(path);
  endless.socket.write('x'.repeat(70_000));
  await within(once(endless.socket, 'close'), 'the connection to end');
});

test('the socket of a killed hub does not stop the next one', async () => {
  const workspace = await makeWorkspace(team);
  const first = await serveQm(workspace);
  const path = await socketOf(workspace);
  first.signal('SIGKILL');
  await first.ended();
  expect((await lstat(path)).isSocket()).toBe(true);
  await serveQm(workspace);
  expect(await socketOf(workspace)).toBe(path);
  const client = talk(path);
  client.say(hello(workspace));
  expect(await client.next()).toMatchObject({ ok: true });
});
