import { expect, test, vi } from 'vitest';
import { startHttpFixture } from '../support/fixture-servers.ts';
import { call, type Driven, driveStdio, initialize, textOf } from './drive-stdio.ts';

const ping = { id: 'ping', method: 'ping' };

/** What a client sees of each mode, from its first message on. */
const modes: Record<string, (server: Driven) => Promise<void>> = {
  async 'never-answers'(server) {
    server.send(initialize);
    server.child.stdin.end();
    expect(await server.ended()).toBe(0);
    expect(server.lines).toEqual([]);
  },
  async 'hang-on-call'(server) {
    await shake(server);
    server.send(call(1, 'echo', { message: 'hi' }));
    server.send(ping);
    await server.until(({ id }) => id === 'ping');
    expect(server.lines.join()).not.toContain('"id":1');
  },
  async garbage(server) {
    await shake(server);
    server.send(call(1, 'echo', { message: 'hi' }));
    expect(textOf(await server.until(({ id }) => id === 1))).toBe('hi');
    expect(server.lines).toContain('Listening on port 3000');
    expect(server.lines.join()).toContain('\uFFFD');
  },
  async 'closes-mid-call'(server) {
    await shake(server);
    server.send(call(1, 'echo', { message: 'hi' }));
    expect(await server.ended()).toBe(0);
    expect(server.lines).toHaveLength(1);
  },
  async 'exits-at-start'(server) {
    expect(await server.ended()).toBe(3);
    expect(server.stderr()).toMatch(/API_KEY is not set/);
  },
  async 'floods-stderr'(server) {
    await shake(server);
    await vi.waitFor(() => expect(server.stderr()).toHaveLength(1_000_000), { timeout: 60_000 });
    server.send(call(1, 'echo', { message: 'hi' }));
    await server.until(({ id }) => id === 1);
  },
  async 'ignores-term'(server) {
    await shake(server);
    server.child.kill('SIGTERM');
    server.send(call(1, 'echo', { message: 'still here' }));
    expect(textOf(await server.until(({ id }) => id === 1))).toBe('still here');
  },
  async 'schema-without-type'(server) {
    await shake(server);
    server.send({ id: 1, method: 'tools/list' });
    const { result } = await server.until(({ id }) => id === 1);
    expect(result).toMatchObject({ tools: [{ name: 'untyped' }, { name: 'echo', inputSchema: { type: 'object' } }] });
    expect(JSON.stringify(result)).toContain('"inputSchema":{"properties":{"a":{}}}');
  },
  async 'wrong-ids'(server) {
    server.send(call(5, 'echo', { message: 'right' }));
    await server.until((message) => message.id === 5 && textOf(message) === 'wrong');
    const ids = server.lines.map((line) => JSON.parse(line).id);
    expect(ids).toEqual([987_654_321, '5', null, 5, 5]);
    expect(JSON.parse(server.lines[3] ?? '')).toMatchObject({ result: { content: [{ text: 'right' }] } });
  },
  async huge(server) {
    await shake(server);
    server.send(call(1, 'echo', { message: 'hi' }));
    expect(textOf(await server.until(({ id }) => id === 1))).toHaveLength(10 * 1024 * 1024);
  },
  async 'exits-on-probe'(server) {
    server.send({ id: 1, method: 'server/discover' });
    expect(await server.ended()).toBe(1);
    expect(server.stderr()).toMatch(/expected initialize request/);
  },
  async 'silent-probe'(server) {
    server.send({ id: 1, method: 'server/discover' });
    await shake(server);
    expect(server.lines).toHaveLength(1);
  },
  async 'slow-start'(server) {
    const before = performance.now();
    await shake(server);
    expect(performance.now() - before).toBeGreaterThan(2400);
  },
};

test.each(Object.entries(modes))('over stdio: %s', async (mode, check) => {
  await using server = driveStdio('bad.mjs', [mode]);
  await check(server);
});

test('a stdio server that ignores SIGTERM also ignores the end of its input', async () => {
  await using server = driveStdio('bad.mjs', ['ignores-term']);
  await shake(server);
  server.child.stdin.end();
  await vi.waitFor(() => expect(server.stderr()).toBe('ignored the end of input\n'), { timeout: 60_000 });
  server.child.kill('SIGTERM');
  await vi.waitFor(() => expect(server.stderr()).toContain('ignored SIGTERM'), { timeout: 60_000 });
  expect(server.child.exitCode).toBeNull();
});

test.each([
  ['401', 401, 'www-authenticate', /^Bearer /],
  ['403', 403, 'content-type', /json/],
  ['429', 429, 'retry-after', /^7$/],
  ['500', 500, 'content-type', /plain/],
  ['garbage', 200, 'content-type', /json/],
  ['html', 200, 'content-type', /html/],
  ['redirect', 302, 'location', /127\.0\.0\.1:9/],
] as const)('over HTTP: %s', async (mode, status, header, value) => {
  await withHttp([mode], async (send) => {
    const response = await send(initialize);
    expect(response.status).toBe(status);
    expect(response.headers.get(header)).toMatch(value);
  });
});

test('over HTTP, a mode can be kept for calls', async () => {
  await withHttp(['429', '--on-call'], async (send) => {
    expect((await send(initialize)).status).toBe(200);
    expect((await send(call(1, 'echo'))).status).toBe(429);
  });
});

test.each([['hang'], ['hang-on-call']])('over HTTP: %s', async (mode) => {
  await withHttp([mode], async (send) => {
    if (mode === 'hang-on-call') expect((await send(initialize)).status).toBe(200);
    await expect(send(call(1, 'echo'), 300)).rejects.toThrow(/timeout/);
  });
});

test('over HTTP: closes-mid-call, sse-cut and huge', async () => {
  await withHttp(['closes-mid-call'], async (send) => {
    expect((await send(initialize)).status).toBe(200);
    await expect(send(call(1, 'echo'))).rejects.toThrow(/fetch failed/);
  });
  await withHttp(['sse-cut'], async (send) => {
    const text = await (await send(call(1, 'echo'))).text();
    expect(text).toMatch(/^event: message\ndata: /);
    expect(text).not.toContain('"id"');
  });
  await withHttp(['huge'], async (send) => {
    expect((await (await send(call(1, 'echo'))).text()).length).toBeGreaterThan(10 * 1024 * 1024);
  });
});

async function shake(server: Driven): Promise<void> {
  server.send(initialize);
  await server.until(({ id }) => id === initialize.id);
}

type Send = (message: object, timeoutMs?: number) => Promise<Response>;

async function withHttp(args: readonly string[], check: (send: Send) => Promise<void>): Promise<void> {
  const fixture = await startHttpFixture('bad-http.mjs', args);
  try {
    await check((message, timeoutMs = 10_000) =>
      fetch(fixture.url, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
        signal: AbortSignal.timeout(timeoutMs),
      }),
    );
  } finally {
    await fixture.stop();
  }
}
