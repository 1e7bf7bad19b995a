import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { within } from '../../../../test/support/within.ts';
import { type KnownHeaders, readHeaders } from './known-headers.ts';

/** What a real parser made of these lines. */
async function received(lines: readonly string[]): Promise<IncomingMessage> {
  let arrived: (request: IncomingMessage) => void = () => {};
  const request = new Promise<IncomingMessage>((resolve) => {
    arrived = resolve;
  });
  const server = createServer((incoming, response) => {
    arrived(incoming);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(['GET / HTTP/1.1', ...lines, '', ''].join('\r\n'), 'latin1');
  return within(request, 'the request');
}

test('headers are found in any spelling, without blanks around them, and others are passed over', async () => {
  const request = await received([
    'HOST: localhost:1',
    'Authorization:  Bearer abc  ',
    'mcp-session-id: s1',
    'MCP-Protocol-Version: 2025-11-25',
    'X-Quartermaster-RUN: r',
    'X-Other: o',
    'cookie: authorization=x',
  ]);
  const found = Object.entries(readHeaders(request)).filter(([, value]) => value !== undefined);
  expect(Object.fromEntries(found)).toEqual({
    host: 'localhost:1',
    authorization: 'Bearer abc',
    'mcp-session-id': 's1',
    'mcp-protocol-version': '2025-11-25',
    'x-quartermaster-run': 'r',
  });
});

test('what comes twice is read as Node reads it: the first credential, both of what may be joined', async () => {
  const request = await received([
    'Host: localhost',
    'Authorization: Bearer first',
    'authorization: Bearer second',
    'Mcp-Name: a',
    'mcp-name: b',
  ]);
  expect(readHeaders(request)).toMatchObject({ host: 'localhost', authorization: 'Bearer first', 'mcp-name': 'a, b' });
});

test('it says the same as Node whatever comes', () => {
  const names = ['host', 'Host', 'accept', 'ACCEPT', 'Mcp-Method', 'mcp-method', '__proto__', 'x', 'origin', 'tsoh'];
  const pair = fc.tuple(fc.constantFrom(...names), fc.string({ maxLength: 4 }));
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 8 }), (pairs) => {
      const seen = new Set<string>();
      const once = pairs.filter(([name]) => !seen.has(name.toLowerCase()) && seen.add(name.toLowerCase()));
      const request = { rawHeaders: once.flat(), headers: {} } as unknown as IncomingMessage; // it reads nothing else
      const expected = Object.fromEntries(once.map(([name, value]) => [name.toLowerCase(), value]));
      const found = readHeaders(request);
      for (const name of Object.keys(found) as (keyof KnownHeaders)[]) expect(found[name]).toBe(expected[name]);
    }),
  );
});
