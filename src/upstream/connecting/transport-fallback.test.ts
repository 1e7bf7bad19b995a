import { expect, test } from 'vitest';
import { within } from '../../../test/support/within.ts';
import type { HttpTransportSpec, SseTransportSpec, StdioTransportSpec } from '../../domain/index.ts';
import { deaf } from '../probe.ts';
import { lookDeps, lookOptions, nodeServer, specOf } from '../spec.fixture.ts';
import { type Received, sendJsonReply, serveHttp } from '../transports/http-server.fixture.ts';
import { type FallbackOptions, type FallbackOutcome, openFirstTransport, stepsOf } from './transport-fallback.ts';

const nobody: HttpTransportSpec = { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: { team: 'a' } };
const missing: StdioTransportSpec = { type: 'stdio', command: 'no-such-program', args: [], env: {}, cwd: '/' };

test('the older transport stands behind each HTTP address, unless it is configured for that address', () => {
  const sse: SseTransportSpec = { type: 'sse', url: 'http://127.0.0.1:9/two', headers: {} };
  const two: HttpTransportSpec = { type: 'http', url: sse.url, headers: {} };
  expect(stepsOf(specOf(nobody, missing, two, sse))).toEqual([
    { place: 0, transportSpec: nobody, implicit: false },
    { place: 1, transportSpec: { ...nobody, type: 'sse' }, implicit: true },
    { place: 2, transportSpec: missing, implicit: false },
    { place: 3, transportSpec: two, implicit: false },
    { place: 4, transportSpec: sse, implicit: false },
  ]);
});

interface Run {
  readonly outcome: FallbackOutcome;
  readonly tried: readonly number[];
}

async function run(
  spec: FallbackOptions['spec'],
  known?: FallbackOptions['known'],
  redact?: (text: string) => string,
): Promise<Run> {
  const tried: number[] = [];
  const options = {
    ...lookOptions(spec),
    known,
    onAttempt: ({ place }: { readonly place: number }) => void tried.push(place),
  };
  const outcome = await within(openFirstTransport({ ...lookDeps(redact), events: deaf }, options), 'the fallback');
  if (outcome.kind === 'opened') await outcome.transport.close();
  return { outcome, tried };
}

/** Speaks streamable HTTP of 2025, and writes down what it was asked. */
async function legacyServer(): Promise<{ readonly transport: HttpTransportSpec; readonly asked: unknown[] }> {
  const asked: unknown[] = [];
  const { url } = await serveHttp(({ message, response }: Received) => {
    asked.push(message.method);
    const result = { protocolVersion: '2025-06-18', capabilities: {} };
    if (message.method === 'server/discover') sendJsonReply(response, 400, {});
    else sendJsonReply(response, 200, { jsonrpc: '2.0', id: message.id, result });
  });
  return { transport: { type: 'http', url, headers: {} }, asked };
}

test('the transport that worked before is tried first, with its known protocol version; then the others, each once', async () => {
  const { transport, asked } = await legacyServer();
  const known = { place: 1, settled: false, era: 'legacy', first: true } as const;
  const again = await run(specOf(missing, transport), known);
  expect(again).toMatchObject({ tried: [1], outcome: { kind: 'opened', via: { place: 1, settled: false } } });
  expect(asked[0]).toBe('initialize');
  const gone = await run(specOf(transport, missing), { ...known, place: 2 });
  expect(gone).toMatchObject({ tried: [2, 0], outcome: { kind: 'opened', via: { place: 0, settled: true } } });
  // What is known of one transport says nothing about another.
  expect(asked).toContain('server/discover');
});

test('a transport remembered for another configuration is ignored', async () => {
  const { transport } = await legacyServer();
  const { tried } = await run(specOf(transport), { place: 7, settled: true, era: 'legacy', first: true });
  expect(tried).toEqual([0]);
});

test('a winner after one that is not spoken there is settled; after one that is away it is a stand-in', async () => {
  const { transport } = await legacyServer();
  const unspoken = await serveHttp(({ response }) => void response.writeHead(404).end());
  const first = await run(specOf({ type: 'http', url: unspoken.url, headers: {} }, transport));
  expect(first).toMatchObject({ tried: [0, 1, 2], outcome: { via: { place: 2, settled: true } } });
  const second = await run(specOf(nobody, transport));
  expect(second).toMatchObject({ tried: [0, 2], outcome: { via: { place: 2, settled: false } } });
});

test('if all transports fail, the error has a reason for each, a hint and the stderr output, without secrets', async () => {
  const dying = nodeServer('-e', `console.error('no hunter2 here'); process.exit(1)`);
  const { outcome } = await run(specOf(nobody, dying, missing), undefined, (text) => text.replaceAll('hunter2', '***'));
  if (outcome.kind !== 'failed') throw new Error('it did not fail');
  const { error, cause, sent } = outcome.failure;
  expect([error.code, cause, sent]).toEqual(['UPSTREAM_UNAVAILABLE', 'connection', false]);
  expect(error.message).toBe(
    'Server "up" cannot be reached: http: connection refused; stdio: its process exited with code 1 (no *** here); stdio: command not found.',
  );
  expect(error.hint).toMatch(/^Install no-such-program, /);
  expect(error.details).toEqual({
    server: 'up',
    stderrTail: 'no *** here',
    attempts: [
      { transport: 'http', reason: 'connection refused' },
      { transport: 'stdio', reason: 'its process exited with code 1 (no *** here)' },
      { transport: 'stdio', reason: 'command not found' },
    ],
  });
});

test('one attempt tells its own story', async () => {
  const { outcome } = await run(specOf(nobody));
  if (outcome.kind !== 'failed') throw new Error('it did not fail');
  expect(outcome.failure.error.message).toBe('Server "up" cannot be reached: connection refused (ECONNREFUSED).');
});
