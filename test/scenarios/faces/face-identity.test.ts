import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HttpFixture, startHttpFixture } from '../../support/fixture-servers.ts';
import { echoServer, gatewayForTest, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { initializeRequest, legacyClient, modernClient, namesOf, textOf } from '../../support/mcp-clients.ts';
import { ask } from '../../support/mcp-http.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

/** Who may come in, and what goes on from there. */
let upstream: HttpFixture;
let hub: RunningGateway;

beforeAll(async () => {
  upstream = await startHttpFixture('echo-http.mjs', ['--era', 'both', '--sessions']);
  const remote = { url: upstream.url, headers: { 'X-Team': 'blue' } };
  const keyed = { url: upstream.url, headers: { Authorization: 'Bearer upstream-key' } };
  hub = await startGateway({ servers: { echo: echoServer, remote, keyed } });
});

afterAll(async () => {
  await hub?.stop();
  await upstream?.stop();
});

describe('without a valid token', () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  test(verifies('token:required', 'nothing is listed or called'), async () => {
    const alone = await gatewayForTest();
    const revoked = await alone.tokens.issue({ agent: 'tester' });
    await alone.tokens.revoke(revoked.id);
    const expired = await alone.token('tester', { ttlMs: 1 });
    const good = await alone.token();
    const bad: Record<string, string | undefined> = {
      none: undefined,
      empty: '',
      'no scheme': good,
      'another scheme': `Basic ${good}`,
      'nothing after the scheme': 'Bearer ',
      unknown: `Bearer ${good.slice(0, -1)}${good.endsWith('a') ? 'b' : 'a'}`,
      garbled: 'Bearer \u00ff\u00fe',
      'two tokens': `Bearer ${good} ${good}`,
      'a very long one': `Bearer ${'x'.repeat(8000)}`,
      expired: `Bearer ${expired}`,
      revoked: `Bearer ${revoked.token}`,
    };
    await eventually(() => alone.tokens.list().some(({ state }) => state === 'expired') || undefined, 'the expiry');
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } };
    for (const [name, authorization] of Object.entries(bad)) {
      for (const body of [initializeRequest(), list, call, '{', undefined]) {
        const answer = await ask(alone.url, { headers: { authorization }, ...(body === undefined ? {} : { body }) });
        expect([answer.status, answer.message.error?.code], name).toEqual([401, -31001]);
        expect(answer.headers['www-authenticate'], name).toMatch(/^Bearer /);
        expect(answer.text, name).not.toContain(good);
      }
    }
    expect(alone.gateway.clientSessions).toBe(0);
    const answer = await ask(alone.url, { headers: { authorization: `bearer   ${good}` }, body: initializeRequest() });
    expect(answer.status).toBe(200);
  });

  test('a session that is open changes nothing', async () => {
    const client = await legacyClient(hub.url, await hub.token());
    const answer = await client.request('tools/list', {}, { headers: { authorization: undefined } });
    expect(answer.status).toBe(401);
  });
});

test('revocation ends open streams at once, and the sessions behind them', async () => {
  const alone = await gatewayForTest();
  const [mine, other] = [await alone.tokens.issue({ agent: 'tester' }), await alone.tokens.issue({ agent: 'tester' })];
  const child = await alone.tokens.issue({ agent: 'helper', parent: mine.id });
  const open = async (token: string) => {
    const legacy = await legacyClient(alone.url, token);
    const listen = { notifications: { toolsListChanged: true } };
    return {
      legacy,
      get: await legacy.listen(),
      sub: await modernClient(alone.url, token).stream('subscriptions/listen', listen),
    };
  };
  const [gone, stays, below] = [await open(mine.token), await open(other.token), await open(child.token)];
  expect(alone.gateway.clientSessions).toBe(3);
  await alone.tokens.revoke(mine.id);
  await within(Promise.all([gone.get.ended, gone.sub.ended, below.get.ended, below.sub.ended]), 'four streams to end');
  expect(alone.gateway.clientSessions).toBe(1);
  expect((await gone.legacy.request('ping')).status).toBe(401);
  expect((await stays.legacy.request('ping')).status).toBe(200);
  stays.get.close();
  stays.sub.close();
});

test(verifies('token:ends', 'calls in flight and streams end when their token is revoked'), async () => {
  const alone = await gatewayForTest();
  const { token, id } = await alone.tokens.issue({ agent: 'tester' });
  const client = await legacyClient(alone.url, token);
  const running = client.call('echo_slow', { ms: 60_000 });
  await eventually(() => alone.hub.callsInFlight === 1 || undefined, 'the call to begin');
  await alone.tokens.revoke(id);
  expect((await running).message.error?.data?.code).toBe('CANCELLED');
  expect((await alone.calls(1))[0]).toMatchObject({ outcome: 'cancelled' });
  expect((await client.call('echo')).status).toBe(401);
});

