import { cp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath, startHttpFixture } from '../../../test/support/fixture-servers.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { createHub, HubError, MCPServerError, McpRateLimitError } from '../../index.ts';
import { broken, echo, openLibraryHub, openWorkspace } from './library-stage.fixture.ts';
import { toThrown } from './thrown-errors.ts';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );

test(
  verifies('library:errors', 'a call over the rate limit throws McpRateLimitError with server and time'),
  async () => {
    const hub = await openLibraryHub({ servers: { echo: { ...echo, limits: { rate_per_min: 2 } } } });
    // All agents of the hub share the limit.
    await hub.agent('one').call('echo.echo', { message: 'hi' });
    await hub.agent('two').call('echo.echo', { message: 'hi' });
    const error = await failure(hub.agent('three').call('echo.echo', { message: 'hi' }));
    expect(error).toBeInstanceOf(McpRateLimitError);
    expect(error).toBeInstanceOf(HubError);
    expect(error).toMatchObject({ name: 'McpRateLimitError', code: 'RATE_LIMITED', server: 'echo' });
    const { message, retryAfterMs } = error as McpRateLimitError; // as was just seen
    expect(message).toMatch(/rate limit of 2 per minute.*Try again in \d+ s/);
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  },
);

test('a server that throttles by itself throws the same', async () => {
  const fixture = await startHttpFixture('bad-http.mjs', ['429', '--on-call']);
  onTestFinished(() => fixture.stop());
  const hub = await openLibraryHub({ servers: { busy: { url: fixture.url } } });
  const error = await failure(hub.agent('one').call('busy.echo', { message: 'hi' }));
  expect(error).toBeInstanceOf(McpRateLimitError);
  expect(error).toMatchObject({ code: 'UPSTREAM_THROTTLED', server: 'busy', retryAfterMs: 7000 });
});

test(verifies('library:errors', 'a server that does not start throws MCPServerError with its name'), async () => {
  const hub = await openLibraryHub({
    servers: { echo, broken: { ...broken, instead: 'use the gh command line' }, gone: { command: '/nowhere/at-all' } },
  });
  const agent = hub.agent('one');
  const error = await failure(agent.call('broken.issues'));
  expect(error).toBeInstanceOf(MCPServerError);
  expect(error).toBeInstanceOf(HubError);
  expect((error as MCPServerError).stderrTail).toContain('API_KEY is not set'); // as was just seen
  expect(error).toMatchObject({ name: 'MCPServerError', code: 'UPSTREAM_UNAVAILABLE', server: 'broken' });
  expect(String(error)).toMatch(
    /Server "broken" is unavailable.*API_KEY is not set.*Meanwhile: use the gh command line\./,
  );
  expect(await failure(agent.call('gone.anything'))).toMatchObject({ name: 'MCPServerError', server: 'gone' });
  expect((await agent.call('echo.echo', { message: 'hi' })).content).toEqual([{ type: 'text', text: 'hi' }]);
});

test('a server that is known and does not start any more throws the same, with its last words', async () => {
  const config = { servers: { echo: { command: process.execPath, args: ['server/echo-stdio.mjs'] } } };
  const workspace = await openWorkspace(config);
  await cp(join(fixturePath('echo-stdio.mjs'), '..'), join(workspace, 'server'), { recursive: true });
  const env = { PATH: process.env.PATH };
  const before = await createHub({ workspace, env });
  await before.agent('one').tools();
  await before.close();
  await rename(join(workspace, 'server'), join(workspace, 'elsewhere'));
  const hub = await createHub({ workspace, env });
  onTestFinished(() => hub.close());
  const error = await failure(hub.agent('one').call('echo.add', { a: 1, b: 2 }));
  expect(error).toMatchObject({ name: 'MCPServerError', server: 'echo', details: { tool: 'add', server: 'echo' } });
  expect((error as MCPServerError).stderrTail).toContain('MODULE_NOT_FOUND'); // as was just seen
});

test('the last words of a server are kept; other errors stay what they are', () => {
  const away = new HubError('UPSTREAM_UNAVAILABLE', 'away', { details: { server: 'a', stderrTail: 'no key' } });
  const told = toThrown(away);
  expect(told).toMatchObject({ server: 'a', stderrTail: 'no key', details: { stderrTail: 'no key' } });
  expect(toThrown(told)).toBe(told);
  const other = new HubError('TOOL_UNKNOWN', 'Unknown tool: x');
  expect(toThrown(other)).toBe(other);
  expect(toThrown(new Error('defect'))).toMatchObject({ code: 'INTERNAL', message: 'defect' });
});
