import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { createQuestions } from './questions.ts';

const question = { method: 'roots/list', params: {}, paramsText: '{}' } as const;

test('who is gone is asked nothing, and what it was asked before is given up', async () => {
  const clock = createMovingClock();
  const questions = createQuestions(clock);
  const sent: string[] = [];
  const before = questions.ask(question, (message) => sent.push(message));
  expect(sent).toHaveLength(1);
  questions.close();
  const after = questions.ask(question, (message) => sent.push(message));
  expect(await Promise.all([before.answer, after.answer])).toMatchObject([{ kind: 'error' }, { kind: 'error' }]);
  after.abandon();
  expect([sent.length, clock.waiting]).toEqual([1, 0]);
});
