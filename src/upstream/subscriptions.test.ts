import { expect, test } from 'vitest';
import { HubError } from '../base/index.ts';
import { createScriptedWire, errorOf, resultOf, settle } from './scripted-wire.fixture.ts';
import { createSubscriptions } from './subscriptions.ts';

function begin() {
  const wire = createScriptedWire('http');
  return { wire, subscriptions: createSubscriptions((request) => wire.request(request), 15_000) };
}

test('each watch is a request of its own, answered by the server', async () => {
  const { wire, subscriptions } = begin();
  const replies = [subscriptions.watch('a:1').reply, subscriptions.watch('a:1').reply];
  expect(wire.asked.map(({ method, params }) => [method, params])).toEqual([
    ['resources/subscribe', { uri: 'a:1' }],
    ['resources/subscribe', { uri: 'a:1' }],
  ]);
  wire.asked[0]?.answer(resultOf({}));
  wire.asked[1]?.answer(errorOf(-32602, 'no such resource'));
  expect((await Promise.all(replies)).map(({ kind }) => kind)).toEqual(['result', 'error']);
});

test('who comes while the last one is leaving waits for that, so that the order holds', async () => {
  const { wire, subscriptions } = begin();
  subscriptions.unwatch('a:1');
  const { reply } = subscriptions.watch('a:1');
  void subscriptions.watch('a:2');
  await settle();
  expect(wire.asked.map(({ method, params }) => `${method} ${params.uri}`)).toEqual([
    'resources/unsubscribe a:1',
    'resources/subscribe a:2',
  ]);
  wire.last('resources/unsubscribe').answer(errorOf(-32601, 'whatever'));
  await settle();
  expect(wire.last('resources/subscribe').params).toEqual({ uri: 'a:1' });
  wire.last('resources/subscribe').answer(resultOf({}));
  expect((await reply).kind).toBe('result');
  void subscriptions.watch('a:1');
  expect(wire.asked).toHaveLength(4);
});

test('who gives up while waiting has asked for nothing; later it is the request that is given up', async () => {
  const { wire, subscriptions } = begin();
  subscriptions.unwatch('a:1');
  const [early, late] = [subscriptions.watch('a:1'), subscriptions.watch('a:1')];
  early.cancel(new HubError('CANCELLED', 'early'));
  wire.last('resources/unsubscribe').answer(resultOf({}));
  expect(await early.reply).toMatchObject({ kind: 'failed', sent: false, error: { message: 'early' } });
  await settle();
  late.cancel(new HubError('CANCELLED', 'late'));
  expect(wire.last('resources/subscribe').cancelledBy?.message).toBe('late');
  expect(await late.reply).toMatchObject({ kind: 'failed', sent: true });
  expect(wire.asked).toHaveLength(2);
});
