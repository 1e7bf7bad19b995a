import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { type ClientBudget, createClientBudgets } from './client-bytes.ts';

const limits = { answersPerAgent: 64, answers: 256, bodiesPerAgent: 32, bodies: 128 };

/** Takes answers of this size while they fit, as a client that reads none of them. */
function fill(budget: ClientBudget, size: number): void {
  while (budget.fits(size)) budget.add(size);
}

test(
  verifies('http:unread-answers', 'agents that leave all they may unread do not take the room of one that reads'),
  () => {
    const budgets = createClientBudgets(limits);
    for (let agent = 0; agent < 100; agent++) fill(budgets.of({}).answers, 1);
    const reader = budgets.of({}).answers;
    for (let answer = 0; answer < 10; answer++) {
      expect(reader.fits(4)).toBe(true);
      reader.add(4);
      reader.release(4);
    }
  },
);

test('one answer alone fits whatever its size', () => {
  const budgets = createClientBudgets(limits);
  expect(budgets.of({}).answers.fits(1000)).toBe(true);
});

test('room that was reserved holds until the result is written, and is then free again', async () => {
  const { answers } = createClientBudgets(limits).of({});
  expect([answers.reserve(60), answers.reserve(60)]).toEqual([true, false]);
  // Of one turn: whoever has its room is not refused, others are.
  expect([answers.fitsResult(60), answers.fits(60)]).toEqual([true, false]);
  answers.add(60);
  await new Promise((resolve) => setImmediate(resolve));
  expect([answers.used, answers.fits(60)]).toEqual([60, false]);
  answers.release(60);
  expect([answers.used, answers.fits(60)]).toEqual([0, true]);
});
