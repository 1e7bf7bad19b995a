import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { within } from '../../../../test/support/within.ts';
import { createSystemClock } from '../../../base/index.ts';
import { LeanRequest } from './lean-request.ts';
import { pickRequest } from './pick-request.ts';
import { PlainRequest } from './plain-request.ts';

/** What a server answers to this text whose requests are of this kind. */
async function answeredBy(
  Request: typeof PlainRequest,
  text: string,
  handle: (request: PlainRequest, response: ServerResponse) => Promise<void> | void,
): Promise<string> {
  const server = createServer({ IncomingMessage: Request }, (request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(text, 'latin1');
  let said = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    said += chunk;
  });
  await within(new Promise<void>((resolve) => socket.once('close', resolve)), 'the end of the connection');
  return said;
}

/** The pieces of a body, then its end. */
function bodyOf(request: PlainRequest): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    request.readBody({
      piece: (bytes) => pieces.push(bytes),
      end: () => resolve(Buffer.concat(pieces).toString()),
    });
  });
}

describe.each([
  ['lean', LeanRequest],
  ['plain', PlainRequest],
])('%s requests', (_, Request) => {
  const answered = (text: string, handle: Parameters<typeof answeredBy>[2]) => answeredBy(Request, text, handle);

  test('Node finds what it looks for, and whoever asks after the hub has read its own finds everything', async () => {
    const text =
      'POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nConnection: close\r\nX-Other: o\r\nContent-Length: 1\r\n\r\nx';
    const answer = await answered(text, (request, response) => {
      const { host, expect: expected } = request.arrive();
      response.end(JSON.stringify([host, expected, request.headers['x-other'], Object.keys(request.headers).length]));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('["h","100-continue","o",5]');
  });

  test.each([
    ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n', '400 Bad Request'],
    ['GET / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\nConnection: close\r\n\r\n', '417 Expectation Failed'],
  ])('what Node refuses by its headers it still refuses: %j', async (text, status) => {
    const answer = await answered(text, () => {
      throw new Error('nobody should see it');
    });
    expect(answer).toContain(`HTTP/1.1 ${status}`);
  });

  test('bodies come to their reader, one request after the other on the same connection', async () => {
    const post = 'POST / HTTP/1.1\r\nHost: h\r\n';
    const requests = [
      `${post}Content-Length: 3\r\n\r\none`,
      `${post}Transfer-Encoding: chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\nX-Trailer: t\r\n\r\n`,
      `${post}Content-Length: 0\r\n\r\n`,
      `${post}Connection: close\r\nContent-Length: 4\r\n\r\nlast`,
    ];
    const answer = await answered(requests.join(''), async (request, response) => {
      const body = await bodyOf(request);
      response.end(`<${body} ${request.complete} ${request.readableEnded}>`);
    });
    expect(answer.match(/<.*?>/g)).toEqual(['<one true true>', '<two true true>', '< true true>', '<last true true>']);
  });

  test('a body dropped halfway is read to its end, and the connection serves the next request', async () => {
    const long = `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`;
    const next = 'POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 4\r\n\r\nnext';
    const answer = await answered(long + next, (request, response) => {
      let size = 0;
      request.readBody({
        piece: (bytes) => {
          size += bytes.length;
          if (size <= 1000) return;
          request.dropBody();
          request.once('end', () => response.end('<dropped>'));
        },
        end: () => response.end(`<${size}>`),
      });
    });
    expect(answer.match(/<.*?>/g)).toEqual(['<dropped>', '<4>']);
  });

  test('the stream is available on request', async () => {
    const text = 'POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc';
    const answer = await answered(text, async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      response.end(`<${Buffer.concat(pieces)} ${request.readableEnded}>`);
    });
    expect(answer).toContain('<abc true>');
  });

  test('a reader that comes too late is told so', async () => {
    const text = 'POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc';
    const answer = await answered(text, (request, response) => {
      setImmediate(() => {
        expect(() => request.readBody({ piece: () => {}, end: () => {} })).toThrow('somebody else');
        response.end('<late>');
      });
    });
    expect(answer).toContain('<late>');
  });

  test('nonsense behind a body that is refused at once is still answered', async () => {
    const text = 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcnonsense\r\n\r\n';
    const answer = await answered(text, (request, response) => {
      request.readBody({ piece: () => {}, end: () => response.end('<refused>') });
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });
});

test('lean requests are taken where they work, and plain ones where Node is not as it was', async () => {
  class Unheard extends LeanRequest {
    // As if the parser brought bodies by another way.
    override push(): boolean {
      return true;
    }
  }
  class Blind extends LeanRequest {
    override arrive() {
      return { ...super.arrive(), host: undefined };
    }
  }
  const clock = createSystemClock();
  const quick = { ...clock, setTimer: (ms: number, run: () => void) => clock.setTimer(ms / 40, run) };
  expect(await pickRequest(clock)).toBe(LeanRequest);
  expect(await pickRequest(clock, PlainRequest)).toBe(PlainRequest);
  expect(await pickRequest(quick, Unheard)).toBe(PlainRequest);
  expect(await pickRequest(clock, Blind)).toBe(PlainRequest);
});
