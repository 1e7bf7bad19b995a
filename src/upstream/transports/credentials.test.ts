import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createSilentLogger, createSystemClock } from '../../base/index.ts';
import type { HttpTransportSpec, ServerSpec } from '../../domain/index.ts';
import { controlRequest } from '../transport.ts';
import { configuredCredentials } from './credentials.ts';
import { createHttpTransport } from './http-transport.ts';

/** The rest of a server is of no interest here. */
function specOf(transport: HttpTransportSpec): ServerSpec {
  return { name: 'files', transport, fallbacks: [] } as unknown as ServerSpec;
}

test('a changed header goes out with the next request over the same transport', async () => {
  const seen: unknown[] = [];
  const http = createServer((request: IncomingMessage, response) => {
    seen.push(request.headers.authorization);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    });
  });
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void http.close());
  const { port } = http.address() as AddressInfo; // it listens on a port
  const withToken = (token: string): HttpTransportSpec => ({
    type: 'http',
    url: `http://127.0.0.1:${port}/mcp`,
    headers: { authorization: token },
  });
  let current = specOf(withToken('one'));
  const transport = await createHttpTransport(
    {
      clock: createSystemClock(),
      logger: createSilentLogger(),
      events: { onNotification() {}, onLost() {}, onRefused() {} },
      credentials: configuredCredentials(() => current),
    },
    { server: 'files', spec: withToken('one'), exclusive: false },
  );
  onTestFinished(() => transport.close());
  const ask = () => transport.request(controlRequest('tools/list', {}, 60_000)).reply;
  expect((await ask()).kind).toBe('result');
  current = specOf(withToken('two'));
  expect((await ask()).kind).toBe('result');
  expect(seen).toEqual(['one', 'two']);
});

test('the headers of an address that is configured no more stay as they were', () => {
  const url = 'https://files.example/mcp';
  const credentials = configuredCredentials(() => specOf({ type: 'http', url: 'https://else.example', headers: {} }));
  const transport: HttpTransportSpec = { type: 'http', url, headers: { a: 'b' } };
  expect(credentials.headersFor(transport)).toEqual(['a', 'b']);
  expect(credentials.headersFor(transport)).toBe(credentials.headersFor(transport));
});
