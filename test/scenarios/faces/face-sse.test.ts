import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { clientInfo, initializeRequest, namesOf, textOf } from '../../support/mcp-clients.ts';
import { ask } from '../../support/mcp-http.ts';
import { listenOverSse, sseClient } from '../../support/sse-client.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** The HTTP transport of revision 2024-11-05: what goes over `/sse` and `/messages`, and who may say it. */
const page = 'https://page.example';

let hub: RunningGateway;
let token: string;

beforeAll(async () => {
  hub = await startGateway({ serve: { maxBodyBytes: 10_000, allowedOrigins: [page] } });
  token = await hub.token();
});

afterAll(() => hub?.stop());

const bearer = (own = token): { authorization: string } => ({ authorization: `Bearer ${own}` });
const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

describe.each(revisions)(verifies('http:sse', 'a client that asks for %s'), (version) => {
  test('lists, calls and pings', async () => {
    const client = await listenOverSse(hub.origin, token);
    const taken = await client.post(initializeRequest(version));
    expect([taken.status, taken.text]).toEqual([202, '']);
    expect((await client.answer('init')).result).toMatchObject({ protocolVersion: version });
    const noted = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([noted.status, noted.text]).toEqual([202, '']);
    expect(namesOf(await client.request('tools/list'))).toContain('echo_add');
    expect(textOf(await client.call('echo', { message: 'hi' }))).toBe('hi');
    expect((await client.request('ping')).result).toEqual({});
    expect((await client.request('server/discover', { clientInfo })).error?.code).toBe(-32601);
    client.stream.close();
  });

  test(`a batch is ${version === '2025-03-26' ? 'answered as a batch' : 'refused'}`, async () => {
    const client = await sseClient(hub.origin, token, version);
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
    expect((await client.post([ping(1), ping(2)])).status).toBe(202);
    const answer =
      version === '2025-03-26'
        ? [1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} }))
        : { id: null, error: { code: -32600 } };
    await expect.poll(() => client.messages().at(-1)).toMatchObject(answer);
    client.stream.close();
  });
});

test('an unknown revision is answered with the newest', async () => {
  const client = await listenOverSse(hub.origin, token);
  await client.post(initializeRequest('2024-10-07'));
  expect((await client.answer('init')).result).toMatchObject({ protocolVersion: '2025-11-25' });
  client.stream.close();
});

