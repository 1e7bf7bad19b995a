import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { version } from '../../../src/base/index.ts';
import { echoServer, gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { stdioServer } from '../../support/hub.ts';
import { legacyClient, modernClient } from '../../support/mcp-clients.ts';
import { type Answer, ask } from '../../support/mcp-http.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { readMetrics, seriesValue } from '../../support/prometheus-text.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';

const adminToken = 'the-operator';

function get(origin: string, authorization: string | undefined, method = 'GET'): Promise<Answer> {
  return ask(`${origin}/metrics`, { method, headers: { authorization } });
}

async function scrape({ origin }: RunningGateway): Promise<string> {
  const { status, text } = await get(origin, `Bearer ${adminToken}`);
  expect(status).toBe(200);
  return text;
}

/** Series of calls that are not zero, as "server outcome". */
function callsIn(text: string): Record<string, number> {
  const { samples } = readMetrics(text).get('quartermaster_calls_total') ?? { samples: [] };
  return Object.fromEntries(
    samples.flatMap(({ labels, value }) => (value === 0 ? [] : [[`${labels.server} ${labels.outcome}`, value]])),
  );
}

test(verifies('metrics:each-call-once', 'calls of every kind are counted as the ledger has them'), async () => {
  const gateway = await gatewayForTest(
    {
      servers: {
        up: echoServer,
        limited: { ...echoServer, limits: { rate_per_min: 1 } },
        hangs: stdioServer('bad.mjs', ['hang-on-call'], { limits: { timeout_s: 0.2 } }),
        dies: stdioServer('bad.mjs', ['closes-mid-call']),
        off: { ...echoServer, enabled: false },
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
        broken: { command: '${NOT_SET_ANYWHERE}' },
      },
      policies: { tools: { 'up.counter': 'require-approval' } },
      approvals: { wait: '0s' },
    },
    { adminToken },
  );
  const legacy = await legacyClient(gateway.url, await gateway.token('agent-zeno'));
  const modern = modernClient(gateway.url, await gateway.token('agent-yara'));
  for (const client of [legacy, modern]) {
    for (const tool of ['up_echo', 'up_fail', 'up_counter', 'limited_echo', 'hangs_echo', 'nobody_has_this']) {
      await client.call(tool, { message: 'hi' });
    }
  }
  await legacy.call('dies_echo', { message: 'hi' });
  const ended = await gateway.calls(13);

  const text = await scrape(gateway);
  expect(callsIn(text)).toEqual({
    'up ok': 2,
    'up tool_error': 2,
    'up pending': 2,
    'limited ok': 1,
    'limited rate_limited': 1,
    'hangs timeout': 2,
    'dies lost': 1,
    ' unknown_tool': 2,
  });
  expect(callsIn(text)).toEqual(countOf(ended.map(({ server, outcome }) => `${server ?? ''} ${outcome}`)));

  const durations = (server: string, suffix: string, labels: object = {}): number | undefined =>
    seriesValue(text, `quartermaster_call_duration_seconds_${suffix}`, { server, ...labels });
  // What was refused took no time of the server.
  expect(['up', 'limited', 'hangs', 'dies'].map((server) => durations(server, 'count'))).toEqual([4, 1, 2, 1]);
  expect(durations('hangs', 'bucket', { le: '0.1' })).toBe(0);
  expect(durations('hangs', 'bucket', { le: '+Inf' })).toBe(2);
  const ofHangs = ended.filter(({ server }) => server === 'hangs').map(({ duration_ms: ms }) => ms ?? Number.NaN);
  expect(durations('hangs', 'sum')).toBeCloseTo(ofHangs.reduce((sum, ms) => sum + ms, 0) / 1000, 4);

  const stateOf = (server: string): unknown[] => {
    const { samples } = readMetrics(text).get('quartermaster_server_state') ?? { samples: [] };
    return samples
      .filter(({ labels, value }) => labels.server === server && value === 1)
      .map(({ labels }) => labels.state);
  };
  const up = (server: string): number | undefined => seriesValue(text, 'quartermaster_server_up', { server });
  expect([stateOf('up'), up('up')]).toEqual([['connected'], 1]);
  expect([stateOf('off'), up('off')]).toEqual([['disabled'], undefined]);
  expect([stateOf('broken'), up('broken')]).toEqual([['invalid'], 0]);
  expect(text).not.toMatch(/zeno|yara|echo/);
});

test('what the hub is doing right now', async () => {
  const gateway = await gatewayForTest({}, { adminToken });
  const client = await legacyClient(gateway.url, await gateway.token());
  const slow = client.call('echo_slow', { ms: 1500 });
  const busy = await eventually(async () => {
    const text = await scrape(gateway);
    return seriesValue(text, 'quartermaster_calls_in_flight') === 1 ? text : undefined;
  }, 'the call to be in flight');
  const read = (name: string): number | undefined => seriesValue(busy, `quartermaster_${name}`);
  expect([read('client_sessions'), read('children'), read('ledger_good')]).toEqual([1, 1, 1]);
  expect(read('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  const started = Date.now() / 1000 - process.uptime();
  expect(Math.abs((read('process_start_time_seconds') ?? 0) - started)).toBeLessThan(60);
  expect(seriesValue(busy, 'quartermaster_build_info', { version, node: process.versions.node })).toBe(1);
  await slow;
  expect(seriesValue(await scrape(gateway), 'quartermaster_calls_in_flight')).toBe(0);
  await client.remove();
  expect(seriesValue(await scrape(gateway), 'quartermaster_client_sessions')).toBe(0);
});

test(verifies('metrics:reload', 'a reload forgets who went and keeps the numbers of who stayed'), async () => {
  const gateway = await gatewayForTest({ servers: { stays: echoServer, goes: echoServer } }, { adminToken });
  const client = modernClient(gateway.url, await gateway.token());
  for (const tool of ['stays_echo', 'goes_echo']) await client.call(tool, { message: 'hi' });
  expect(callsIn(await scrape(gateway))).toEqual({ 'stays ok': 1, 'goes ok': 1 });

  // Even where the server is another process from now on.
  await gateway.configure({ servers: { stays: { ...echoServer, env: { FLAVOUR: 'other' } } } });
  await gateway.hub.reload();
  await client.call('stays_echo', { message: 'hi' });
  const after = await scrape(gateway);
  expect(callsIn(after)).toEqual({ 'stays ok': 2 });
  expect(seriesValue(after, 'quartermaster_server_reconnects_total', { server: 'stays' })).toBe(1);
  expect(after).not.toContain('goes');

  await gateway.configure({ servers: { stays: echoServer, goes: echoServer } });
  await gateway.hub.reload();
  expect(seriesValue(await scrape(gateway), 'quartermaster_calls_total', { server: 'goes', outcome: 'ok' })).toBe(0);
});

test('a server that dies and comes back is counted; one that never comes opens its breaker', async () => {
  const clock = createMovingClock();
  const gateway = await gatewayForTest(
    { servers: { dies: stdioServer('bad.mjs', ['closes-mid-call']), gone: { command: '/nowhere/at/all' } } },
    { adminToken, clock },
  );
  const client = await legacyClient(gateway.url, await gateway.token());
  expect(seriesValue(await scrape(gateway), 'quartermaster_server_reconnects_total', { server: 'dies' })).toBe(0);
  await client.call('dies_echo', { message: 'hi' });
  await eventually(async () => {
    clock.advance(1000);
    const reconnects = seriesValue(await scrape(gateway), 'quartermaster_server_reconnects_total', { server: 'dies' });
    return reconnects === 1 || undefined;
  }, 'the new connection to be counted');
  const text = await eventually(async () => {
    clock.advance(5000);
    const now = await scrape(gateway);
    return seriesValue(now, 'quartermaster_breaker_open', { server: 'gone' }) === 1 ? now : undefined;
  }, 'the breaker to open');
  expect(seriesValue(text, 'quartermaster_server_up', { server: 'gone' })).toBe(0);
  expect(seriesValue(text, 'quartermaster_server_state', { server: 'gone', state: 'open-circuit' })).toBe(1);
  expect(seriesValue(text, 'quartermaster_breaker_open', { server: 'dies' })).toBe(0);
});

test(verifies('metrics:admin', 'nothing but the admin token opens the metrics'), async () => {
  const gateway = await gatewayForTest({ servers: {} }, { adminToken });
  const agent = await gateway.token();
  const wrong = [
    undefined,
    '',
    adminToken,
    'Bearer',
    `Bearer ${agent}`,
    `Bearer ${adminToken}x`,
    `Basic ${adminToken}`,
  ];
  for (const authorization of wrong) {
    const { status, headers, text } = await get(gateway.origin, authorization);
    expect([status, headers['www-authenticate']], authorization).toEqual([401, 'Bearer realm="quartermaster"']);
    expect(text).toMatch(/^Metrics need the admin token\. .*`qm state path` prints its folder\.\n$/);
    for (const method of ['HEAD', 'OPTIONS', 'POST']) {
      const other = await get(gateway.origin, authorization, method);
      expect([other.status, other.headers['content-length']], method).toEqual([401, String(text.length)]);
    }
  }
  const good = await get(gateway.origin, `Bearer ${adminToken}`);
  expect([good.status, good.headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const head = await get(gateway.origin, `bearer ${adminToken}`, 'HEAD');
  expect([head.status, head.text]).toEqual([200, '']);
  const post = await get(gateway.origin, `Bearer ${adminToken}`, 'POST');
  expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  expect((await get(gateway.origin, undefined, 'POST')).status).toBe(401);
});

test('qm serve opens them with its admin token', async () => {
  const workspace = await makeWorkspace({ servers: { up: echoServer } });
  const hub = await serveQm(workspace);
  const issued = await runQm(['token', 'issue', '--agent', 'tester', '--json', '--workspace', workspace]);
  const { token } = JSON.parse(issued.stdout) as { token: string };
  await (await legacyClient(`${hub.url}/mcp`, token)).call('up_echo', { message: 'hi' });
  const admin = (await readFile(join(layoutOf(workspace).folder, 'admin-token'), 'utf8')).trim();
  const { status, text } = await get(hub.url, `Bearer ${admin}`);
  expect([status, callsIn(text)]).toEqual([200, { 'up ok': 1 }]);
  expect(seriesValue(text, 'quartermaster_client_sessions')).toBe(1);
  expect((await get(hub.url, `Bearer ${token}`)).status).toBe(401);
});

function countOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
