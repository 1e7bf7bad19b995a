import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { type CallLine, summarizeCalls } from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';

let workspace: string;

beforeEach(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'qm-summarize-')));
});

afterEach(() => rm(workspace, { recursive: true }));

test('a workspace without a ledger has statistics of nothing', async () => {
  expect(await summarizeCalls(placesIn(workspace))).toEqual({
    total_calls: 0,
    total_errors: 0,
    calls_by_server: {},
    error_rate: 0,
    errors_by_server: {},
    cached_calls: 0,
    cached_by_server: {},
    calls_without_server: 0,
    calls_by_agent: {},
    outcomes: {},
    latency_by_tool: {},
    rate_limit_hits: 0,
    rate_limit_hits_by_server: {},
    suspicious_calls: 0,
    suspicious_paths: [],
    privileged_operations: {},
    first_ts: null,
    last_ts: null,
    runs: 0,
    probes: 0,
    unreadable_lines: 0,
    unreadable_files: [],
  });
});

test('calls of all runs are counted, or those of one', async () => {
  add('one', { n: 1, duration_ms: 4 }, { n: 2, duration_ms: 8 }, { n: 3, tool: 'write_file', outcome: 'denied' });
  add(
    'two',
    { n: 4, server: 'memory', outcome: 'throttled', agent: 'b' },
    { n: 5, server: null, outcome: 'unknown_tool' },
  );
  const all = await summarizeCalls(placesIn(workspace));
  expect(all).toMatchObject({
    total_calls: 5,
    total_errors: 3,
    error_rate: 0.6,
    calls_by_server: { files: 3, memory: 1 },
    errors_by_server: { files: 1, memory: 1 },
    calls_without_server: 1,
    calls_by_agent: { a: 4, b: 1 },
    outcomes: { ok: 2, denied: 1, throttled: 1, unknown_tool: 1 },
    rate_limit_hits: 1,
    rate_limit_hits_by_server: { memory: 1 },
    privileged_operations: { 'files.write_file': 1 },
    first_ts: '2026-11-01T00:00:00.001Z',
    last_ts: '2026-11-01T00:00:00.005Z',
    runs: 2,
  });
  expect(all.latency_by_tool).toEqual({
    'files.read_file': { count: 2, mean: 6, p50: 4, p95: 8, p99: 8, max: 8 },
  });
  expect(await summarizeCalls(placesIn(workspace), { run: 'two' })).toMatchObject({
    total_calls: 2,
    error_rate: 1,
    runs: 1,
  });
  expect(await summarizeCalls(placesIn(workspace), { run: 'none' })).toMatchObject({ total_calls: 0, runs: 0 });
  await expect(summarizeCalls(placesIn(workspace), { run: '../one' })).rejects.toMatchObject({ code: 'USAGE' });
});

test('probes of the operator are counted apart, and an agent of that name is not mistaken for one', async () => {
  const probe = { agent: 'operator', args: { transports: ['stdio'], tools: ['a'] } };
  add('doctor-1', { n: 1, ...probe, tool: 'doctor' }, { n: 2, ...probe, tool: 'inspect', outcome: 'unavailable' });
  add('two', { n: 3, ...probe, args: '{"transports":["http"],"tools":["…', tool: 'doctor' });
  expect(await summarizeCalls(placesIn(workspace))).toMatchObject({
    total_calls: 0,
    total_errors: 0,
    calls_by_server: {},
    latency_by_tool: {},
    runs: 0,
    probes: 3,
  });
  add('two', { n: 4, agent: 'operator', tool: 'doctor', args: {} }, { n: 5, agent: 'operator', tool: 'read_file' });
  expect(await summarizeCalls(placesIn(workspace))).toMatchObject({ total_calls: 2, runs: 1, probes: 3 });
});

test(verifies('cache:ledger', 'calls that needed no server are counted, and nobody was faster for it'), async () => {
  add('one', { n: 1, duration_ms: 4 }, { n: 2, duration_ms: 0.1, cached: true, transport: null });
  expect(await summarizeCalls(placesIn(workspace))).toMatchObject({
    total_calls: 2,
    outcomes: { ok: 2 },
    cached_calls: 1,
    cached_by_server: { files: 1 },
    latency_by_tool: { 'files.read_file': { count: 1, p50: 4 } },
  });
});

test('the rate of errors has three decimals', async () => {
  add('one', ...Array.from({ length: 45 }, (_, n) => ({ n, outcome: n < 2 ? 'tool_error' : 'ok' })));
  expect((await summarizeCalls(placesIn(workspace))).error_rate).toBe(0.044);
});

