import { expect, test } from 'vitest';
import { HubError } from '../../base/index.ts';
import { createScriptedTransport, errorOf, resultOf, settle } from '../scripted-transport.fixture.ts';
import { createLegacySubscriptions } from './legacy-subscriptions.ts';

function begin() {
  const transport = createScriptedTransport('http');
  return { transport, subscriptions: createLegacySubscriptions((request) => transport.request(request), 15_000) };
}

test('each watch is a request of its own, answered by the server', async () => {
  const { transport, subscriptions } = begin();
  const replies = [subscriptions.subscribe('a:1').reply, subscriptions.subscribe('a:1').reply];
  expect(transport.asked.map(({ method, params }) => [method, params])).toEqual([
    ['resources/subscribe', { uri: 'a:1' }],
    ['resources/subscribe', { uri: 'a:1' }],
  ]);
  transport.asked[0]?.answer(resultOf({}));
  transport.asked[1]?.answer(errorOf(-32602, 'no such resource'));
  expect((await Promise.all(replies)).map(({ kind }) => kind)).toEqual(['result', 'error']);
});

test('a new subscriber waits until the last one has left, so that the order holds', async () => {
  const { transport, subscriptions } = begin();
  subscriptions.unsubscribe('a:1');
  const { reply } = subscriptions.subscribe('a:1');
  void subscriptions.subscribe('a:2');
  await settle();
  expect(transport.asked.map(({ method, params }) => `${method} ${params.uri}`)).toEqual([
    'resources/unsubscribe a:1',
    'resources/subscribe a:2',
  ]);
  transport.last('resources/unsubscribe').answer(errorOf(-32601, 'whatever'));
  await settle();
  expect(transport.last('resources/subscribe').params).toEqual({ uri: 'a:1' });
  transport.last('resources/subscribe').answer(resultOf({}));
  expect((await reply).kind).toBe('result');
  void subscriptions.subscribe('a:1');
  expect(transport.asked).toHaveLength(4);
});

test('a subscriber that gives up while waiting sends nothing; later its request is cancelled', async () => {
  const { transport, subscriptions } = begin();
  subscriptions.unsubscribe('a:1');
  const [early, late] = [subscriptions.subscribe('a:1'), subscriptions.subscribe('a:1')];
  early.cancel(new HubError('CANCELLED', 'early'));
  transport.last('resources/unsubscribe').answer(resultOf({}));
  expect(await early.reply).toMatchObject({ kind: 'failed', sent: false, error: { message: 'early' } });
  await settle();
  late.cancel(new HubError('CANCELLED', 'late'));
  expect(transport.last('resources/subscribe').cancelledBy?.message).toBe('late');
  expect(await late.reply).toMatchObject({ kind: 'failed', sent: true });
  expect(transport.asked).toHaveLength(2);
});
