import { expect, test } from 'vitest';
import { within } from '../../test/support/within.ts';
import type { HttpTransport, SseTransport, StdioTransport } from '../domain/index.ts';
import { type ChainOptions, type ChainOutcome, openChain, stepsOf } from './chain.ts';
import { deaf } from './probe.ts';
import { lookDeps, lookOptions, nodeServer, specOf } from './spec.fixture.ts';
import { type Received, sendJson, serveHttp } from './transports/http-server.fixture.ts';

const nobody: HttpTransport = { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: { team: 'a' } };
const missing: StdioTransport = { type: 'stdio', command: 'no-such-program', args: [], env: {}, cwd: '/' };

test('the older transport stands behind each HTTP address, unless it is configured for that address', () => {
  const sse: SseTransport = { type: 'sse', url: 'http://127.0.0.1:9/two', headers: {} };
  const two: HttpTransport = { type: 'http', url: sse.url, headers: {} };
  expect(stepsOf(specOf(nobody, missing, two, sse))).toEqual([
    { place: 0, transport: nobody, implicit: false },
    { place: 1, transport: { ...nobody, type: 'sse' }, implicit: true },
    { place: 2, transport: missing, implicit: false },
    { place: 3, transport: two, implicit: false },
    { place: 4, transport: sse, implicit: false },
  ]);
});

interface Run {
  readonly outcome: ChainOutcome;
  readonly tried: readonly number[];
}

async function run(
  spec: ChainOptions['spec'],
  known?: ChainOptions['known'],
  redact?: (text: string) => string,
): Promise<Run> {
  const tried: number[] = [];
  const options = {
    ...lookOptions(spec),
    known,
    onAttempt: ({ place }: { readonly place: number }) => void tried.push(place),
  };
  const outcome = await within(openChain({ ...lookDeps(redact), events: deaf }, options), 'the chain');
  if (outcome.kind === 'opened') await outcome.wire.close();
  return { outcome, tried };
}

/** Speaks streamable HTTP of 2025, and writes down what it was asked. */
async function legacyServer(): Promise<{ readonly transport: HttpTransport; readonly asked: unknown[] }> {
  const asked: unknown[] = [];
  const { url } = await serveHttp(({ message, response }: Received) => {
    asked.push(message.method);
    const result = { protocolVersion: '2025-06-18', capabilities: {} };
    if (message.method === 'server/discover') sendJson(response, 400, {});
    else sendJson(response, 200, { jsonrpc: '2.0', id: message.id, result });
  });
  return { transport: { type: 'http', url, headers: {} }, asked };
}

test('whoever won before is first, with the revision that was found out; then comes the whole chain, nobody twice', async () => {
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

test('a favourite of another configuration is nobody', async () => {
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

test('where all fail the story has a word of each, without secrets, with what to do and what a child said', async () => {
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
