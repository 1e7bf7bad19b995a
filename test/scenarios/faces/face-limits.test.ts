import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { echoServer, gatewayForTest, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { initializeRequest, legacyClient, modernClient, textOf } from '../../support/mcp-clients.ts';
import { ask } from '../../support/mcp-http.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { connectTo, statusesOf, talk } from '../../support/raw-socket.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

/** What a client may ask for, and how much of it. */
let hub: RunningGateway;
let token: string;

beforeAll(async () => {
  hub = await startGateway(
    { serve: { maxBodyBytes: 10_000, allowedHosts: ['hub.example'], allowedOrigins: ['https://page.example'] } },
    { timeouts: { headers: 400, request: 800 } },
  );
  token = await hub.token();
});

afterAll(() => hub?.stop());

const bearer = (): { authorization: string } => ({ authorization: `Bearer ${token}` });
const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
const posting = (...lines: string[]): string =>
  head(
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    ...lines,
  );

describe(verifies('http:host-origin', 'a request for another host or from another origin is refused'), () => {
  test.each([
    ['localhost', 200],
    ['localhost:4680', 200],
    ['LOCALHOST', 200],
    ['127.0.0.1:1', 200],
    ['[::1]:4680', 200],
    ['hub.example', 200],
    ['Hub.Example:443', 200],
    ['evil.example', 403],
    ['localhost.evil.example', 403],
    ['evil.example:localhost', 403],
    ['hub.example@evil.example', 403],
    ['127.0.0.1.', 403],
    ['[::1', 403],
    ['127.0.0.2', 403],
  ])('Host: %s → %i', async (host, status) => {
    for (const path of ['/mcp', '/healthz', '/api/servers', '/']) {
      const answer = await ask(`${hub.origin}${path}`, {
        headers: { ...bearer(), host },
        ...(path === '/mcp' ? { body: initializeRequest() } : {}),
      });
      if (status === 403) expect(answer.status, path).toBe(403);
      else expect(answer.status, path).not.toBe(403);
    }
  });

  test.each([
    ['http://localhost:5173', 200],
    ['http://127.0.0.1', 200],
    ['https://[::1]:8443', 200],
    ['https://page.example', 200],
    ['http://page.example', 403],
    ['https://page.example:8443', 403],
    ['https://evil.example', 403],
    ['http://localhost.evil.example', 403],
    ['http://evil.example/localhost', 403],
    ['null', 403],
    ['', 403],
    ['file://', 403],
  ])('Origin: %s → %i', async (origin, status) => {
    const answer = await ask(hub.url, { headers: { ...bearer(), origin }, body: initializeRequest() });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.message.error?.code).toBe(-31002);
  });

  test('a request without a Host header is refused, before anybody asks for a token', async () => {
    expect(statusesOf((await talk(hub.origin, [head('GET /healthz HTTP/1.1')])).text)).toEqual([400]);
    expect(statusesOf((await talk(hub.origin, [head('GET /healthz HTTP/1.0')])).text)).toEqual([403]);
    expect(
      statusesOf((await talk(hub.origin, [head('GET /healthz HTTP/1.1', 'Host:', 'Connection: close')])).text),
    ).toEqual([403]);
  });
});

test(verifies('http:health', 'liveness and readiness need no token'), async () => {
  for (const path of ['/healthz', '/readyz']) {
    const answer = await ask(`${hub.origin}${path}`);
    expect([answer.status, answer.text], path).toEqual([200, 'ok\n']);
  }
  expect((await ask(`${hub.origin}/nothing`)).status).toBe(404);
});

test('while the hub closes, it is alive and not ready, and nobody new comes in', async () => {
  const alone = await gatewayForTest();
  const client = await legacyClient(alone.url, await alone.token());
  const running = client.call('echo_slow', { ms: 500 });
  await eventually(() => alone.hub.callsInFlight === 1 || undefined, 'the call to begin');
  const socket = connectTo(alone.origin);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // Half a request keeps a connection open across the beginning of the end. The answer to the one before it, sent in the
  // same piece, tells that the half has arrived.
  socket.write(`${head('GET /healthz HTTP/1.1', 'Host: localhost')}GET /readyz HTTP/1.1\r\nHost: localhost\r\n`);
  await eventually(() => text.endsWith('ok\n') || undefined, 'the first answer');
  const stopped = alone.stop();
  socket.write('\r\n');
  await eventually(() => statusesOf(text).length > 1 || undefined, 'the answer');
  expect(statusesOf(text)).toEqual([200, 503]);
  expect(text).toMatch(/connection: close/i);
  expect(textOf((await running).message)).toBe('waited 500 ms');
  await stopped;
  socket.destroy();
  await expect(ask(alone.url)).rejects.toThrow(/ECONNREFUSED/);
});

