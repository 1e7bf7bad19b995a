import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { eventually, within } from '../../../test/support/within.ts';
import { HubError } from '../../base/index.ts';
import type { RequestAnswer } from '../mcp/index.ts';
import { endResponse, jsonOrStream, openEventStream, sendJson, sendRefusal } from './response.ts';

/** A real exchange: what is done to the response, and the raw socket of a client that has asked. */
async function exchange(
  act: (response: ServerResponse) => void,
): Promise<{ socket: Socket; response: ServerResponse }> {
  const server = createServer();
  const asked = new Promise<ServerResponse>((resolve) => server.once('request', (_, response) => resolve(response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1'); // a TCP server has one
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const response = await within(asked, 'the request');
  act(response);
  return { socket, response };
}

function answerOf(text: string): RequestAnswer {
  return { idText: '1', text, ran: true };
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await within(new Promise((resolve) => socket.once('close', resolve)), 'the end of the answer');
  return text;
}

test('a reader that leaves a stream unread is cut off', async () => {
  const message = 'x'.repeat(1024 * 1024);
  let sent = 0;
  const { response } = await exchange((open) => {
    const events = openEventStream(open);
    const more = (): void => {
      if (open.destroyed || sent === 200) return;
      sent++;
      events.send(message);
      setImmediate(more);
    };
    more();
  });
  await eventually(() => response.destroyed || undefined, 'the stream to be cut');
  expect(sent).toBeLessThan(200);
  expect(response.writableLength).toBeLessThan(8 * 1024 * 1024);
});

test.each(['plain', 'stream'])('a reader that stalls before the end of a large %s answer is given up', async (kind) => {
  const { response } = await exchange((open) => {
    open.writeHead(200, kind === 'plain' ? { 'content-length': 50_000_000 } : {});
    open.write('x'.repeat(50_000_000));
    endResponse(open, 100);
  });
  await eventually(() => response.destroyed || undefined, 'the connection to be cut');
});

test('a slow reader that does read gets everything', async () => {
  const { socket } = await exchange((open) => {
    open.writeHead(200, { 'content-length': 20_000_000 });
    open.write('x'.repeat(20_000_000));
    endResponse(open, 1_500);
  });
  let size = 0;
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 10);
  });
  await within(new Promise((resolve) => socket.once('close', resolve)), 'the end of the answer');
  expect(size).toBeGreaterThan(20_000_000);
});

test('an answer is plain JSON until something is said before it', async () => {
  const plain = await exchange((open) => jsonOrStream(open).end(answerOf('{"a":"é"}')));
  const text = await textOf(plain.socket);
  expect(text).toMatch(/content-type: application\/json\r\ncontent-length: 10\r\n/);
  expect(text.endsWith('\r\n\r\n{"a":"é"}')).toBe(true);
  const grown = await exchange((open) => {
    const answer = jsonOrStream(open);
    answer.between('{"b":1}');
    answer.end(answerOf('{"a":1}'));
  });
  expect(await textOf(grown.socket)).toContain('event: message\ndata: {"b":1}\n\n');
});

test('a client that is gone gets no message', async () => {
  const { response } = await exchange((open) => open.destroy());
  const growing = jsonOrStream(response);
  growing.between('{}');
  growing.end(answerOf('{}'));
  sendJson(response, 200, '{}');
  sendRefusal(response, new HubError('INTERNAL', 'x'));
  expect(response.headersSent).toBe(false);
});

test('a refusal after the first byte cuts the answer, so that nobody takes it for whole', async () => {
  const { socket } = await exchange((open) => {
    open.writeHead(200, { 'content-length': 100 });
    open.write('half');
    sendRefusal(open, new HubError('INTERNAL', 'x'));
  });
  expect(await textOf(socket)).not.toContain('INTERNAL');
});
