import { createServer } from 'node:http';
import { Duplex } from 'node:stream';
import { type Clock, sleep } from '../../../base/index.ts';
import { LeanRequest } from './lean-request.ts';
import { PlainRequest } from './plain-request.ts';

/**
 * Lean requests if they work with this version of Node, which two requests on a connection inside the process test; see
 * `docs/decisions/0022-lean-requests.md`.
 */
export async function pickRequest(
  clock: Clock,
  wanted: typeof PlainRequest = LeanRequest,
): Promise<typeof PlainRequest> {
  return (await answersOf(clock, wanted)) === expected ? wanted : PlainRequest;
}

const head = 'POST / HTTP/1.1\r\nHost: h\r\nAccept: a\r\nX-Other: o\r\n';
const requests = [
  `${head}Content-Length: 3\r\n\r\none`,
  `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\n\r\n`,
];
const expected = '<h a o one true true><h a o two true true>';
const timeoutMs = 2_000;

async function answersOf(clock: Clock, Request: typeof PlainRequest): Promise<string> {
  const answered = new AbortController();
  let answers = '';
  const server = createServer({ IncomingMessage: Request }, (request, response) => {
    const { host, accept } = request.arrive();
    let body = '';
    request.readBody({
      piece: (bytes) => {
        body += bytes.toString('latin1');
      },
      end: () => {
        const { headers, complete, readableEnded } = request;
        answers += `<${host} ${accept} ${headers['x-other']} ${body} ${complete} ${readableEnded}>`;
        response.end();
        if (answers.length >= expected.length) answered.abort();
      },
    });
  });
  const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  connection.on('error', () => {});
  server.emit('connection', connection);
  connection.push(requests.join(''));
  await sleep(clock, timeoutMs, answered.signal);
  connection.destroy();
  return answers;
}
