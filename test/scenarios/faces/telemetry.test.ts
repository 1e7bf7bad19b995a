import { expect, onTestFinished, test } from 'vitest';
import { tokenIssueSchema } from '../../../src/faces/cli/json-shapes.ts';
import { readCalls } from '../../../src/ledger/index.ts';
import { startHttpFixture } from '../../support/fixture-servers.ts';
import { stdioServer } from '../../support/hub.ts';
import { legacyClient, modernClient, textOf } from '../../support/mcp-clients.ts';
import type { Message } from '../../support/mcp-http.ts';
import { ledgerOf } from '../../support/state-home.ts';
import { startTraceReceiver } from '../../support/trace-receiver.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${parentId}-01`;
const other = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const secret = 'correct-horse-battery';
/** Spans go out at once instead of every five seconds. */
const base = { KEY: secret, OTEL_BSP_SCHEDULE_DELAY: '20' };

async function openTeam() {
  const web = await startHttpFixture('echo-http.mjs', ['--sessions', '--era', 'legacy']);
  onTestFinished(() => web.stop());
  const workspace = await makeWorkspace({
    servers: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
      local: { ...stdioServer('echo-stdio.mjs'), env: { KEY: '${KEY}' } },
      web: { url: web.url },
    },
    agents: { scout: {} },
    policies: { tools: { 'local.counter': 'require-approval' } },
    approvals: { wait: '0s' },
  });
  return { workspace, token: await tokenFor(workspace) };
}

async function tokenFor(workspace: string): Promise<string> {
  const issued = await runQm(['token', 'issue', '--agent', 'scout', '--json', '--workspace', workspace]);
  return tokenIssueSchema.parse(JSON.parse(issued.stdout)).token;
}

/** What the server got besides the arguments: its tool tells. */
function heard(message: Message): { _meta: Record<string, unknown>; traceparent?: string; tracestate?: string } {
  return JSON.parse(textOf(message) ?? '');
}

test(
  verifies('telemetry:spans', 'every call over /mcp is a span, and what the ledger has of it is on it'),
  async () => {
    const receiver = await startTraceReceiver();
    const { workspace, token } = await openTeam();
    const env = { ...base, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: 'red' };
    const hub = await serveQm(workspace, { env });
    const client = await legacyClient(`${hub.url}/mcp`, token);
    await client.call('local_echo', { message: secret });
    await client.call('web_fail');
    await client.call('local_counter');
    await client.call(`nobody_${secret}`);
    const spans = await receiver.spans(4);
    hub.signal('SIGTERM');
    expect((await hub.ended()).code).toBe(0);

    expect(spans.map(({ name }) => name)).toEqual([
      'tools/call local_echo',
      'tools/call web_fail',
      'tools/call local_counter',
      'tools/call',
    ]);
    const lines = await readCalls(ledgerOf(workspace));
    for (const [index, line] of lines.entries()) {
      const span = spans[index];
      expect(span?.kind).toBe('SPAN_KIND_SERVER');
      expect(span?.resource['service.name']).toBe('red');
      expect(BigInt(span?.startTimeUnixNano ?? 0) / 1_000_000n).toBeLessThanOrEqual(BigInt(Date.parse(line.ts)));
      expect(span?.attributes).toMatchObject({
        'mcp.method.name': 'tools/call',
        'quartermaster.agent': 'scout',
        'quartermaster.tool': line.tool,
        'quartermaster.decision': line.decision,
        'quartermaster.call_id': line.call_id,
        'quartermaster.run': line.run_id,
        'quartermaster.outcome': line.outcome,
      });
      expect(span?.attributes['quartermaster.server'] ?? null).toBe(line.server);
      expect(span?.attributes['mcp.transport'] ?? null).toBe(line.transport);
      expect(span?.attributes['mcp.session_id'] ?? null).toBe(line.session_id);
      expect(span?.attributes['mcp.http_status'] ?? null).toBe(line.http_status);
      expect(span?.attributes['quartermaster.rule'] ?? null).toBe(line.rule);
      expect(span?.attributes['quartermaster.rule_source'] ?? null).toBe(line.rule_source);
      expect(span?.attributes['mcp.protocol_version'] ?? null).toBe(line.protocol_version);
      expect(span?.status?.message ?? null).toBe(line.error);
    }
    expect(lines.map(({ outcome }) => outcome)).toEqual(['ok', 'tool_error', 'pending', 'unknown_tool']);
    expect(spans[1]?.attributes['mcp.session_id']).toEqual(expect.any(String));
    expect(lines.map(({ http_status: status }) => status)).toContain(200);
    expect(JSON.stringify(spans)).not.toContain(secret);
  },
);

