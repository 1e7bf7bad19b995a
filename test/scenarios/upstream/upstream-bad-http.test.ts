import { expect, test } from 'vitest';
import { type Received, sendJsonReply, serveHttp } from '../../../src/upstream/transports/http-server.fixture.ts';
import { codeOf, openStage, type Stage, textOf } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** A hub that once saw the good server, and now finds the bad one at the same address. */
async function surprise(args: readonly string[], limits: object = {}): Promise<Stage> {
  const stage = await openStage();
  const good = await stage.fixture('echo-http.mjs', ['--era', 'legacy']);
  const config = { servers: { up: { url: good.url, limits } } };
  await stage.start(config);
  await stage.hub.discover();
  await stage.stop();
  await good.stop();
  const env = { CALL_LOG: stage.path('calls.log') };
  await stage.fixture('bad-http.mjs', [...args, '--port', new URL(good.url).port], env);
  await stage.start(config);
  return stage;
}

test.each([
  ['401', 'UPSTREAM_NEEDS_LOGIN', 'needs_login', 'needs-login'],
  ['403', 'UPSTREAM_FORBIDDEN', 'forbidden', 'forbidden'],
  ['429', 'UPSTREAM_THROTTLED', 'throttled', 'retrying'],
  ['500', 'UPSTREAM_UNAVAILABLE', 'unavailable', 'retrying'],
  ['garbage', 'UPSTREAM_UNAVAILABLE', 'unavailable', 'retrying'],
  ['html', 'UPSTREAM_UNAVAILABLE', 'unavailable', 'retrying'],
  ['redirect', 'UPSTREAM_UNAVAILABLE', 'unavailable', 'retrying'],
])('%s from the first word on: %s', async (mode, code, outcome, state) => {
  const stage = await surprise([mode]);
  const result = await stage.call('up_counter');
  expect(codeOf(result)).toBe(code);
  const status = stage.status('up');
  expect(status).toMatchObject({ state, transport: 'http', error: expect.stringContaining('"up"') });
  // Who knows the tools of a server may still see them.
  expect(await stage.names()).toContain('up_counter');
  expect(await stage.ledger()).toMatchObject([{ status: 'error', outcome, transport: null, retries: null }]);
  expect(await stage.lines('calls.log')).toEqual([]);
});

test('hang from the first word on: the call ends when the handshake does', async () => {
  const stage = await surprise(['hang']);
  expect(codeOf(await stage.hurry(stage.call('up_counter')))).toBe('UPSTREAM_UNAVAILABLE');
});

const words: Readonly<Record<string, string>> = { '401': 'needs-login', '403': 'forbidden' };

test.each([
  ['401', 'UPSTREAM_NEEDS_LOGIN', 'needs_login', 401],
  ['403', 'UPSTREAM_FORBIDDEN', 'forbidden', 403],
  ['429', 'UPSTREAM_THROTTLED', 'throttled', 429],
  ['500', 'UPSTREAM_FAILED', 'upstream_error', 500],
  ['garbage', 'UPSTREAM_GARBLED', 'upstream_error', 200],
  ['html', 'UPSTREAM_GARBLED', 'upstream_error', 200],
  ['redirect', 'UPSTREAM_FAILED', 'upstream_error', 302],
  ['hang', 'UPSTREAM_TIMEOUT', 'timeout', null],
  ['closes-mid-call', 'UPSTREAM_LOST', 'lost', null],
  ['sse-cut', 'UPSTREAM_LOST', 'lost', 200],
])(verifies('upstream:failures-told-apart', '%s as the answer to a call: %s'), async (mode, code, outcome, http) => {
  const stage = await surprise([mode, '--on-call'], mode === 'hang' ? { timeout_s: 0.2 } : {});
  await stage.hub.discover();
  for (let time = 0; time < 4; time++) expect(codeOf(await stage.call('up_counter'))).toBe(code);
  // None of these says anything about the next connect, so the connection stays, whatever the word for it.
  expect(stage.status('up').state).toBe(words[mode] ?? 'connected');
  expect(await stage.ledger()).toMatchObject(
    Array.from({ length: 4 }, () => ({ outcome, http_status: http, transport: 'http', error: expect.any(String) })),
  );
  // And none was sent twice, for each may have run.
  expect(await stage.lines('calls.log')).toHaveLength(4);
});

