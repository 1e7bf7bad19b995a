import { expect, test } from 'vitest';
import { readMetrics, seriesValue } from '../../../test/support/prometheus-text.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { type Outcome, type ServerState, type ServerStatus, serverStates } from '../../domain/index.ts';
import type { HubMeter } from '../../hub/index.ts';
import { createMeter } from './call-counters.ts';
import { expositionText } from './exposition.ts';
import { familiesOf, type HubNumbers } from './families.ts';

type Entry = Parameters<HubMeter['ended']>[0];
/** The meter looks at nothing but the server. */
const entryOf = (server: string): Entry => ({ server }) as Entry;

function status(name: string, state: ServerState, tools?: number): ServerStatus {
  return {
    name,
    state,
    tools,
    transport: 'stdio',
    protocolVersion: undefined,
    source: 'quartermaster.yaml',
    hides: [],
    description: undefined,
    error: undefined,
    retryAt: undefined,
    attempt: undefined,
  };
}

const quiet: HubNumbers = {
  servers: [],
  load: [],
  approvals: undefined,
  callsInFlight: 0,
  clientSessions: 0,
  children: 0,
  ledgerGood: true,
  residentBytes: 1,
  startedAtSeconds: 1,
  version: '1.2.3',
  node: '20.0.0',
};

function textOf(servers: readonly ServerStatus[], meter = createMeter(), more: Partial<HubNumbers> = {}): string {
  return expositionText(familiesOf({ ...quiet, servers, ...more }, meter));
}

test('buckets are cumulative, a bound belongs to its bucket, and the last equals the count', () => {
  const meter = createMeter();
  const times = [0, 4.999, 5, 5.001, 10, 60_000, 60_000.001, 600_000];
  for (const ms of times) meter.ended(entryOf('up'), 'ok', ms);
  const text = textOf([status('up', 'connected', 1)], meter);
  const { type, samples } = readMetrics(text).get('quartermaster_call_duration_seconds') ?? { samples: [] };
  expect(type).toBe('histogram');
  const buckets = samples.filter(({ name }) => name.endsWith('_bucket'));
  expect(buckets.map(({ labels, value }) => [labels.le, value])).toEqual([
    ['0.005', 3],
    ['0.01', 5],
    ['0.025', 5],
    ['0.05', 5],
    ['0.1', 5],
    ['0.25', 5],
    ['0.5', 5],
    ['1', 5],
    ['2.5', 5],
    ['5', 5],
    ['10', 5],
    ['30', 5],
    ['60', 6],
    ['+Inf', 8],
  ]);
  expect(seriesValue(text, 'quartermaster_call_duration_seconds_count', { server: 'up' })).toBe(times.length);
  const total = times.reduce((sum, ms) => sum + ms, 0) / 1000;
  expect(seriesValue(text, 'quartermaster_call_duration_seconds_sum', { server: 'up' })).toBeCloseTo(total, 9);
});

test(
  verifies('metrics:each-call-once', 'what needed no server is counted as good, and apart, and has no duration'),
  () => {
    const meter = createMeter();
    meter.ended(entryOf('up'), 'ok', 5);
    for (const _ of [1, 2]) meter.cached(entryOf('up'));
    const text = textOf([status('up', 'connected', 1), status('other', 'connected', 1)], meter);
    expect(seriesValue(text, 'quartermaster_calls_total', { server: 'up', outcome: 'ok' })).toBe(3);
    expect(seriesValue(text, 'quartermaster_cached_calls_total', { server: 'up' })).toBe(2);
    expect(seriesValue(text, 'quartermaster_cached_calls_total', { server: 'other' })).toBe(0);
    expect(seriesValue(text, 'quartermaster_call_duration_seconds_count', { server: 'up' })).toBe(1);
  },
);

test('refused calls have an outcome and no duration', () => {
  const meter = createMeter();
  meter.refused(entryOf('up'), 'rate_limited');
  meter.refused(undefined, 'unknown_tool');
  meter.refused(undefined, 'unavailable');
  const text = textOf([status('up', 'connected', 1)], meter);
  const calls = (server: string, outcome: Outcome) =>
    seriesValue(text, 'quartermaster_calls_total', { server, outcome });
  expect(calls('up', 'rate_limited')).toBe(1);
  expect(calls('', 'unknown_tool')).toBe(1);
  expect(calls('', 'unavailable')).toBe(1);
  expect(seriesValue(text, 'quartermaster_call_duration_seconds_count', { server: 'up' })).toBe(0);
});

