import { afterEach, expect, test, vi } from 'vitest';
import { startTraceReceiver } from '../../../test/support/trace-receiver.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { createSystemClock, type LogFields, version } from '../../base/index.ts';
import type { CallFacts } from '../../calls/index.ts';
import { openTracing } from './index.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${parentId}-01`;
const at = Date.UTC(2026, 10, 16, 12);

const facts: CallFacts = {
  callId: 'boot-1',
  run: 'run-1',
  agent: 'scout',
  name: 'files_read',
  server: 'files',
  tool: 'read',
  decision: 'allow',
  rule: null,
  ruleSource: null,
  outcome: 'ok',
  durationMs: 12.5,
  error: undefined,
  connection: { transport: 'http', protocolVersion: '2025-11-25', sessionId: 'session-1' },
  httpStatus: undefined,
  retries: 0,
  cached: false,
};

afterEach(() => {
  vi.unstubAllEnvs();
});

test(verifies('telemetry:spans', 'a call is a span with its facts, in the trace that the caller named'), async () => {
  const receiver = await startTraceReceiver();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  const { tracing } = open();
  const span = tracing.tracer.begin(at, 'tools/call', `"a":1,"traceparent":"${traceparent}","tracestate":"vendor=x"`);
  span.end(facts);
  await tracing.close();

  const [received] = await receiver.spans(1);
  expect(received).toMatchObject({
    name: 'tools/call files_read',
    kind: 'SPAN_KIND_SERVER',
    traceId,
    parentSpanId: parentId,
    startTimeUnixNano: `${at}000000`,
    endTimeUnixNano: `${at + 12}500000`,
    resource: { 'service.name': 'quartermaster', 'service.version': version },
  });
  expect(received?.attributes).toEqual({
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'files_read',
    'mcp.transport': 'http',
    'mcp.protocol_version': '2025-11-25',
    'mcp.session_id': 'session-1',
    'mcp.retries': 0,
    'quartermaster.agent': 'scout',
    'quartermaster.server': 'files',
    'quartermaster.tool': 'read',
    'quartermaster.decision': 'allow',
    'quartermaster.call_id': 'boot-1',
    'quartermaster.run': 'run-1',
    'quartermaster.outcome': 'ok',
  });
  expect(received?.status?.code).toBe('STATUS_CODE_UNSET');
  const own = `00-${traceId}-${received?.spanId}-01`;
  expect(JSON.parse(`{${span.meta}}`)).toEqual({ a: 1, traceparent: own, tracestate: 'vendor=x' });
  expect(span.headers).toEqual(['traceparent', own, 'tracestate', 'vendor=x']);
});

test('a failed call has the status error; a name that nobody has names no span', async () => {
  const receiver = await startTraceReceiver();
  vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', new URL('/v1/traces', receiver.url).href);
  const { tracing } = open();
  const failed = { ...facts, outcome: 'timeout', error: 'x'.repeat(5000), httpStatus: 504 } as const;
  tracing.tracer.begin(at, 'tools/call', '').end(failed);
  const unknown = { ...facts, server: undefined, outcome: 'unknown_tool', connection: undefined } as const;
  tracing.tracer.begin(at, 'tools/call', '').end(unknown);
  tracing.tracer.begin(at, 'resources/read', '').end({ ...facts, name: 'file:///a' });
  tracing.tracer.begin(at, 'prompts/get', '').end({ ...facts, name: 'greet', cached: true });
  await tracing.close();

  const spans = await receiver.spans(4);
  expect(spans.map(({ name }) => name)).toEqual([
    'tools/call files_read',
    'tools/call',
    'resources/read',
    'prompts/get greet',
  ]);
  expect(spans[0]?.status).toEqual({ code: 'STATUS_CODE_ERROR', message: 'x'.repeat(1000) });
  expect(spans[0]?.attributes).toMatchObject({ 'error.type': 'timeout', 'mcp.http_status': 504 });
  expect(spans[1]?.status).toEqual({ code: 'STATUS_CODE_ERROR', message: 'unknown_tool' });
  expect(spans[1]?.attributes).not.toHaveProperty(['mcp.transport']);
  expect(spans[2]?.attributes).toMatchObject({ 'mcp.resource.uri': 'file:///a' });
  expect(spans[3]?.attributes).toMatchObject({ 'gen_ai.prompt.name': 'greet', 'quartermaster.cached': true });
  expect(spans[2]?.attributes).not.toHaveProperty(['quartermaster.cached']);
  expect(new Set(spans.map((span) => span.traceId)).size).toBe(4);
});