test(verifies('token:ends', 'and at the moment when it expires, with those delegated from it'), async () => {
  const clock = createMovingClock();
  const alone = await gatewayForTest({}, { clock });
  const parent = await alone.tokens.issue({ agent: 'tester', ttlMs: 20_000 });
  const child = await alone.tokens.issue({ agent: 'helper', parent: parent.id });
  const other = await legacyClient(alone.url, await alone.token());
  const open = async (token: string) => {
    const legacy = await legacyClient(alone.url, token);
    const stream = await legacy.listen();
    const modern = await modernClient(alone.url, token).stream('subscriptions/listen', {
      notifications: { toolsListChanged: true },
    });
    return { streams: [stream, modern], call: legacy.call('echo_slow', { ms: 60_000 }) };
  };
  const [mine, below] = [await open(parent.token), await open(child.token)];
  await eventually(() => alone.hub.callsInFlight === 2 || undefined, 'both calls to begin');
  // Nobody asks for anything meanwhile: the hub itself has to notice.
  clock.advance(20_001);
  for (const { streams, call } of [mine, below]) {
    await within(Promise.all(streams.map(({ ended }) => ended)), 'the streams to end');
    expect((await within(call, 'the call to end')).message.error?.data?.code).toBe('CANCELLED');
  }
  expect((await alone.calls(2)).map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled']);
  expect((await other.request('ping')).status).toBe(200);
  expect(alone.gateway.clientSessions).toBe(1);
});

test(verifies('token:stays-here', "the agent's token reaches no server, in no header and no message"), async () => {
  const token = await hub.token();
  const client = await legacyClient(hub.url, token);
  const modern = modernClient(hub.url, token);
  const headers = { 'x-quartermaster-run': 'run-7', cookie: 'a=b', 'x-forwarded-for': '10.0.0.1' };
  for (const name of ['echo_meta', 'remote_meta', 'keyed_meta']) {
    for (const answer of [await client.call(name, {}, { headers }), await modern.call(name, {}, { headers })]) {
      const text = textOf(answer.message) ?? '';
      expect(text, name).not.toContain(token);
      expect(text, name).not.toContain(token.slice(-16));
      const seen = JSON.parse(text) as { headers?: string[]; authorization?: string }; // the fixture's answer
      if (name !== 'echo_meta') {
        expect(seen.headers).not.toContain('cookie');
        expect(seen.headers).not.toContain('x-forwarded-for');
        expect(seen.headers).not.toContain('x-quartermaster-run');
        expect(seen.headers?.includes('x-team')).toBe(name === 'remote_meta');
        expect(seen.authorization).toBe(name === 'keyed_meta' ? 'Bearer upstream-key' : '');
      }
    }
  }
});

describe('the run', () => {
  test(
    verifies('run:id', 'comes from the token, else from the header, else from the hub, and is checked'),
    async () => {
      const alone = await gatewayForTest();
      const own = await legacyClient(alone.url, await alone.token('tester', { run: 'token-run' }));
      const plain = await legacyClient(alone.url, await alone.token());
      await own.call('echo', { message: '1' });
      await own.call('echo', { message: '2' }, { headers: { 'x-quartermaster-run': 'header-run' } });
      await plain.call('echo', { message: '3' });
      await plain.call('echo', { message: '4' });
      await plain.call('echo', { message: '5' }, { headers: { 'x-quartermaster-run': 'header-run' } });
      const modern = modernClient(alone.url, await alone.token('tester', { run: 'token-run' }));
      await modern.call('echo', { message: '6' }, { headers: { 'x-quartermaster-run': 'header-run' } });
      const calls = await alone.calls(6);
      const runs = calls.toSorted((a, b) => (JSON.stringify(a.args) < JSON.stringify(b.args) ? -1 : 1));
      expect(runs.slice(0, 2).map(({ run_id }) => run_id)).toEqual(['token-run', 'token-run']);
      expect(runs.slice(4).map(({ run_id }) => run_id)).toEqual(['header-run', 'token-run']);
      expect(runs[2]?.run_id).toMatch(/^tester-[0-9a-z]{8}$/);
      expect(runs[3]?.run_id).toBe(runs[2]?.run_id);
      for (const bad of ['', 'a/b', '../x', 'x'.repeat(65), 'a b', 'a, b']) {
        const answer = await plain.call('echo', {}, { headers: { 'x-quartermaster-run': bad } });
        expect([answer.status, answer.message.error?.code], bad).toEqual([400, -32600]);
      }
      expect(await alone.calls(6)).toHaveLength(6);
    },
  );
});

test(
  verifies('token:intersection', 'a child token sees and calls what both agents may, and nothing more'),
  async () => {
    const alone = await gatewayForTest({
      servers: { a: echoServer, b: echoServer, c: echoServer },
      agents: {
        lead: { servers: ['a', 'b'], tools: { b: { include: ['add', 'echo'] } } },
        helper: { servers: ['b', 'c'], tools: { b: { exclude: ['echo'] } } },
      },
    });
    const lead = await alone.tokens.issue({ agent: 'lead' });
    const child = await alone.token('helper', { parent: lead.id });
    const client = modernClient(alone.url, child);
    expect(namesOf((await client.request('tools/list')).message)).toEqual(['b_add']);
    expect(textOf((await client.call('b_add', { a: 1, b: 1 })).message)).toBe('2');
    const hidden = await client.call('c_add', { a: 1, b: 1 });
    const unknown = await client.call('d_add', { a: 1, b: 1 });
    expect(hidden.message.error?.code).toBe(-32602);
    expect(hidden.text.replaceAll('c_add', 'd_add')).toBe(unknown.text.replace('"id":4', '"id":3'));
    const [first] = await alone.calls(3);
    expect(first).toMatchObject({ agent: 'helper', chain: ['helper', 'lead'] });
  },
);