test('a server is there with zeros before its first call', () => {
  const text = textOf([status('new', 'idle')]);
  for (const outcome of ['ok', 'tool_error', 'timeout', 'lost', 'denied']) {
    expect(seriesValue(text, 'quartermaster_calls_total', { server: 'new', outcome }), outcome).toBe(0);
  }
  expect(seriesValue(text, 'quartermaster_calls_total', { server: 'new', outcome: 'interrupted' })).toBeUndefined();
  expect(seriesValue(text, 'quartermaster_server_reconnects_total', { server: 'new' })).toBe(0);
});

test.each<readonly [ServerState, number | undefined, number | undefined]>([
  ['connected', 3, 1],
  ['connected', undefined, 1],
  ['idle', 3, 1],
  ['idle', undefined, undefined],
  ['connecting', 3, 0],
  ['retrying', 3, 0],
  ['needs-login', 3, 0],
  ['forbidden', 3, 0],
  ['open-circuit', 3, 0],
  ['quarantined', 3, 0],
  ['invalid', undefined, 0],
  ['untrusted', undefined, 0],
  ['disabled', undefined, undefined],
])('a server that is %s with %s tools is up: %s', (state, tools, up) => {
  const text = textOf([status('a', state, tools)]);
  expect(seriesValue(text, 'quartermaster_server_up', { server: 'a' })).toBe(up);
  const { samples } = readMetrics(text).get('quartermaster_server_state') ?? { samples: [] };
  expect(samples).toHaveLength(serverStates.length);
  expect(samples.filter(({ value }) => value === 1).map(({ labels }) => labels.state)).toEqual([state]);
  const open = seriesValue(text, 'quartermaster_breaker_open', { server: 'a' });
  expect(open === 1).toBe(state === 'open-circuit');
});

test('servers that are gone leave the meter; those that stay keep their numbers', () => {
  const meter = createMeter();
  for (const server of ['stays', 'goes']) meter.ended(entryOf(server), 'ok', 1);
  meter.keep(new Set(['stays']));
  expect([meter.of('stays').outcomes.ok, meter.of('goes').outcomes.ok]).toEqual([1, 0]);
});

test('the first connection is none of the reconnects', () => {
  const meter = createMeter();
  const reconnects = () =>
    seriesValue(textOf([status('a', 'connected')], meter), 'quartermaster_server_reconnects_total', { server: 'a' });
  meter.connected('a');
  expect(reconnects()).toBe(0);
  meter.connected('a');
  expect(reconnects()).toBe(1);
});

test('the state of the hub', () => {
  const text = textOf([], createMeter(), {
    callsInFlight: 2,
    clientSessions: 3,
    children: 4,
    ledgerGood: false,
    residentBytes: 50_000_000,
    startedAtSeconds: 1_700_000_000.5,
  });
  const read = (name: string) => seriesValue(text, `quartermaster_${name}`);
  expect(['calls_in_flight', 'client_sessions', 'children', 'ledger_good'].map(read)).toEqual([2, 3, 4, 0]);
  expect(read('process_resident_memory_bytes')).toBe(50_000_000);
  expect(read('process_start_time_seconds')).toBe(1_700_000_000.5);
  expect(seriesValue(text, 'quartermaster_build_info', { version: '1.2.3', node: '20.0.0' })).toBe(1);
});

test('how busy each server is', () => {
  const load = [
    { name: 'a', connections: 3, inFlight: 5, waiting: 2, queuedBytes: 70_000 },
    { name: 'b', connections: 0, inFlight: 0, waiting: 0, queuedBytes: 0 },
  ];
  const text = textOf([], createMeter(), { load });
  const names = ['connections', 'calls_in_flight', 'calls_waiting', 'queued_bytes'];
  const read = (server: string) => names.map((name) => seriesValue(text, `quartermaster_server_${name}`, { server }));
  expect(read('a')).toEqual([3, 5, 2, 70_000]);
  expect(read('b')).toEqual([0, 0, 0, 0]);
});