describe(verifies('http:limits', 'what is too large, too deep or too slow is refused'), () => {
  test('a body over the limit is 413 as soon as that is clear, and the connection is closed', async () => {
    const announced = await talk(hub.origin, [posting('Content-Length: 1000000000'), 'x'.repeat(1000)]);
    expect([statusesOf(announced.text), announced.closed]).toEqual([[413], true]);
    const piece = `${(5000).toString(16)}\r\n${'x'.repeat(5000)}\r\n`;
    const chunked = await talk(hub.origin, [posting('Transfer-Encoding: chunked'), piece, piece, piece]);
    expect([statusesOf(chunked.text), chunked.closed]).toEqual([[413], true]);
    expect(chunked.text).toContain('"code":-31003');
  });

  test('a client that sends too much reads the refusal, whenever it looks', async () => {
    const patient = await gatewayForTest({ serve: { maxBodyBytes: 10_000 } });
    const authorization = `Bearer ${await patient.token()}`;
    const body = Buffer.alloc(30_000_000, 0x20);
    for (let round = 0; round < 10; round++) {
      const answer = await ask(patient.url, { headers: { authorization }, body });
      expect([answer.status, answer.message.error?.code]).toEqual([413, -31003]);
    }
    const socket = connectTo(patient.origin);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.write(posting(`Content-Length: ${body.length}`).replace(/Bearer \S+/, authorization));
    await new Promise<void>((sent, failed) => {
      socket.once('error', failed);
      socket.write(body, () => sent());
    });
    await within(new Promise((resolve) => socket.once('close', resolve)), 'the end of the connection');
    expect(statusesOf(text)).toEqual([413]);
  });

  test('a client that never stops sending is cut off', async () => {
    const socket = connectTo(hub.origin);
    socket.on('error', () => {});
    socket.resume();
    socket.write(posting('Transfer-Encoding: chunked'));
    const piece = `${(60_000).toString(16)}\r\n${'x'.repeat(60_000)}\r\n`;
    const more = (): void => {
      if (!socket.destroyed) socket.write(piece, more);
    };
    more();
    await within(new Promise((resolve) => socket.once('close', resolve)), 'the end of the connection');
  });

  test('exactly the limit is taken', async () => {
    const client = await legacyClient(hub.url, token);
    const frame = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: '' } });
    const body = frame.replace('""', `"${'y'.repeat(10_000 - frame.length)}"`);
    expect(body).toHaveLength(10_000);
    expect((await client.post(body)).status).toBe(200);
    expect((await client.post(`${body} `)).status).toBe(413);
  });

  test('headers over the limit are 431', async () => {
    const { text, closed } = await talk(hub.origin, [posting(`X-Long: ${'x'.repeat(20_000)}`)]);
    expect([statusesOf(text), closed]).toEqual([[431], true]);
  });

  test('headers that do not come are 408', async () => {
    const { text, closed } = await talk(hub.origin, ['POST /mcp HTTP/1.1\r\nHost: localhost\r\n']);
    expect([statusesOf(text), closed]).toEqual([[408], true]);
  });

  test('a body that does not come is 408', async () => {
    const { text, closed } = await talk(hub.origin, [posting('Content-Length: 100'), '{']);
    expect([statusesOf(text), closed]).toEqual([[408], true]);
  });

  test('a connection that says nothing is closed', async () => {
    expect((await talk(hub.origin, [])).closed).toBe(true);
  });

  test.each([
    [
      '65 levels',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${'['.repeat(63)}${']'.repeat(63)}}}`,
      413,
      -31003,
    ],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, -32700],
    ['half a character', Buffer.from('{"a":"é"}').subarray(0, 7), 400, -32700],
    ['a byte order mark', '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}', 400, -32700],
    ['nothing', '', 400, -32700],
    ['half a message', '{"jsonrpc":"2.0","id":1', 400, -32700],
    ['a repeated key', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', 400, -32600],
    ['a key repeated in disguise', '{"jsonrpc":"2.0","id":1,"method":"a","m\\u0065thod":"b"}', 400, -32600],
    ['a number', '1', 400, -32600],
    ['no version', '{"id":1,"method":"ping"}', 400, -32600],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600],
    ['a fractional id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32600],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600],
    ['params in a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600],
    ['a method that is no string', '{"jsonrpc":"2.0","id":1,"method":7}', 400, -32600],
  ])('%s', async (_, body, status, code) => {
    const client = await legacyClient(hub.url, token);
    const answer = await client.post(body);
    expect([answer.status, answer.message.error?.code]).toEqual([status, code]);
  });

  test('an id comes back as it was, however large', async () => {
    const client = await legacyClient(hub.url, token);
    for (const id of ['123456789012345678901234567890', '-0', '1e3', '"\\u0041"', '""']) {
      const answer = await client.post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
      expect(answer.text, id).toBe(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    }
  });

  test.each(['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', 'multipart/form-data', undefined])(
    'content type %s is 415',
    async (type) => {
      const answer = await ask(hub.url, { headers: { ...bearer(), 'content-type': type }, body: initializeRequest() });
      expect(answer.status).toBe(415);
    },
  );

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json ;charset=utf-8',
  ])('content type %s is taken', async (type) => {
    const answer = await ask(hub.url, { headers: { ...bearer(), 'content-type': type }, body: initializeRequest() });
    expect(answer.status).toBe(200);
  });

  test('one session too many costs the one that was silent for longest', async () => {
    const alone = await gatewayForTest({ serve: { maxClientSessions: 3 } });
    const own = await alone.token();
    const [first, second, third] = [
      await legacyClient(alone.url, own),
      await legacyClient(alone.url, own),
      await legacyClient(alone.url, own),
    ];
    await first.request('ping');
    const stream = await second.listen();
    await third.request('ping');
    await first.request('ping');
    const fourth = await legacyClient(alone.url, own);
    expect(alone.gateway.clientSessions).toBe(3);
    await within(stream.ended, 'the stream of the session that went');
    expect((await second.request('ping')).status).toBe(404);
    for (const client of [first, third, fourth]) expect((await client.request('ping')).status).toBe(200);
  });
});

test(verifies('http:session-expiry', 'a session ends by its last request, not by its open stream'), async () => {
  const clock = createMovingClock();
  const alone = await gatewayForTest({ serve: { clientSessionIdle_s: 600 } }, { clock });
  const own = await alone.token();
  const [busy, silent] = [await legacyClient(alone.url, own), await legacyClient(alone.url, own)];
  const stream = await silent.listen();
  for (let minutes = 0; minutes < 12; minutes += 3) {
    clock.advance(180_000);
    expect((await busy.request('ping')).status).toBe(200);
  }
  await within(stream.ended, 'the stream of the silent session');
  expect((await silent.request('ping')).status).toBe(404);
  expect((await busy.request('ping')).status).toBe(200);
  expect(alone.gateway.clientSessions).toBe(1);
});

test('an open stream hears that it is alive, and ends when its token expires', async () => {
  const clock = createMovingClock();
  const alone = await gatewayForTest({}, { clock });
  const own = await alone.token('tester', { ttlMs: 300_000 });
  const get = await (await legacyClient(alone.url, own)).listen();
  const listen = { notifications: { toolsListChanged: true } };
  const sub = await modernClient(alone.url, own).stream('subscriptions/listen', listen);
  // Beat by beat: each one sets the timer of the next.
  const moving = <T>(look: () => T | undefined, what: string): Promise<T> =>
    eventually(() => {
      clock.advance(5_000);
      return look();
    }, what);
  for (const stream of [get, sub]) await moving(() => stream.text().includes(': keep-alive') || undefined, 'a beat');
  let ended = false;
  void Promise.all([get.ended, sub.ended]).then(() => {
    ended = true;
  });
  await moving(() => ended || undefined, 'both streams to end');
  expect(alone.gateway.clientSessions).toBe(0);
});

test(
  verifies('limits:fair', 'an agent with a token has its share, whether the configuration names it or not'),
  async () => {
    const up = { ...echoServer, limits: { concurrency: 4 } };
    const gateway = await gatewayForTest({ servers: { up } });
    const [greedy, other] = [await gateway.token('greedy'), await gateway.token('other')];
    const client = await legacyClient(gateway.url, greedy);
    await client.request('tools/list');
    const slow = Array.from({ length: 4 }, () => client.call('up_slow', { ms: 60_000 }));
    await Promise.race(slow);
    const answer = await (await legacyClient(gateway.url, other)).call('up_echo', { message: 'hi' });
    expect(answer.message.error).toBeUndefined();
    expect(textOf(answer.message)).toBe('hi');
    void Promise.allSettled(slow);
  },
);
