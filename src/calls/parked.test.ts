import { expect, test } from 'vitest';
import { createMovingClock } from '../../test/support/moving-clock.ts';
import { eventually } from '../../test/support/within.ts';
import { Call } from './call.ts';
import { Dialogue } from './dialogue.ts';
import { createParkedCalls } from './parked.ts';

const lifeMs = 600_000;

function begin() {
  const clock = createMovingClock();
  let last = 0;
  const parked = createParkedCalls({ clock, newId: () => `id-${++last}` }, { lifeMs, max: 5, maxPerPrincipal: 3 });
  return { clock, parked };
}

/** Asked something; whether it was given up shows in the answer. */
function waiting() {
  const dialogue = new Dialogue();
  const answer = dialogue.ask({ method: 'roots/list', params: {}, paramsText: '{}' });
  return { dialogue, answer };
}

test('only its own principal takes a call, and only once', () => {
  const { clock, parked } = begin();
  const { dialogue } = waiting();
  const id = parked.park(dialogue, 'ann');
  expect(parked.take(id, 'bob')).toBeUndefined();
  expect(parked.take('id-9', 'ann')).toBeUndefined();
  expect(parked.take(id, 'ann')).toBe(dialogue);
  expect(parked.take(id, 'ann')).toBeUndefined();
  expect([parked.size, clock.waiting]).toEqual([0, 0]);
});

test('a call for which nobody comes is given up, and nobody can take it any more', async () => {
  const { clock, parked } = begin();
  const { dialogue, answer } = waiting();
  const id = parked.park(dialogue, 'ann');
  clock.advance(lifeMs);
  expect(await answer).toMatchObject({ kind: 'error', text: expect.stringContaining('nobody answered') });
  expect(parked.take(id, 'ann')).toBeUndefined();
  expect([parked.size, clock.waiting]).toEqual([0, 0]);
});

test('each round has a life of its own', async () => {
  const { clock, parked } = begin();
  const { dialogue, answer } = waiting();
  const first = parked.park(dialogue, 'ann');
  clock.advance(lifeMs - 1000);
  parked.take(first, 'ann');
  parked.park(dialogue, 'ann');
  clock.advance(lifeMs - 1000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(parked.size).toBe(1);
  clock.advance(1000);
  expect(await answer).toMatchObject({ kind: 'error' });
});

test('there is room for so many of one principal, and for so many in all', async () => {
  const { clock, parked } = begin();
  const park = (principal: string): string => parked.park(waiting().dialogue, principal);
  const ids = [park('ann'), park('ann'), park('ann')];
  expect(() => park('ann')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  park('bob');
  park('cyd');
  expect(() => park('dan')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  parked.take(String(ids[0]), 'ann');
  park('ann');
  clock.advance(lifeMs);
  await eventually(() => parked.size === 0 || undefined, 'all to be given up');
  park('dan');
  parked.close('stopping');
});

test('at the end all are given up, and none is parked any more', async () => {
  const { clock, parked } = begin();
  const { dialogue, answer } = waiting();
  parked.park(dialogue, 'ann');
  parked.close('stopping');
  parked.close('stopping');
  expect(await answer).toMatchObject({ kind: 'error', text: expect.stringContaining('shut down') });
  expect(() => parked.park(waiting().dialogue, 'ann')).toThrow(expect.objectContaining({ code: 'HUB_STOPPING' }));
  expect([parked.size, clock.waiting]).toEqual([0, 0]);
});

test.each([
  ['stopping', 'INTERRUPTED'],
  ['client-gone', 'CANCELLED'],
] as const)('a call that waits ends as what it was ended by: %s, %s', (why, code) => {
  const { parked } = begin();
  const { dialogue } = waiting();
  const call = new Call({
    caller: { agent: 'ann', chain: ['ann'], tokenId: undefined, run: 'run' },
    kind: 'tool',
    name: 'ask',
    argumentsText: '{}',
    args: {},
    meta: '',
    channel: undefined,
  });
  dialogue.begin({ call, result: new Promise(() => {}) });
  parked.park(dialogue, 'ann');
  parked.close(why);
  expect(call.cancelled?.code).toBe(code);
});
