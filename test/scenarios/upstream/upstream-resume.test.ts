import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCuttingProxy } from '../../support/cutting-proxy.ts';
import { type HttpFixture, startHttpFixture } from '../../support/fixture-servers.ts';
import { gatewayForTest } from '../../support/gateway.ts';
import { legacyClient, textOf } from '../../support/mcp-clients.ts';
import type { Message } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, pause } from '../../support/within.ts';

/** Servers that keep their streams, and connections to them that break. */
let server: HttpFixture;

beforeAll(async () => {
  server = await startHttpFixture('resumable.mjs');
});

afterAll(() => server?.stop());

const progress = (token: string) => ({ meta: { progressToken: token } });

test(verifies('upstream:resume', 'a server that ends its stream after each step is followed'), async () => {
  const hub = await gatewayForTest({ servers: { far: { url: server.url } } });
  const client = await legacyClient(hub.url, await hub.token());
  const spoken = await client.call('far_steps', { nonce: 'spoken', ms: 1000, cuts: true }, progress('p'));
  expect(spoken.events.slice(0, -1).map(({ params }) => params?.progress)).toEqual([1, 2, 3, 4, 5]);
  expect(textOf(spoken.events.at(-1) as Message)).toBe('spoken:1'); // a stream with progress has events
  const silent = await client.call('far_steps', { nonce: 'silent', ms: 500, cuts: true });
  expect(textOf(silent.message)).toBe('silent:1');
  expect((await hub.calls(2)).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
});

test(
  verifies('upstream:resume', 'calls that are cut at random places get their own answers, and run once'),
  async () => {
    const proxy = await startCuttingProxy(server.url);
    const hub = await gatewayForTest({ servers: { far: { url: proxy.url } } });
    const client = await legacyClient(hub.url, await hub.token());
    const nonces = Array.from({ length: 20 }, (_, at) => `n${at}`);
    const seen = new Map<string, unknown[]>(nonces.map((nonce) => [nonce, []]));
    const running = nonces.map(async (nonce, at) => {
      const stream = await client.callStream('far_steps', { nonce, ms: 2000 + at * 100 }, progress(nonce));
      for (;;) {
        const { params, ...message } = await stream.next();
        if (params === undefined) return textOf(message);
        seen.get(nonce)?.push([params.progressToken, params.message, params.progress]);
      }
    });
    const answers = Promise.all(running);
    await eventually(() => [...seen.values()].every((steps) => steps.length > 0) || undefined, 'a step of each call');
    for (let cuts = 0; cuts < 4; cuts++) {
      proxy.cut();
      await pause(200 + Math.random() * 600);
    }
    expect(await answers).toEqual(nonces.map((nonce) => `${nonce}:1`));
    for (const [nonce, steps] of seen) expect(steps).toEqual([1, 2, 3, 4, 5].map((step) => [nonce, nonce, step]));
    expect(proxy.broken).toBeGreaterThan(20);
    expect((await hub.calls(20)).map(({ outcome }) => outcome)).toEqual(nonces.map(() => 'ok'));
  },
);
