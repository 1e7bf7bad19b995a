import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { Deadlines } from '../connecting/deadlines.ts';
import { controlRequest } from '../transport.ts';
import { Pending, PendingRequests } from './pending.ts';

const deadlines = new Deadlines(createManualClock());

function begin(requests: PendingRequests): Pending {
  const pending = new Pending(requests.nextId(), controlRequest('ping', {}, 1000), deadlines, () => {});
  requests.add(pending);
  return pending;
}

test('an id is never given twice, and one that stays long is passed by', () => {
  const requests = new PendingRequests();
  const slow = begin(requests);
  const seen = new Set([slow.id]);
  for (let count = 0; count < 1000; count++) {
    const { id } = begin(requests);
    expect(seen.has(id)).toBe(false);
    seen.add(id);
    requests.delete(requests.get(id) as Pending); // it was just added
  }
  expect(requests.get(slow.id)).toBe(slow);
  expect(requests.all()).toEqual([slow]);
});

test('nothing is found by what is no id, or was the id of another', () => {
  const requests = new PendingRequests();
  const { id } = begin(requests);
  for (const foreign of [String(id), id + 64, -id, id + 0.5, Number.NaN, 1e300, null, undefined, [id]]) {
    expect(requests.get(foreign)).toBeUndefined();
  }
});

test('property: it holds what a map would', () => {
  let most = 0;
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 300 }), { maxLength: 400, size: 'max' }), (steps) => {
      const requests = new PendingRequests();
      const expected = new Map<number, Pending>();
      for (const step of steps) {
        const oldest = [...expected.values()][step % 3];
        if (step % 4 === 0 && oldest !== undefined) {
          expect(requests.delete(oldest)).toBe(expected.delete(oldest.id));
          expect(requests.delete(oldest)).toBe(false);
        } else {
          const pending = begin(requests);
          expected.set(pending.id, pending);
        }
      }
      most = Math.max(most, expected.size);
      expect(requests.size).toBe(expected.size);
      expect(requests.all()).toEqual([...expected.values()]);
      for (const [id, pending] of expected) expect(requests.get(id)).toBe(pending);
    }),
  );
  // More than half of the places that there are at first: the table grew.
  expect(most).toBeGreaterThan(32);
});
