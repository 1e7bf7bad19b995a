import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { ConfiguredServerDraft } from '../../governance/policy/configuration.fixture.ts';
import { createRedactor } from '../../vault/index.ts';
import { type CallStage, openCallStage } from '../call-stage.fixture.ts';
import { failureOf, scriptConnection, scriptedResult } from '../scripted-server.fixture.ts';
import type { CallFacts, CallTracer } from './call-tracer.ts';
import { createTracedCalls } from './traced-calls.ts';

const secret = 'correct-horse-battery';

interface EndedCall extends CallFacts {
  readonly at: number;
  readonly method: string;
  readonly meta: string;
}

async function openTracedStage(files: ConfiguredServerDraft = {}): Promise<{ stage: CallStage; ended: EndedCall[] }> {
  const ended: EndedCall[] = [];
  const tracer: CallTracer = {
    begin: (at, method, meta) => ({
      meta: '"traceparent":"ours"',
      headers: ['traceparent', 'ours'],
      end: (facts) => ended.push({ at, method, meta, ...facts }),
    }),
  };
  const traced = createTracedCalls(tracer, createRedactor([secret]));
  return { stage: await openCallStage({}, {}, traced, { files }), ended };
}

test(verifies('telemetry:spans', 'each span ends with the same values as the ledger record'), async () => {
  const { stage, ended } = await openTracedStage();
  stage.files.replies = [
    () => scriptedResult('{"content":[]}'),
    () => scriptedResult('{"isError":true,"content":[{"type":"text","text":"no such file"}]}'),
    () => ({ kind: 'error', id: 1, text: '{}', code: -32000, message: 'bad day' }),
    () => failureOf('UPSTREAM_TIMEOUT', 'gave-up', true, 504),
    // Lost before anything was sent: the same call goes out once more, and ends once.
    () => failureOf('UPSTREAM_LOST', 'connection', false),
    () => scriptedResult('{"content":[]}'),
  ];
  const from = Date.now();
  for (let call = 0; call < 5; call++) await stage.run(stage.call('files_write', { meta: '"a":1' }));
  await stage.run(stage.call('files_nothing'));
  await stage.run(stage.call('files_secret'));
  await stage.run(stage.call('files_ask'));
  const cancelled = stage.call('files_read');
  cancelled.cancel('enough');
  await stage.run(cancelled);

  const lines = await stage.lines();
  expect(ended.map(inLedgerWords)).toEqual(
    lines.map(({ ts: _ts, args: _args, status: _status, duration_ms: _ms, ...line }) => line),
  );
  expect(ended.map(({ retries }) => retries)).toEqual([0, 0, 0, 0, 1, undefined, undefined, undefined, undefined]);
  for (const { at, method, durationMs } of ended) {
    expect(method).toBe('tools/call');
    expect(at).toBeGreaterThan(from - 50);
    expect(at + durationMs).toBeLessThan(Date.now() + 50);
  }
});

test(verifies('telemetry:context', 'the server is ended of the span, in place of what the caller named'), async () => {
  const { stage, ended } = await openTracedStage();
  await stage.run(stage.call('files_read', { meta: '"traceparent":"theirs"' }));
  expect(ended[0]?.meta).toBe('"traceparent":"theirs"');
  expect(stage.files.sent[0]).toMatchObject({ headers: ['traceparent', 'ours'] });
  expect(JSON.parse(`{${stage.files.sent[0]?.meta}}`)).toEqual({
    traceparent: 'ours',
    'quartermaster/call-id': ended[0]?.callId,
  });
});

test('secrets are taken out of names and errors, and long names are cut', async () => {
  const { stage, ended } = await openTracedStage();
  stage.files.replies = [() => ({ kind: 'error', id: 1, text: '{}', code: -32000, message: `not ${secret}` })];
  await stage.run(stage.call('files_read'));
  await stage.run(stage.call(`nobody_${secret}`));
  await stage.run(stage.call('x'.repeat(10_000)));
  expect(ended).toHaveLength(3);
  expect(JSON.stringify(ended)).not.toContain(secret);
  expect(ended[0]?.error).toMatch(/^not /);
  expect(ended[2]?.name).toBe(`${'x'.repeat(500)}…`);
});

test(verifies('telemetry:spans', 'a call that was answered by what was kept says so'), async () => {
  const cache = { ttlMs: 60_000, maxBytes: 100_000, tools: ['read'], resources: true };
  const { stage, ended } = await openTracedStage({ cache });
  for (const _ of [1, 2]) await stage.run(stage.call('files_read'));
  expect(ended.map(({ outcome, cached, connection }) => [outcome, cached, connection?.transport])).toEqual([
    ['ok', false, 'stdio'],
    ['ok', true, undefined],
  ]);
});

test('a defect ends its span, once', async () => {
  const { stage, ended } = await openTracedStage();
  stage.files.connection = {
    ...scriptConnection(stage.files),
    send() {
      throw new TypeError('a defect');
    },
  };
  await expect(stage.run(stage.call('files_read'))).rejects.toThrow('a defect');
  expect(ended.map(({ outcome }) => outcome)).toEqual(['upstream_error']);
});

function inLedgerWords({ connection, ...ended }: EndedCall): object {
  return {
    server: ended.server ?? null,
    tool: ended.tool,
    outcome: ended.outcome,
    error: ended.error ?? null,
    agent: ended.agent,
    call_id: ended.callId,
    run_id: ended.run,
    transport: connection?.transport ?? null,
    protocol_version: connection?.protocolVersion ?? null,
    session_id: connection?.sessionId ?? null,
    http_status: ended.httpStatus ?? null,
    retries: ended.retries ?? null,
    decision: ended.decision,
    rule: ended.rule,
    rule_source: ended.ruleSource,
  };
}
