import { expect, test } from 'vitest';
import { eventSchema } from '../../../src/faces/api/index.ts';
import { echoServer, gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { stdioServer } from '../../support/hub.ts';
import { legacyClient } from '../../support/mcp-clients.ts';
import { ask, openStream, type Stream } from '../../support/mcp-http.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { connectTo } from '../../support/raw-socket.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

const adminToken = 'the-operator';
const headers = { authorization: `Bearer ${adminToken}` };

function listen({ origin }: Pick<RunningGateway, 'origin'>): Promise<Stream> {
  return openStream(`${origin}/api/events`, { method: 'GET', headers });
}

/** The events so far, each checked against the contract. */
function eventsOf(text: string) {
  return [...text.matchAll(/^event: (\S+)\ndata: (.*)\n\n/gm)].map(([, name, data = '']) => {
    const event = eventSchema.parse(JSON.parse(data));
    expect(event.type).toBe(name);
    return event;
  });
}

test(verifies('events:admin', 'whoever has the admin token hears of servers, reloads and sessions'), async () => {
  const gateway = await gatewayForTest({ servers: { trees: stdioServer('tools-change.mjs') } }, { adminToken });
  const stream = await listen(gateway);
  expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
  const client = await legacyClient(gateway.url, await gateway.token('zeno'));
  await client.call('trees_grow');
  await eventually(() => stream.text().includes('catalog.changed') || undefined, 'the list to change');
  await gateway.configure({ servers: { echo: echoServer } });
  await gateway.hub.reload();
  const types = await eventually(() => {
    const seen = eventsOf(stream.text()).map(({ type }) => type);
    return seen.includes('config.applied') ? seen : undefined;
  }, 'the reload');
  // The new tool differs from what was first seen; without its server there is no difference.
  expect(types).toEqual([
    ...['session.opened', 'definition.changed', 'catalog.changed'],
    ...['definition.changed', 'server.removed', 'server.state', 'config.applied'],
  ]);
  expect(eventsOf(stream.text())[0]).toMatchObject({ agent: 'zeno', project: 'workspace' });

  await gateway.stop();
  await within(stream.ended, 'the stream to end');
  const last = eventsOf(stream.text()).map(({ type }) => type);
  expect(last).toContain('hub.stopping');
});

test(verifies('events:admin', 'nobody else does'), async () => {
  const gateway = await gatewayForTest({}, { adminToken });
  const authorization = `Bearer ${await gateway.token()}`;
  for (const wrong of [{}, { authorization }, { authorization: 'Bearer x' }]) {
    const answer = await ask(`${gateway.origin}/api/events`, { method: 'GET', headers: wrong });
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining('UNAUTHENTICATED')]);
  }
  expect((await openStream(`${gateway.origin}/api/events`, { method: 'HEAD', headers })).status).toBe(404);
  expect((await ask(`${gateway.origin}/api/events`, { headers, body: {} })).status).toBe(404);
});

test('a silent stream stays open, with a heartbeat, longer than a connection without a token', async () => {
  const clock = createMovingClock();
  const gateway = await gatewayForTest({}, { adminToken, clock });
  const stream = await listen(gateway);
  const beats = (): number => stream.text().split(': keep-alive').length - 1;
  for (let number = 1; number <= 10; number++) {
    await eventually(() => beats() >= number || undefined, `heartbeat ${number}`);
    clock.advance(15_000);
  }
  stream.close();
});

test(verifies('events:contained', 'sixteen streams at most, and a place is free again when one is left'), async () => {
  const gateway = await gatewayForTest({}, { adminToken });
  const streams = await Promise.all(Array.from({ length: 16 }, () => listen(gateway)));
  expect(streams.map(({ status }) => status)).toEqual(Array(16).fill(200));
  const refused = await ask(`${gateway.origin}/api/events`, { method: 'GET', headers });
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('OVERLOADED')]);
  streams[0]?.close();
  const again = await eventually(async () => {
    const stream = await listen(gateway);
    return stream.status === 200 ? stream : undefined;
  }, 'a free place');
  for (const stream of [again, ...streams]) stream.close();
});

test(
  verifies('events:contained', 'a reader that takes nothing misses events, hears how many, and holds no memory'),
  async () => {
    const gateway = await gatewayForTest({}, { adminToken });
    const good = await listen(gateway);
    const socket = connectTo(gateway.origin);
    socket.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`);
    let text = '';
    await new Promise<void>((resolve) => socket.once('data', () => resolve()));
    socket.pause();
    // Enough to fill what the system holds for a connection, and more.
    const caller = gateway.hub.callerFor({ agent: `a${'x'.repeat(4000)}` });
    const rounds = 6000;
    for (let number = 0; number < rounds; number++) {
      gateway.hub.clients.begin(`s${number}`, caller);
      // The good reader shares this process, so it gets its turns to read.
      if (number % 100 === 99) {
        const last = `"session":"s${number}"`;
        await eventually(() => good.text().slice(-10_000).includes(last) || undefined, `${last}, for the good reader`);
      }
    }
    expect(good.text()).not.toContain('events.lost');
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.resume();
    await eventually(() => text.includes('"session":"s5999"') || undefined, 'the last event, for the slow one');
    const lost = [...text.matchAll(/"type":"events.lost","time":"[^"]*","count":(\d+)/g)].map(([, count]) =>
      Number(count),
    );
    const heard = [...text.matchAll(/"type":"session.opened"/g)].length;
    expect(lost.length).toBeGreaterThan(0);
    expect(heard + lost.reduce((sum, count) => sum + count, 0)).toBe(rounds);
    socket.destroy();
    good.close();
  },
);
