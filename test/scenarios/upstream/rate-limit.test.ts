import { expect, test } from 'vitest';
import { echoServer, gatewayForTest } from '../../support/gateway.ts';
import { codeOf, openStage, stdioServer } from '../../support/hub.ts';
import { legacyClient, modernClient, textOf } from '../../support/mcp-clients.ts';
import { verifies } from '../../support/verifies.ts';

test(verifies('limits:rate', 'agents of both eras share the limit, and read when to try again'), async () => {
  const gateway = await gatewayForTest({
    servers: { up: { ...echoServer, limits: { rate_per_min: 2 } }, free: echoServer },
  });
  const legacy = await legacyClient(gateway.url, await gateway.token('one'));
  const modern = modernClient(gateway.url, await gateway.token('two'));
  expect(textOf((await legacy.call('up_echo', { message: 'a' })).message)).toBe('a');
  expect(textOf((await modern.call('up_echo', { message: 'b' })).message)).toBe('b');
  for (const client of [legacy, modern]) {
    const { error } = (await client.call('up_echo', { message: 'c' })).message;
    expect(error).toMatchObject({ code: -31012, data: { code: 'RATE_LIMITED', retryable: true, server: 'up' } });
    expect(error?.message).toMatch(/Server "up" is at its rate limit of 2 per minute\. Try again in \d+ s\./);
    expect(error?.data?.retryAfterMs).toBeGreaterThan(0);
    expect(textOf((await client.call('free_echo', { message: 'd' })).message)).toBe('d');
  }
  const refused = (await gateway.calls(6)).filter(({ status }) => status === 'error');
  expect(refused).toHaveLength(2);
  for (const { outcome, server, error } of refused) {
    expect([outcome, server]).toEqual(['rate_limited', 'up']);
    // What people look for in the run files.
    expect(error).toContain('rate limit');
  }
});

test('a reload that leaves the limit alone keeps what was used of it; another limit starts anew', async () => {
  const stage = await openStage();
  const up = (perMinute: number, more: object = {}) => ({
    servers: { up: stdioServer('echo-stdio.mjs', [], { limits: { rate_per_min: perMinute }, ...more }) },
  });
  await stage.start(up(1));
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
  expect(codeOf(await stage.call('up_echo', { message: 'hi' }))).toBe('RATE_LIMITED');
  // The same limit for a server that even has to be started anew.
  await stage.configure(up(1, { env: { FLAVOUR: 'other' } }));
  await stage.hub.reload();
  expect(codeOf(await stage.call('up_echo', { message: 'hi' }))).toBe('RATE_LIMITED');
  await stage.configure(up(2));
  await stage.hub.reload();
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
});