test(
  verifies('telemetry:context', 'a call is part of the trace that its caller names, and so is the server'),
  async () => {
    const receiver = await startTraceReceiver();
    const { workspace, token } = await openTeam();
    const hub = await serveQm(workspace, { env: { ...base, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
    const legacy = await legacyClient(`${hub.url}/mcp`, token);
    const modern = modernClient(`${hub.url}/mcp`, token);
    const byHeader = { headers: { traceparent, tracestate: 'vendor=1' } };
    const answers = [
      await legacy.call('local_meta', {}, byHeader),
      await modern.call('web_meta', {}, byHeader),
      // MCP's own way counts more than the way of its transport.
      await modern.call('web_meta', {}, { headers: { traceparent: other }, meta: { traceparent, baggage: 'a=1' } }),
      await legacy.call('web_meta', {}, { headers: { traceparent: 'garbage' } }),
    ];
    const spans = await receiver.spans(4);
    const told = answers.map(({ message }) => heard(message));
    for (const [index, span] of spans.entries()) {
      const own = `00-${span.traceId}-${span.spanId}-01`;
      expect(told[index]?._meta.traceparent).toBe(own);
      if (index > 0) expect(told[index]?.traceparent).toBe(own);
    }
    expect(spans.slice(0, 3).map((span) => [span.traceId, span.parentSpanId])).toEqual(
      Array.from({ length: 3 }, () => [traceId, parentId]),
    );
    expect(spans[3]?.traceId).not.toBe(traceId);
    expect(told.map(({ _meta }) => _meta.tracestate)).toEqual(['vendor=1', 'vendor=1', undefined, undefined]);
    expect(told[1]?.tracestate).toBe('vendor=1');
    expect(told[2]?._meta.baggage).toBe('a=1');
  },
);

test('reads and prompts have spans too, in the trace of their caller', async () => {
  const receiver = await startTraceReceiver();
  const workspace = await makeWorkspace({
    servers: { all: stdioServer('everything.mjs', ['--stdio']) },
    agents: { scout: {} },
  });
  const hub = await serveQm(workspace, { env: { ...base, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
  const client = await legacyClient(`${hub.url}/mcp`, await tokenFor(workspace));
  const extra = { headers: { traceparent } };
  const prompt = 'all_test_simple_prompt';
  const uri = 'test://static-text';
  expect((await client.request('prompts/get', { name: prompt }, extra)).message.result).toBeDefined();
  expect((await client.request('resources/read', { uri }, extra)).message.result).toBeDefined();
  const spans = await receiver.spans(2);
  expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
    [`prompts/get ${prompt}`, parentId],
    ['resources/read', parentId],
  ]);
  expect(spans[0]?.attributes).toMatchObject({ 'gen_ai.prompt.name': prompt, 'quartermaster.outcome': 'ok' });
  expect(spans[1]?.attributes).toMatchObject({ 'mcp.resource.uri': uri, 'quartermaster.server': 'all' });
});

test('without traces the hub is no part of one: what names it travels on', async () => {
  const { workspace, token } = await openTeam();
  const hub = await serveQm(workspace, { env: { KEY: secret } });
  const client = await legacyClient(`${hub.url}/mcp`, token);
  const tell = async (extra: object): Promise<unknown> => {
    const told = heard((await client.call('web_meta', {}, extra)).message);
    expect(told.traceparent).toBe('');
    return [told._meta.traceparent, told._meta.tracestate];
  };
  expect(await tell({ headers: { traceparent, tracestate: 'vendor=1' } })).toEqual([traceparent, 'vendor=1']);
  expect(await tell({ headers: { traceparent: other }, meta: { traceparent } })).toEqual([traceparent, undefined]);
  expect(await tell({ headers: { traceparent: `${traceparent}"` } })).toEqual([undefined, undefined]);
  expect(await tell({ meta: { traceparent: 'as it came' } })).toEqual(['as it came', undefined]);
});

test(verifies('telemetry:collector-down', 'a collector that goes is told once, and calls do not notice'), async () => {
  const receiver = await startTraceReceiver();
  const { workspace, token } = await openTeam();
  const env = { ...base, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: '300' };
  const hub = await serveQm(workspace, { env });
  const client = modernClient(`${hub.url}/mcp`, token);
  const call = async (): Promise<void> =>
    expect(textOf((await client.call('local_echo', { message: 'hi' })).message)).toBe('hi');
  await call();
  await receiver.spans(1);
  await receiver.stop();
  const events = (): string[] => hub.stderr().match(/telemetry\.[a-z-]+/g) ?? [];
  await eventually(async () => {
    await call();
    return events().length > 0 || undefined;
  }, 'a line of the log');
  await receiver.restart();
  await eventually(async () => {
    await call();
    return events().length > 1 || undefined;
  }, 'another line');
  await receiver.stop();
  await call();
  hub.signal('SIGTERM');
  expect((await hub.ended()).code).toBe(0);
  expect(events()).toEqual(['telemetry.export-failed', 'telemetry.export-resumed', 'telemetry.export-failed']);
});

test('qm call and qm stdio send their spans before they end; without a collector they end all the same', async () => {
  const receiver = await startTraceReceiver();
  const { workspace } = await openTeam();
  const env = { KEY: secret, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: new URL('/v1/traces', receiver.url).href };
  const args = ['call', 'local.echo', 'message=hi', '--agent', 'scout', '--workspace', workspace];
  expect(await runQm(args, { env })).toMatchObject({ code: 0, stdout: 'hi\n' });
  const request = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const named = { name: 'local_echo', arguments: { message: 'hi' }, _meta: { traceparent } };
  const input = request(1, 'initialize', params) + request(2, 'tools/call', named);
  expect((await runQm(['stdio', '--agent', 'scout', '--workspace', workspace], { env, input })).code).toBe(0);
  const spans = await receiver.spans(2);
  expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
    ['tools/call local_echo', undefined],
    ['tools/call local_echo', parentId],
  ]);
  await receiver.stop();
  const alone = await runQm([...args, '--log-level', 'warn'], { env });
  expect(alone).toMatchObject({ code: 0, stdout: 'hi\n' });
  expect(alone.stderr.match(/telemetry\.[a-z-]+/g)).toEqual(['telemetry.export-failed']);
});
