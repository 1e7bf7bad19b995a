import { expect, test } from 'vitest';
import { createManualClock } from '../base/manual-clock.fixture.ts';
import { lostConnection } from './failures.ts';
import type { Agreement } from './handshake.ts';
import { keepListening } from './listen.ts';
import { createScriptedWire, errorOf, resultOf, settle } from './scripted-wire.fixture.ts';

function begin(announces: Partial<Agreement['announces']> = { tools: true }) {
  const clock = createManualClock();
  const wire = createScriptedWire('http');
  const all = { tools: false, resources: false, prompts: false, ...announces };
  return { clock, wire, stop: keepListening(clock, wire, all) };
}

const gone = lostConnection('files', 'the answer stream ended before the answer', true);

test('asks for the changes that the server announces, without an end of its own', () => {
  const { wire } = begin();
  expect(wire.last('subscriptions/listen').params).toEqual({ notifications: { toolsListChanged: true } });
  expect(begin({ resources: true, prompts: true }).wire.last('subscriptions/listen').params).toEqual({
    notifications: { resourcesListChanged: true, promptsListChanged: true },
  });
  expect(wire.last('subscriptions/listen').timeoutMs).toBe(2 ** 30);
});

test('a subscription that breaks is asked for again, ever less often', async () => {
  const { wire, clock } = begin();
  const waits: number[] = [];
  for (let round = 1; round <= 8; round++) {
    wire.last('subscriptions/listen').answer(gone);
    await settle();
    let waited = 0;
    for (; wire.asked.length === round; waited += 500) clock.advance(500);
    waits.push(waited);
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test('one that lived for long starts the waits anew', async () => {
  const { wire, clock } = begin();
  for (let round = 0; round < 4; round++) {
    wire.last('subscriptions/listen').answer(gone);
    await settle();
    clock.advance(60_000);
  }
  clock.advance(61_000);
  wire.last('subscriptions/listen').answer(resultOf({ resultType: 'complete' }));
  await settle();
  const before = wire.asked.length;
  clock.advance(1000);
  expect(wire.asked.length).toBe(before + 1);
});

test('a server that refuses is not asked again', async () => {
  const { wire, clock } = begin();
  wire.last('subscriptions/listen').answer(errorOf(-32601, 'Method not found'));
  await settle();
  clock.advance(600_000);
  expect(wire.asked).toHaveLength(1);
});

test('stopping cancels what is open and asks no more', async () => {
  const { wire, clock, stop } = begin();
  stop();
  expect(wire.last('subscriptions/listen').cancelledBy?.code).toBe('CANCELLED');
  await settle();
  clock.advance(600_000);
  expect(wire.asked).toHaveLength(1);
  expect(clock.waiting).toBe(0);
});

test('stopping between two attempts leaves no timer', async () => {
  const { wire, clock, stop } = begin();
  wire.last('subscriptions/listen').answer(gone);
  await settle();
  expect(clock.waiting).toBe(1);
  stop();
  expect(clock.waiting).toBe(0);
});