test('the stream begins with an address at the same origin, and is no other than those of /mcp', async () => {
  const client = await listenOverSse(hub.origin, token);
  expect(client.stream.text()).toMatch(/^event: endpoint\ndata: \/messages\?sessionId=[a-z0-9]{26}\n\n$/i);
  expect(client.stream.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  client.stream.close();
});

test('the run of the stream is the run of its calls', async () => {
  const client = await listenOverSse(hub.origin, token, { 'x-quartermaster-run': 'old-run' });
  await client.call('echo', { message: 'in a run' });
  await eventually(async () => (await hub.calls(1)).some((call) => call.run_id === 'old-run'), 'the call of the run');
  client.stream.close();
  const issued = await listenOverSse(hub.origin, await hub.token('tester', { run: 'own-run' }), {
    'x-quartermaster-run': 'other-run',
  });
  await issued.call('echo', { message: 'in its own run' });
  await eventually(async () => (await hub.calls(2)).some((call) => call.run_id === 'own-run'), 'the call of the token');
  issued.stream.close();
  const refused = await ask(`${hub.origin}/sse`, { headers: { ...bearer(), 'x-quartermaster-run': 'no run' } });
  expect(refused.status).toBe(400);
});

describe(verifies('http:sse-owner', 'the token comes with the stream and with each message'), () => {
  test.each([undefined, 'Bearer', 'Bearer wrong', 'Basic abc'])('%s opens nothing', async (authorization) => {
    const answer = await ask(`${hub.origin}/sse`, { headers: { authorization, accept: 'text/event-stream' } });
    expect([answer.status, answer.message.error?.code]).toEqual([401, -31001]);
    const metadata = `${hub.origin}/.well-known/oauth-protected-resource/sse`;
    expect(answer.headers['www-authenticate']).toContain(`resource_metadata="${metadata}"`);
    expect(JSON.parse((await ask(metadata)).text)).toMatchObject({ resource: `${hub.origin}/sse` });
  });

  test('a message without it, or with that of another, reaches nobody', async () => {
    const client = await sseClient(hub.origin, token);
    const ping = { jsonrpc: '2.0', id: 'theirs', method: 'ping' };
    for (const authorization of [undefined, 'Bearer wrong']) {
      expect((await client.post(ping, { authorization })).status).toBe(401);
    }
    for (const other of [await hub.token('designer'), await hub.token()]) {
      const answer = await client.post(ping, bearer(other));
      expect([answer.status, answer.message.error?.code, answer.message.id]).toEqual([404, -31004, 'theirs']);
    }
    expect((await client.request('ping')).result).toEqual({});
    expect(client.messages().map(({ id }) => id)).not.toContain('theirs');
    client.stream.close();
  });

  test('an address that no stream gave leads nowhere', async () => {
    const client = await sseClient(hub.origin, token);
    const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const at = (path: string) => ask(`${hub.origin}${path}`, { headers: bearer(), body });
    expect((await at('/messages?sessionId=constructor')).status).toBe(404);
    expect((await at(`${new URL(client.endpoint).pathname}?sessionId=`)).status).toBe(404);
    expect((await at('/messages')).message.error).toMatchObject({ code: -32600 });
    client.stream.close();
    await expect.poll(async () => (await client.post(body)).status).toBe(404);
  });
});

describe('what cannot be taken is refused at once, and nothing of it comes over the stream', () => {
  test.each([
    ['half a message', '{"jsonrpc":"2.0","id":1', 400, -32700],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, -32700],
    ['nothing', '', 400, -32700],
    ['a repeated key', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', 400, -32600],
    ['no JSON-RPC', '{"id":1,"method":"ping"}', 400, -32600],
    ['too much', `"${'x'.repeat(10_000)}"`, 413, -31003],
  ])('%s', async (_, body, status, code) => {
    const client = await sseClient(hub.origin, token);
    const before = client.stream.text();
    const answer = await client.post(body);
    expect([answer.status, answer.message.error?.code]).toEqual([status, code]);
    expect(client.stream.text()).toBe(before);
    expect((await client.request('ping')).result).toEqual({});
    client.stream.close();
  });

  test.each(['text/plain', 'application/jsonp', undefined])('content type %s', async (type) => {
    const client = await sseClient(hub.origin, token);
    const answer = await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { 'content-type': type });
    expect(answer.status).toBe(415);
    client.stream.close();
  });

  test('other methods, and a stream for who reads none', async () => {
    const refusal = async (method: string, path: string, headers = {}) => {
      const answer = await ask(`${hub.origin}${path}`, { method, headers: { ...bearer(), ...headers } });
      return [answer.status, answer.headers.allow];
    };
    expect(await refusal('POST', '/sse')).toEqual([405, 'GET']);
    expect(await refusal('DELETE', '/sse')).toEqual([405, 'GET']);
    expect(await refusal('GET', '/messages')).toEqual([405, 'POST']);
    expect(await refusal('GET', '/sse', { accept: 'application/json' })).toEqual([406, undefined]);
  });
});

describe('web pages', () => {
  test('an allowed one may ask, and read what comes', async () => {
    for (const path of ['/sse', '/messages']) {
      const asked = { origin: page, 'access-control-request-method': 'POST' };
      const answer = await ask(`${hub.origin}${path}`, { method: 'OPTIONS', headers: asked });
      expect([answer.status, answer.headers['access-control-allow-origin']], path).toEqual([204, page]);
    }
    const client = await listenOverSse(hub.origin, token, { origin: page });
    expect(client.stream.headers['access-control-allow-origin']).toBe(page);
    const posted = await client.post(initializeRequest(), { origin: page });
    expect([posted.status, posted.headers['access-control-allow-origin']]).toEqual([202, page]);
    client.stream.close();
  });

  test('another is refused, as is another host name', async () => {
    const client = await sseClient(hub.origin, token);
    for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }]) {
      expect((await ask(`${hub.origin}/sse`, { headers: { ...bearer(), ...headers } })).status).toBe(403);
      expect((await client.post(initializeRequest(), headers)).status).toBe(403);
    }
    client.stream.close();
  });
});