test('torn and foreign lines are counted and harm nothing', async () => {
  add('one', { n: 1 });
  appendFileSync(path('one'), '\n{"ts":"2024-01-15T10:30:00Z","server":"old","tool":"x"}\nnot json\n[]\nnull\n');
  add('one', { n: 2 });
  appendFileSync(path('one'), '{"ts":"torn');
  mkdirSync(path('two'), { recursive: true });
  mkdirSync(join(workspace, '.runs/agents/empty'));
  expect(await summarizeCalls(placesIn(workspace))).toMatchObject({
    total_calls: 2,
    runs: 1,
    unreadable_lines: 5,
    unreadable_files: ['.runs/agents/two/mcp_calls.jsonl'],
  });
});

test('suspicious paths name call and place; the workspace by any of its names is none', async () => {
  const link = `${workspace}-link`;
  symlinkSync(workspace, link);
  try {
    add(
      'one',
      { n: 1, args: { path: '../x' } },
      { n: 2, args: { path: join(workspace, 'a') } },
      { n: 3, args: { paths: [join(link, 'a'), '~/b'] } },
    );
    const { suspicious_calls, suspicious_paths } = await summarizeCalls(placesIn(link));
    expect(suspicious_calls).toBe(2);
    expect(suspicious_paths).toEqual([
      {
        call_id: 'boot-1',
        run_id: 'one',
        agent: 'a',
        tool: 'files.read_file',
        at: '.args.path',
        value: '../x',
        why: 'parent',
      },
      {
        call_id: 'boot-3',
        run_id: 'one',
        agent: 'a',
        tool: 'files.read_file',
        at: '.args.paths[1]',
        value: '~/b',
        why: 'home',
      },
    ]);
  } finally {
    await rm(link);
  }
});

test('what callers make up is bounded: names, suspicious calls', async () => {
  const many = Array.from({ length: 3000 }, (_, n) => ({ n, tool: `write_${n}`, agent: `agent-${n}`, args: '/etc' }));
  add('one', ...many);
  const stats = await summarizeCalls(placesIn(workspace));
  expect(stats).toMatchObject({ total_calls: 3000, suspicious_calls: 3000 });
  expect(stats.suspicious_paths).toHaveLength(100);
  expect(Object.keys(stats.privileged_operations)).toHaveLength(1000);
  expect(Object.keys(stats.latency_by_tool)).toHaveLength(1000);
  expect(Object.keys(stats.calls_by_agent)).toHaveLength(1000);
});

test('what is no tool is timed by its method and writes nothing, whatever it is called', async () => {
  const many = Array.from({ length: 20 }, (_, n) => ({
    n,
    tool: `resource:memo://write/${n}`,
    method: 'resources/read',
  }));
  add('one', ...many, { n: 21, tool: 'prompt:delete_all', method: 'prompts/get' });
  const { latency_by_tool, privileged_operations } = await summarizeCalls(placesIn(workspace));
  expect(Object.entries(latency_by_tool).map(([name, { count }]) => [name, count])).toEqual([
    ['files.resources/read', 20],
    ['files.prompts/get', 1],
  ]);
  expect(privileged_operations).toEqual({});
});

test('names that mean something to JavaScript are names like others', async () => {
  add('one', { n: 1, server: '__proto__', tool: 'constructor' }, { n: 2, server: 'toString', outcome: 'denied' });
  const { calls_by_server, errors_by_server, latency_by_tool } = await summarizeCalls(placesIn(workspace));
  expect(JSON.stringify({ calls_by_server, errors_by_server })).toBe(
    '{"calls_by_server":{"__proto__":1,"toString":1},"errors_by_server":{"toString":1}}',
  );
  expect(Object.keys(latency_by_tool)).toEqual(['__proto__.constructor']);
});

interface Call extends Partial<CallLine> {
  readonly n: number;
}

function add(run: string, ...calls: Call[]): void {
  mkdirSync(dirname(path(run)), { recursive: true });
  appendFileSync(path(run), calls.map((call) => `${JSON.stringify(lineOf(run, call))}\n`).join(''));
}

function lineOf(run: string, { n, ...call }: Call): CallLine {
  const outcome = call.outcome ?? 'ok';
  return {
    ts: new Date(Date.UTC(2026, 10, 1) + n).toISOString(),
    server: 'files',
    tool: 'read_file',
    args: {},
    status: outcome === 'ok' ? 'ok' : 'error',
    outcome,
    duration_ms: 1,
    error: outcome === 'ok' ? null : 'no',
    agent: 'a',
    call_id: `boot-${n}`,
    run_id: run,
    transport: outcome === 'ok' ? 'stdio' : null,
    protocol_version: null,
    session_id: null,
    http_status: null,
    retries: null,
    decision: 'allow',
    ...call,
  };
}

function path(run: string): string {
  return join(workspace, '.runs/agents', run, 'mcp_calls.jsonl');
}
