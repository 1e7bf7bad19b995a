import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectTo } from '../../../test/support/raw-socket.ts';
import { eventually } from '../../../test/support/within.ts';
import { LeanRequest, PlainRequest } from '../mcp-http/index.ts';
import { oneAtATime, type RequestHandler } from './request-queue.ts';

async function serving(
  Request: typeof PlainRequest,
  handle: RequestHandler,
): Promise<{ server: Server; socket: Socket }> {
  const server = createServer({ IncomingMessage: Request }, oneAtATime(handle));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const socket = connectTo(`http://127.0.0.1:${port}`);
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { server, socket };
}

function post(body: string): string {
  return `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Everything that comes, as it comes. */
function reading(socket: Socket): () => string {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

describe.each([
  ['lean', LeanRequest],
  ['plain', PlainRequest],
])('%s requests', (_, Request) => {
  test('200 in one packet make one answer at a time, and each is answered in its turn', async () => {
    const handled: string[] = [];
    const large = 'x'.repeat(1024 * 1024);
    const { socket } = await serving(Request, (request, response) => {
      let body = '';
      request.readBody({
        piece: (bytes) => {
          body += bytes.toString('latin1');
        },
        end: () => {
          handled.push(body);
          response.end(`<${body}>${large}`);
        },
      });
    });
    socket.pause();
    const bodies = Array.from({ length: 200 }, (_each, index) => `body ${index}`);
    socket.write(bodies.map(post).join(''));
    await eventually(() => (handled.length > 0 ? true : undefined), 'the first request');
    await new Promise((resolve) => setTimeout(resolve, 300));
    // What the kernel takes counts as sent.
    expect(handled.length).toBeLessThan(20);
    const text = reading(socket);
    socket.resume();
    await eventually(() => (handled.length === 200 ? true : undefined), 'the last request', 60_000);
    expect(handled).toEqual(bodies);
    await eventually(() => (text().includes('<body 199>') ? true : undefined), 'the last answer', 60_000);
  });

  test('a body that comes in pieces behind an open answer is read whole, also by a plain stream', async () => {
    let first: (() => void) | undefined;
    const bodies: string[] = [];
    const { socket } = await serving(Request, (request, response) => {
      if (first === undefined) {
        first = () => response.end('one');
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        bodies.push(Buffer.concat(chunks).toString());
        response.end('other');
      });
    });
    reading(socket);
    const long = 'y'.repeat(300_000);
    socket.write(`GET / HTTP/1.1\r\nHost: h\r\n\r\n${post('short')}${post(long)}`);
    await eventually(() => first, 'the first request');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(bodies).toEqual([]);
    first?.();
    await eventually(() => (bodies.length === 2 ? true : undefined), 'the bodies');
    expect(bodies).toEqual(['short', long]);
  });

  test('more than a connection may have waiting is cut', async () => {
    let open = 0;
    const { socket } = await serving(Request, () => open++);
    reading(socket);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('GET / HTTP/1.1\r\nHost:h\r\n\r\n'.repeat(2000));
    await closed;
    expect(open).toBe(1);
  });
});
