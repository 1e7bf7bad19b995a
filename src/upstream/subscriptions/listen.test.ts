import { expect, test } from 'vitest';
import { HubError } from '../../base/index.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import type { Agreement } from '../connecting/handshake.ts';
import { lostConnection } from '../failures.ts';
import { createScriptedTransport, errorOf, resultOf, settle } from '../scripted-transport.fixture.ts';
import { startListening } from './listen.ts';

function begin(announces: Partial<Agreement['announces']> = { tools: true }) {
  const clock = createManualClock();
  const transport = createScriptedTransport('http');
  const all = { tools: false, resources: false, prompts: false, ...announces };
  const gaps: number[] = [];
  const listening = startListening({ clock, transport, onGap: () => gaps.push(clock.monotonic()) }, all);
  return { clock, transport, gaps, listening, stop: () => listening.stop() };
}

function acknowledge({ listening }: ReturnType<typeof begin>, ...uris: string[]): void {
  listening.acknowledged({ notifications: { toolsListChanged: true, resourceSubscriptions: uris } });
}

const gone = lostConnection('files', 'the answer stream ended before the answer', true);

test('asks for the changes that the server announces, without an end of its own', () => {
  const { transport } = begin();
  expect(transport.last('subscriptions/listen').params).toEqual({ notifications: { toolsListChanged: true } });
  expect(begin({ resources: true, prompts: true }).transport.last('subscriptions/listen').params).toEqual({
    notifications: { resourcesListChanged: true, promptsListChanged: true },
  });
  expect(transport.last('subscriptions/listen').timeoutMs).toBe(2 ** 30);
});

