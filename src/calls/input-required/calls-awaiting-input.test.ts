import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { eventually } from '../../../test/support/within.ts';
import { Call } from '../call.ts';
import { createCallsAwaitingInput } from './calls-awaiting-input.ts';
import { MultiRoundTrip } from './multi-round-trip.ts';

const lifeMs = 600_000;

function begin() {
  const clock = createMovingClock();
  let last = 0;
  const awaitingInput = createCallsAwaitingInput(
    { clock, newId: () => `id-${++last}` },
    { lifeMs, max: 5, maxPerPrincipal: 3 },
  );
  return { clock, awaitingInput };
}

/** Asked something; whether it was given up shows in the answer. */
function waiting() {
  const roundTrip = new MultiRoundTrip();
  const answer = roundTrip.ask({ method: 'roots/list', params: {}, paramsText: '{}' });
  return { roundTrip, answer };
}

test('only its own principal takes a call, and only once', () => {
  const { clock, awaitingInput } = begin();
  const { roundTrip } = waiting();
  const id = awaitingInput.add(roundTrip, 'ann');
  expect(awaitingInput.take(id, 'bob')).toBeUndefined();
  expect(awaitingInput.take('id-9', 'ann')).toBeUndefined();
  expect(awaitingInput.take(id, 'ann')).toBe(roundTrip);
  expect(awaitingInput.take(id, 'ann')).toBeUndefined();
  expect([awaitingInput.size, clock.waiting]).toEqual([0, 0]);
});

test('a call for which nobody comes is given up, and nobody can take it any more', async () => {
  const { clock, awaitingInput } = begin();
  const { roundTrip, answer } = waiting();
  const id = awaitingInput.add(roundTrip, 'ann');
  clock.advance(lifeMs);
  expect(await answer).toMatchObject({ kind: 'error', text: expect.stringContaining('nobody provided the input') });
  expect(awaitingInput.take(id, 'ann')).toBeUndefined();
  expect([awaitingInput.size, clock.waiting]).toEqual([0, 0]);
});

test('each round has a life of its own', async () => {
  const { clock, awaitingInput } = begin();
  const { roundTrip, answer } = waiting();
  const first = awaitingInput.add(roundTrip, 'ann');
  clock.advance(lifeMs - 1000);
  awaitingInput.take(first, 'ann');
  awaitingInput.add(roundTrip, 'ann');
  clock.advance(lifeMs - 1000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(awaitingInput.size).toBe(1);
  clock.advance(1000);
  expect(await answer).toMatchObject({ kind: 'error' });
});

test('there is room for so many of one principal, and for so many in all', async () => {
  const { clock, awaitingInput } = begin();
  const add = (principal: string): string => awaitingInput.add(waiting().roundTrip, principal);
  const ids = [add('ann'), add('ann'), add('ann')];
  expect(() => add('ann')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  add('bob');
  add('cyd');
  expect(() => add('dan')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  awaitingInput.take(String(ids[0]), 'ann');
  add('ann');
  clock.advance(lifeMs);
  await eventually(() => awaitingInput.size === 0 || undefined, 'all to be given up');
  add('dan');
  awaitingInput.close('stopping');
});

test('at the end all are given up, and none is parked any more', async () => {
  const { clock, awaitingInput } = begin();
  const { roundTrip, answer } = waiting();
  awaitingInput.add(roundTrip, 'ann');
  awaitingInput.close('stopping');
  awaitingInput.close('stopping');
  expect(await answer).toMatchObject({ kind: 'error', text: expect.stringContaining('shut down') });
  expect(() => awaitingInput.add(waiting().roundTrip, 'ann')).toThrow(
    expect.objectContaining({ code: 'HUB_STOPPING' }),
  );
  expect([awaitingInput.size, clock.waiting]).toEqual([0, 0]);
});

test.each([
  ['stopping', 'INTERRUPTED'],
  ['client-gone', 'CANCELLED'],
] as const)('a call that waits ends as what it was ended by: %s, %s', (why, code) => {
  const { awaitingInput } = begin();
  const { roundTrip } = waiting();
  const call = new Call({
    caller: { agent: 'ann', project: 'workspace', chain: ['ann'], tokenId: undefined, run: 'run' },
    kind: 'tool',
    name: 'ask',
    argumentsText: '{}',
    args: {},
    meta: '',
    channel: undefined,
  });
  roundTrip.begin({ call, result: new Promise(() => {}) });
  awaitingInput.add(roundTrip, 'ann');
  awaitingInput.close(why);
  expect(call.cancelled?.code).toBe(code);
});
