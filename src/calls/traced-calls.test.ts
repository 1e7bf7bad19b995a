import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { ServerDraft } from '../governance/policy/fleet.fixture.ts';
import { createRedactor } from '../vault/index.ts';
import { type CallStage, openCallStage } from './call-stage.fixture.ts';
import type { CallFacts, CallTracer } from './call-tracer.ts';
import { failureOf, resultOf, scriptLink } from './scripted-server.fixture.ts';
import { createTracedCalls } from './traced-calls.ts';

const secret = 'correct-horse-battery';

interface Told extends CallFacts {
  readonly at: number;
  readonly method: string;
  readonly meta: string;
}

async function openTracedStage(files: ServerDraft = {}): Promise<{ stage: CallStage; told: Told[] }> {
  const told: Told[] = [];
  const tracer: CallTracer = {
    begin: (at, method, meta) => ({
      meta: '"traceparent":"ours"',
      headers: ['traceparent', 'ours'],
      end: (facts) => told.push({ at, method, meta, ...facts }),
    }),
  };
  const traced = createTracedCalls(tracer, createRedactor([secret]));
  return { stage: await openCallStage({}, {}, traced, { files }), told };
}

test(verifies('telemetry:spans', 'what a span is told is what the ledger has, call by call'), async () => {
  const { stage, told } = await openTracedStage();
  stage.files.replies = [
    () => resultOf('{"content":[]}'),
    () => resultOf('{"isError":true,"content":[{"type":"text","text":"no such file"}]}'),
    () => ({ kind: 'error', id: 1, text: '{}', code: -32000, message: 'bad day' }),
    () => failureOf('UPSTREAM_TIMEOUT', 'gave-up', true, 504),
    // Lost before anything was sent: the same call goes out once more, and ends once.
    () => failureOf('UPSTREAM_LOST', 'connection', false),
    () => resultOf('{"content":[]}'),
  ];
  const from = Date.now();
  for (let call = 0; call < 5; call++) await stage.run(stage.call('files_write', { meta: '"a":1' }));
  await stage.run(stage.call('files_nothing'));
  await stage.run(stage.call('files_ask'));
  const cancelled = stage.call('files_read');
  cancelled.cancel('enough');
  await stage.run(cancelled);

  const lines = await stage.lines();
  expect(told.map(inLedgerWords)).toEqual(
    lines.map(({ ts: _ts, args: _args, status: _status, duration_ms: _ms, ...line }) => line),
  );
  expect(told.map(({ retries }) => retries)).toEqual([0, 0, 0, 0, 1, undefined, undefined, undefined]);
  for (const { at, method, durationMs } of told) {
    expect(method).toBe('tools/call');
    expect(at).toBeGreaterThan(from - 50);
    expect(at + durationMs).toBeLessThan(Date.now() + 50);
  }
});

test(verifies('telemetry:context', 'the server is told of the span, in place of what the caller named'), async () => {
  const { stage, told } = await openTracedStage();
  await stage.run(stage.call('files_read', { meta: '"traceparent":"theirs"' }));
  expect(told[0]?.meta).toBe('"traceparent":"theirs"');
  expect(stage.files.sent[0]).toMatchObject({ headers: ['traceparent', 'ours'] });
  expect(JSON.parse(`{${stage.files.sent[0]?.meta}}`)).toEqual({
    traceparent: 'ours',
    'quartermaster/call-id': told[0]?.callId,
  });
});

test('secrets are taken out of names and errors, and long names are cut', async () => {
  const { stage, told } = await openTracedStage();
  stage.files.replies = [() => ({ kind: 'error', id: 1, text: '{}', code: -32000, message: `not ${secret}` })];
  await stage.run(stage.call('files_read'));
  await stage.run(stage.call(`nobody_${secret}`));
  await stage.run(stage.call('x'.repeat(10_000)));
  expect(told).toHaveLength(3);
  expect(JSON.stringify(told)).not.toContain(secret);
  expect(told[0]?.error).toMatch(/^not /);
  expect(told[2]?.name).toBe(`${'x'.repeat(500)}…`);
});

test(verifies('telemetry:spans', 'a call that was answered by what was kept says so'), async () => {
  const cache = { ttlMs: 60_000, maxBytes: 100_000, tools: ['read'], resources: true };
  const { stage, told } = await openTracedStage({ cache });
  for (const _ of [1, 2]) await stage.run(stage.call('files_read'));
  expect(told.map(({ outcome, cached, connection }) => [outcome, cached, connection?.transport])).toEqual([
    ['ok', false, 'stdio'],
    ['ok', true, undefined],
  ]);
});

test('a defect ends its span, once', async () => {
  const { stage, told } = await openTracedStage();
  stage.files.link = {
    ...scriptLink(stage.files),
    send() {
      throw new TypeError('a defect');
    },
  };
  await expect(stage.run(stage.call('files_read'))).rejects.toThrow('a defect');
  expect(told.map(({ outcome }) => outcome)).toEqual(['upstream_error']);
});

function inLedgerWords({ connection, ...told }: Told): object {
  return {
    server: told.server ?? null,
    tool: told.tool,
    outcome: told.outcome,
    error: told.error ?? null,
    agent: told.agent,
    call_id: told.callId,
    run_id: told.run,
    transport: connection?.transport ?? null,
    protocol_version: connection?.protocolVersion ?? null,
    session_id: connection?.sessionId ?? null,
    http_status: told.httpStatus ?? null,
    retries: told.retries ?? null,
    decision: told.decision,
  };
}