test('a subscription that breaks is asked for again, ever less often', async () => {
  const { transport, clock } = begin();
  const waits: number[] = [];
  for (let round = 1; round <= 8; round++) {
    transport.last('subscriptions/listen').answer(gone);
    await settle();
    let waited = 0;
    for (; transport.asked.length === round; waited += 500) clock.advance(500);
    waits.push(waited);
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test('one that lived for long starts the waits anew', async () => {
  const { transport, clock } = begin();
  for (let round = 0; round < 4; round++) {
    transport.last('subscriptions/listen').answer(gone);
    await settle();
    clock.advance(60_000);
  }
  clock.advance(61_000);
  transport.last('subscriptions/listen').answer(resultOf({ resultType: 'complete' }));
  await settle();
  const before = transport.asked.length;
  clock.advance(1000);
  expect(transport.asked.length).toBe(before + 1);
});

test('a server that refuses is not asked again', async () => {
  const { transport, clock } = begin();
  transport.last('subscriptions/listen').answer(errorOf(-32601, 'Method not found'));
  await settle();
  clock.advance(600_000);
  expect(transport.asked).toHaveLength(1);
});

test('stopping cancels what is open and asks no more', async () => {
  const { transport, clock, stop } = begin();
  stop();
  expect(transport.last('subscriptions/listen').cancelledBy?.code).toBe('CANCELLED');
  await settle();
  clock.advance(600_000);
  expect(transport.asked).toHaveLength(1);
  expect(clock.waiting).toBe(0);
});

test('stopping between two attempts leaves no timer', async () => {
  const { transport, clock, stop } = begin();
  transport.last('subscriptions/listen').answer(gone);
  await settle();
  expect(clock.waiting).toBe(1);
  stop();
  expect(clock.waiting).toBe(0);
});

test('a server that announces nothing is not listened to before a resource is watched, nor after', () => {
  const began = begin({});
  const { transport, listening, clock } = began;
  expect(transport.asked).toEqual([]);
  void listening.subscribe('a:1');
  acknowledge(began, 'a:1');
  expect(transport.last('subscriptions/listen').params).toEqual({ notifications: { resourceSubscriptions: ['a:1'] } });
  listening.unsubscribe('a:1');
  expect(transport.last('subscriptions/listen').cancelledBy?.code).toBe('CANCELLED');
  expect([transport.asked.length, clock.waiting]).toEqual([1, 0]);
});

test('the old stream ends only once the new one is acknowledged, and what is watched is in the new one', async () => {
  const began = begin();
  const { transport, listening, gaps } = began;
  acknowledge(began);
  const [old] = transport.asked;
  const { reply } = listening.subscribe('a:1');
  expect(transport.last('subscriptions/listen').params).toEqual({
    notifications: { toolsListChanged: true, resourceSubscriptions: ['a:1'] },
  });
  expect(old?.cancelledBy).toBeUndefined();
  acknowledge(began, 'a:1');
  expect(old?.cancelledBy?.code).toBe('CANCELLED');
  expect(await reply).toMatchObject({ kind: 'result', text: '{}' });
  await settle();
  expect([transport.asked.length, gaps]).toEqual([2, []]);
  expect(await listening.subscribe('a:1').reply).toMatchObject({ kind: 'result' });
  expect(transport.asked).toHaveLength(2);
});

test('a subscription made while a stream is opened is in the next stream, with all others', async () => {
  const began = begin();
  const { transport, listening } = began;
  const replies = ['a:1', 'a:2', 'a:3'].map((uri) => listening.subscribe(uri).reply);
  expect(transport.asked).toHaveLength(1);
  acknowledge(began);
  expect(transport.last('subscriptions/listen').params).toMatchObject({
    notifications: { resourceSubscriptions: ['a:1', 'a:2', 'a:3'] },
  });
  acknowledge(began, 'a:1', 'a:3', 'made:up');
  expect((await Promise.all(replies)).map((reply) => (reply.kind === 'error' ? reply.code : reply.kind))).toEqual([
    'result',
    -32602,
    'result',
  ]);
  // What was not honoured needs no other stream to be given up.
  listening.unsubscribe('a:2');
  expect(transport.asked).toHaveLength(2);
  listening.unsubscribe('a:3');
  expect(transport.last('subscriptions/listen').params).toMatchObject({
    notifications: { resourceSubscriptions: ['a:1'] },
  });
});

test('a stream that broke has a gap: it is told once another one is there, and what is watched is watched again', async () => {
  const began = begin();
  const { transport, clock, listening, gaps } = began;
  acknowledge(began);
  void listening.subscribe('a:1');
  acknowledge(began, 'a:1');
  transport.last('subscriptions/listen').answer(gone);
  await settle();
  clock.advance(1000);
  expect(transport.last('subscriptions/listen').params).toMatchObject({
    notifications: { resourceSubscriptions: ['a:1'] },
  });
  expect(gaps).toEqual([]);
  acknowledge(began, 'a:1');
  expect(gaps).toEqual([1000]);
});

test.each([
  ['its refusal', errorOf(-32603, 'Subscription limit reached'), { kind: 'error', code: -32603 }],
  ['the loss', gone, gone],
  ['an end instead of a beginning', resultOf({ resultType: 'complete' }), { kind: 'error', code: -32602 }],
])('a stream that never opened answers whoever waits with %s; the old one stays', async (_what, answer, expected) => {
  const began = begin();
  const { transport, listening, clock } = began;
  acknowledge(began);
  const [old] = transport.asked;
  const { reply } = listening.subscribe('a:1');
  transport.last('subscriptions/listen').answer(answer);
  expect(await reply).toMatchObject(expected);
  listening.unsubscribe('a:1');
  clock.advance(600_000);
  expect(old?.cancelledBy).toBeUndefined();
  expect([transport.asked.length, clock.waiting]).toEqual([2, 0]);
});

test('a server that does not acknowledge has not agreed', async () => {
  const { transport, listening, clock } = begin();
  const first = listening.subscribe('a:1').reply;
  clock.advance(15_000);
  expect(transport.asked).toHaveLength(2);
  clock.advance(15_000);
  expect(await first).toMatchObject({ kind: 'error', code: -32602 });
});

test('a subscriber that stops waiting is answered, and closing answers all', async () => {
  const { listening, stop, clock } = begin();
  const [first, second] = [listening.subscribe('a:1'), listening.subscribe('a:2')];
  first.cancel(new HubError('CANCELLED', 'enough'));
  expect(await first.reply).toMatchObject({ kind: 'failed', error: { message: 'enough' } });
  stop();
  expect(await second.reply).toMatchObject({ kind: 'failed', error: { code: 'CANCELLED' } });
  expect(clock.waiting).toBe(0);
});