test('variables set the resource, the headers and the sampled share', async () => {
  const receiver = await startTraceReceiver();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-team=red');
  vi.stubEnv('OTEL_SERVICE_NAME', 'hub-of-red');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test');
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'parentbased_always_off');
  const { tracing } = open();
  const dropped = tracing.tracer.begin(at, 'tools/call', '');
  dropped.end({ ...facts, callId: 'dropped' });
  tracing.tracer.begin(at, 'tools/call', `"traceparent":"${traceparent}"`).end({ ...facts, callId: 'kept' });
  await tracing.close();

  const spans = await receiver.spans(1);
  expect(spans.map(({ attributes }) => attributes['quartermaster.call_id'])).toEqual(['kept']);
  expect(spans[0]?.resource).toMatchObject({ 'service.name': 'hub-of-red', 'deployment.environment.name': 'test' });
  expect(spans[0]?.headers).toMatchObject({ 'x-team': 'red', 'content-type': 'application/x-protobuf' });
  // The server is told that this trace is not kept.
  expect(JSON.parse(`{${dropped.meta}}`).traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test.each([
  ['no text', '"traceparent":7'],
  ['not of the form', '"traceparent":"00-xyz-1-01"'],
  ['all zeros', `"traceparent":"00-${'0'.repeat(32)}-${parentId}-01"`],
  ['a forbidden version', `"traceparent":"ff-${traceId}-${parentId}-01"`],
  ['a list', `"traceparent":["${traceparent}","x"],"tracestate":{}`],
  ['absent', `"tracestate":"vendor=x"`],
])('a parent that is %s begins no trace but its own', async (_, meta) => {
  const { tracing } = open();
  const span = tracing.tracer.begin(at, 'tools/call', `${meta},"b":"ü"`);
  const sent = JSON.parse(`{${span.meta}}`);
  expect(Object.keys(sent)).toEqual(['b', 'traceparent']);
  expect(sent.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(span.meta).not.toContain(traceId);
  expect(span.headers).toEqual(['traceparent', sent.traceparent]);
  await tracing.close();
});

test('a state that is garbage is dropped, and its trace kept', async () => {
  const { tracing } = open();
  const span = tracing.tracer.begin(at, 'tools/call', `"traceparent":"${traceparent}","tracestate":"\\r\\nx: y"`);
  expect(span.headers).toEqual(['traceparent', expect.stringContaining(traceId)]);
  await tracing.close();
});

test(
  verifies('telemetry:collector-down', 'a collector that is away is told once, and nothing waits for it'),
  async () => {
    const receiver = await startTraceReceiver();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
    vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10');
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '200');
    const { tracing, logged } = open();
    await receiver.stop();
    const send = (): void => tracing.tracer.begin(at, 'tools/call', '').end(facts);
    send();
    await vi.waitFor(() => expect(logged.map(({ event }) => event)).toEqual(['telemetry.export-failed']), 60_000);
    expect(logged[0]).toMatchObject({ level: 'warn', reason: expect.stringContaining('ECONNREFUSED') });
    send();
    await receiver.restart();
    await vi.waitFor(() => {
      send();
      expect(logged.map(({ event }) => event)).toEqual(['telemetry.export-failed', 'telemetry.export-resumed']);
    }, 60_000);
    expect((await receiver.spans(1)).length).toBeGreaterThan(0);
    await receiver.stop();
    send();
    await tracing.close();
    expect(logged.map(({ event }) => event)).toEqual([
      'telemetry.export-failed',
      'telemetry.export-resumed',
      'telemetry.export-failed',
    ]);
  },
);

test('a setting that cannot be used is told', async () => {
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'sometimes');
  const { tracing, logged } = open();
  expect(logged).toEqual([
    { level: 'warn', event: 'telemetry.setting-ignored', problem: expect.stringContaining('OTEL_TRACES_SAMPLER') },
  ]);
  await tracing.close();
});

function open() {
  const logged: LogFields[] = [];
  const at = (level: string) => (event: string, fields?: LogFields) => void logged.push({ level, event, ...fields });
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { tracing: openTracing({ clock: createSystemClock(), logger }), logged };
}
