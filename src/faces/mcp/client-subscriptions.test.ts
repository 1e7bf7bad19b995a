import { expect, test } from 'vitest';
import { openStage, stdioServer } from '../../../test/support/hub.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually } from '../../../test/support/within.ts';
import { createClientSubscriptions } from './client-subscriptions.ts';

test('a client that unsubscribes before the server has answered is not subscribed', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']) } });
  await stage.hub.discover();
  const caller = stage.hub.callerFor({ agent: 'tester' });
  const [given, kept]: [string[], string[]] = [[], []];
  const early = createClientSubscriptions(stage.hub, (uri) => given.push(uri));
  const steady = createClientSubscriptions(stage.hub, (uri) => kept.push(uri));
  const uri = 'memo://up/note';
  const granted = early.subscribe(caller, uri, undefined, '');
  early.unsubscribe(uri);
  expect([(await granted).kind, (await steady.subscribe(caller, uri, undefined, '')).kind]).toEqual([
    'result',
    'result',
  ]);
  await stage.say('up_touch', { nonce: 'n', uri });
  await eventually(() => kept.includes(uri) || undefined, 'word of the change');
  expect(given).toEqual([]);
  early.close();
  steady.close();
});

test('those that the server has not granted yet count, and nothing is done for one too many', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']) } });
  await stage.hub.discover();
  const caller = stage.hub.callerFor({ agent: 'tester' });
  let calls = 0;
  const counting = new Proxy(stage.hub, {
    get(hub, key, receiver) {
      if (key === 'call') calls++;
      return Reflect.get(hub, key, receiver);
    },
  });
  const subscribed = createClientSubscriptions(counting, () => {});
  const uris = Array.from({ length: 300 }, (_, page) => `memo://up/a/${page}`);
  const outcomes = await Promise.all(uris.map((uri) => subscribed.subscribe(caller, uri, undefined, '')));
  expect(outcomes.filter(({ kind }) => kind === 'result')).toHaveLength(256);
  expect(outcomes.at(-1)).toMatchObject({ kind: 'failed', error: { code: 'OVERLOADED' } });
  expect(calls).toBe(256);
  subscribed.close();
});

test('others get their turn between two of many URIs, and no more are asked for once the client is gone', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']) } });
  await stage.hub.discover();
  const caller = stage.hub.callerFor({ agent: 'tester' });
  const asked: string[] = [];
  const counting = new Proxy(stage.hub, {
    get(hub, key, receiver) {
      if (key === 'call') asked.push('call');
      return Reflect.get(hub, key, receiver);
    },
  });
  const subscribed = createClientSubscriptions(counting, () => {});
  const uris = Array.from({ length: 100 }, (_, page) => `memo://up/a/${page}`);
  const all = subscribed.subscribeAll(caller, uris, undefined);
  const atOnce = asked.length;
  setImmediate(() => subscribed.close());
  await all;
  expect(atOnce).toBe(1);
  expect(asked.length).toBeLessThan(5);
});

test(verifies('subscriptions:shares', 'the clients of an agent have so many subscriptions together'), async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']) } });
  await stage.hub.discover();
  const caller = stage.hub.callerFor({ agent: 'tester' });
  const clients = Array.from({ length: 9 }, () => createClientSubscriptions(stage.hub, () => {}));
  const uris = Array.from({ length: 256 }, (_, page) => `memo://up/a/${page}`);
  for (const client of clients.slice(0, 8)) {
    expect(await client.subscribeAll(caller, uris, undefined)).toHaveLength(256);
  }
  expect(caller.account?.subscriptions).toBe(2048);
  expect(await clients[8]?.subscribe(caller, 'memo://up/note', undefined, '')).toMatchObject({
    kind: 'failed',
    error: { code: 'OVERLOADED' },
  });
  expect((await clients[0]?.subscribe(caller, 'memo://up/a/0', undefined, ''))?.kind).toBe('result');
  const other = stage.hub.callerFor({ agent: 'other' });
  expect((await clients[8]?.subscribe(other, 'memo://up/note', undefined, ''))?.kind).toBe('result');
  expect((await clients[8]?.subscribe(other, 'nothing://x', undefined, ''))?.kind).toBe('failed');
  for (const client of clients) client.close();
  expect([caller.account?.subscriptions, other.account?.subscriptions]).toEqual([0, 0]);
});

test('a client watches so many resources and no more', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']) } });
  await stage.hub.discover();
  const caller = stage.hub.callerFor({ agent: 'tester' });
  const subscribed = createClientSubscriptions(stage.hub, () => {});
  for (let page = 0; page < 256; page++) {
    expect((await subscribed.subscribe(caller, `memo://up/a/${page}`, undefined, '')).kind).toBe('result');
  }
  const refused = await subscribed.subscribe(caller, 'memo://up/a/256', undefined, '');
  expect(refused).toMatchObject({ kind: 'failed', error: { code: 'OVERLOADED' } });
  expect((await subscribed.subscribe(caller, 'memo://up/a/0', undefined, '')).kind).toBe('result');
  subscribed.close();
});