test('a throttled call says when to try again', async () => {
  const stage = await surprise(['429', '--on-call']);
  const result = await stage.call('up_counter');
  expect(result).toMatchObject({ error: { details: { retryAfterMs: 7000, server: 'up', tool: 'counter' } } });
});

test('a throttled handshake says when, counts for nothing and is tried again by itself', async () => {
  const stage = await surprise(['429']);
  for (let time = 0; time < 5; time++) {
    const result = await stage.call('up_counter');
    if (result.kind !== 'failed') throw new Error('it did not fail');
    expect(result.error.code).toBe('UPSTREAM_THROTTLED');
    expect(result.error.details.retryAfterMs).toBeGreaterThan(0);
    expect(result.error.details.retryAfterMs).toBeLessThanOrEqual(7000);
    const { retryAt = 0 } = stage.status('up');
    stage.clock.advance(7000);
    await eventually(() => ((stage.status('up').retryAt ?? 0) > retryAt ? true : undefined), 'the next attempt');
  }
  expect(stage.status('up')).toMatchObject({ state: 'retrying', attempt: 0 });
});

test('huge: an answer of ten megabytes arrives whole', async () => {
  const stage = await surprise(['huge']);
  expect(await stage.say('up_counter')).toHaveLength(10 * 1024 * 1024);
});

test('a redirect is not followed, at the handshake or at a call', async () => {
  const elsewhere = await openStage();
  const target = await elsewhere.fixture('echo-http.mjs', ['--era', 'legacy'], {
    CALL_LOG: elsewhere.path('calls.log'),
  });
  for (const args of [['redirect'], ['redirect', '--on-call']]) {
    const stage = await surprise([...args, '--to', target.url]);
    const result = await stage.call('up_counter');
    if (result.kind !== 'failed') throw new Error('it did not fail');
    expect(result.error.message).toContain('HTTP 302');
  }
  expect(await elsewhere.lines('calls.log')).toEqual([]);
});

test('needs-login stays the word until somebody asks again, and a login is then found', async () => {
  const stage = await openStage();
  const bad = await stage.fixture('bad-http.mjs', ['401']);
  await stage.start({ servers: { up: { url: bad.url } } });
  await stage.hub.discover();
  expect(stage.status('up').state).toBe('needs-login');
  stage.clock.advance(3_600_000);
  expect(stage.status('up')).toMatchObject({ state: 'needs-login', error: expect.stringContaining('401') });
  await bad.stop();
  await stage.fixture('echo-http.mjs', ['--port', new URL(bad.url).port]);
  await stage.hub.discover();
  expect(stage.status('up')).toMatchObject({ state: 'connected', error: undefined });
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
});

test(
  verifies('upstream:refused-state', 'a refused call moves the word for its server and costs no other call'),
  async () => {
    const stage = await openStage();
    let unlocked = false;
    const slow: Received[] = [];
    const results: Readonly<Record<string, object>> = {
      initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} } },
      'tools/list': { tools: [{ name: 'locked' }, { name: 'slow' }] },
      'tools/call': { content: [{ type: 'text', text: 'here' }] },
    };
    const answer = ({ response, message }: Received): void =>
      sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result: results[String(message.method)] ?? {} });
    const server = await serveHttp((received) => {
      const { response, message, text } = received;
      if (message.method === 'server/discover') sendJsonReply(response, 400, {});
      else if (text.includes('"slow"')) slow.push(received);
      else if (text.includes('"locked"') && !unlocked) sendJsonReply(response, 401, {});
      else answer(received);
    });
    await stage.start({ servers: { up: { url: server.url } } });
    await stage.hub.discover();
    const other = stage.call('up_slow');
    await eventually(() => slow.length > 0, 'the slow call');
    expect(codeOf(await stage.call('up_locked'))).toBe('UPSTREAM_NEEDS_LOGIN');
    expect(stage.status('up')).toMatchObject({ state: 'needs-login', error: expect.stringContaining('401') });
    for (const received of slow) answer(received);
    expect(textOf(await other)).toBe('here');
    expect(stage.status('up').state).toBe('needs-login');
    // A login that works shows with the next call.
    unlocked = true;
    expect(await stage.say('up_locked')).toBe('here');
    expect(stage.status('up')).toMatchObject({ state: 'connected', error: undefined });
    await stage.stop();
  },
);
