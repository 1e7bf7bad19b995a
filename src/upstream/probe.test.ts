import { expect, onTestFinished, test } from 'vitest';
import { fixturePath, startHttpFixture } from '../../test/support/fixture-servers.ts';
import { verifies } from '../../test/support/verifies.ts';
import { within } from '../../test/support/within.ts';
import type { HttpTransportSpec, SseTransportSpec, TransportSpec } from '../domain/index.ts';
import { type Probe, type ProbeAttempt, probeServer } from './probe.ts';
import { lookDeps, lookOptions, nodeServer, specOf } from './spec.fixture.ts';

const nobody: HttpTransportSpec = { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: {} };

async function probe(transport: TransportSpec, ...fallbacks: TransportSpec[]): Promise<Probe> {
  return within(probeServer(lookDeps(), lookOptions(specOf(transport, ...fallbacks))), 'the probe');
}

async function http(file: string, ...args: string[]): Promise<HttpTransportSpec> {
  const fixture = await startHttpFixture(file, args);
  onTestFinished(() => fixture.stop());
  return { type: 'http', url: fixture.url, headers: {} };
}

function briefly({ transport, implicit, verdict, httpStatus }: ProbeAttempt): unknown[] {
  return [implicit ? `${transport} (implicit)` : transport, verdict, httpStatus];
}

test(verifies('upstream:probe', 'a server that answers is reachable, with revision, session and tools'), async () => {
  const found = await probe(await http('echo-http.mjs', '--era', 'legacy', '--sessions'));
  expect(found).toMatchObject({
    server: 'up',
    verdict: 'reachable',
    attempts: [
      {
        transport: 'http',
        implicit: false,
        verdict: 'reachable',
        httpStatus: 200,
        protocolVersion: '2025-11-25',
        sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        error: undefined,
      },
    ],
  });
  expect(found.catalog?.tools).toHaveLength(8);
  expect(found.durationMs).toBeGreaterThanOrEqual(found.attempts[0]?.durationMs ?? Number.POSITIVE_INFINITY);
});

test('each transport has its own verdict, and the implicit one says so', async () => {
  const sse = await http('echo-sse.mjs', '--streamable', '405');
  const found = await probe(nobody, sse);
  expect(found.verdict).toBe('reachable');
  expect(found.attempts.map(briefly)).toEqual([
    ['http', 'unreachable', undefined],
    ['http', 'unreachable', 405],
    ['sse (implicit)', 'reachable', 200],
  ]);
  expect(found.attempts[0]?.error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(found.attempts[2]?.protocolVersion).toBe('2025-11-25');
});

test.each([
  ['401', 'needs-auth', 'UPSTREAM_NEEDS_LOGIN'],
  ['403', 'auth-failed', 'UPSTREAM_FORBIDDEN'],
  ['429', 'unreachable', 'UPSTREAM_THROTTLED'],
] as const)('%s: %s', async (status, verdict, code) => {
  const found = await probe(await http('bad-http.mjs', status), nodeServer(fixturePath('echo-stdio.mjs')));
  expect(found).toMatchObject({ verdict, catalog: undefined });
  expect(found.attempts.map(briefly)).toEqual([['http', verdict, Number(status)]]);
  expect(found.attempts[0]?.error?.code).toBe(code);
});

test('a configured SSE address of the same URL is tried in its own place, once', async () => {
  const { url } = await http('echo-sse.mjs', '--get-status', '451');
  const sse: SseTransportSpec = { type: 'sse', url, headers: {} };
  const found = await probe({ type: 'http', url, headers: {} }, nobody, sse);
  expect(found.verdict).toBe('auth-failed');
  expect(found.attempts.map(briefly)).toEqual([
    ['http', 'unreachable', 404],
    ['http', 'unreachable', undefined],
    ['sse', 'auth-failed', 451],
  ]);
});

test('a child that ends at once: its last words, without secrets, in the details and briefly in the message', async () => {
  const script = `for (let n = 0; n < 30; n++) console.error('line ' + n); console.error('bad key hunter2'); process.exit(3)`;
  const deps = lookDeps((text) => text.replaceAll('hunter2', '[redacted]'));
  const found = await within(probeServer(deps, lookOptions(specOf(nodeServer('-e', script)))), 'the probe');
  expect(found.verdict).toBe('unreachable');
  const error = found.attempts[0]?.error;
  expect(error?.code).toBe('UPSTREAM_UNAVAILABLE');
  expect(error?.message).toContain('exited with code 3 (bad key [redacted])');
  const tail = String(error?.details.stderrTail);
  expect(tail.split('\n')).toHaveLength(8);
  expect(tail).toMatch(/^line 23\n.*bad key \[redacted\]$/s);
});

test('a child that says nothing but to stderr: the same, when time is up', async () => {
  const transport = nodeServer('-e', `console.error('waiting for the database'); setInterval(() => {}, 1000)`);
  const found = await within(probeServer(lookDeps(), lookOptions(specOf(transport), { timeoutMs: 4000 })), 'the probe');
  expect(found.attempts[0]?.error).toMatchObject({
    code: 'UPSTREAM_TIMEOUT',
    message: expect.stringMatching(/Last stderr output: waiting for the database$/),
    details: { stderrTail: 'waiting for the database' },
    hint: expect.stringContaining('its logs'),
  });
});

test('a program that is missing says which, and how to get it', async () => {
  const found = await probe({ type: 'stdio', command: 'uvx', args: ['thing'], env: { PATH: '/nowhere' }, cwd: '/' });
  expect(found.attempts[0]?.error).toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: 'Server "up": its command "uvx" was not found on PATH.',
    hint: expect.stringMatching(/^Install uv \(docs\.astral\.sh\/uv\), which brings uvx, /),
  });
});

test('a server that greets but does not list is reachable, and says why it is of no use', async () => {
  const script = `
    process.stdin.setEncoding('utf8').on('data', (text) => text.split('\\n').filter(Boolean).forEach((line) => {
      const { id, method } = JSON.parse(line);
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} } };
      const reply = method === 'initialize' ? { result } : { error: { code: -32000, message: 'out of tools' } };
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
    }));`;
  const found = await probe(nodeServer('-e', script));
  expect(found).toMatchObject({
    verdict: 'reachable',
    catalog: undefined,
    attempts: [{ verdict: 'reachable', error: { code: 'UPSTREAM_FAILED' } }],
  });
  expect(found.attempts[0]?.error?.message).toContain('out of tools');
});

test('a URL that is none is a verdict, not an exception; so is being called off', async () => {
  expect((await probe({ type: 'http', url: 'ftp://x', headers: {} })).attempts[0]?.error?.code).toBe('SERVER_INVALID');
  const signal = AbortSignal.abort();
  const off = await within(probeServer(lookDeps(), lookOptions(specOf(nobody, nobody), { signal })), 'the probe');
  expect(off.attempts).toHaveLength(1);
  expect(off.verdict).toBe('unreachable');
});
