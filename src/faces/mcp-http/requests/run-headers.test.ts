import { expect, test } from 'vitest';
import { createManualClock } from '../../../base/manual-clock.fixture.ts';
import { createRunHeaders, newRunsPerMinute } from './run-headers.ts';

test('a token begins only so many runs a minute, and goes on with those that it has', () => {
  const clock = createManualClock();
  const runs = createRunHeaders({ clock });
  for (let index = 0; index < newRunsPerMinute; index++) runs.check('a', `run-${index}`);
  expect(() => runs.check('a', 'one-more')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
  for (let index = 0; index < newRunsPerMinute; index++) runs.check('a', `run-${index}`);
  runs.check('b', 'one-more');
  clock.advance(60_000);
  runs.check('a', 'one-more');
});

test('of very many runs, the one named longest ago is dropped', () => {
  const clock = createManualClock();
  const runs = createRunHeaders({ clock });
  for (let index = 0; index < 1001; index++) {
    if (index % newRunsPerMinute === 0) clock.advance(60_000);
    runs.check('a', `run-${index}`);
  }
  clock.advance(60_000);
  for (let index = 0; index < newRunsPerMinute; index++) runs.check('a', `new-${index}`);
  expect(() => runs.check('a', 'run-0')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
  runs.check('a', 'run-1000');
});

test('a token that is gone leaves nothing', () => {
  const runs = createRunHeaders({ clock: createManualClock() });
  for (let index = 0; index < newRunsPerMinute; index++) runs.check('a', `run-${index}`);
  runs.keep(() => false);
  runs.check('a', 'anew');
});

test.each(['', 'a b', '../x', 'x'.repeat(65), 'ä'])('%j is no run', (run) => {
  const runs = createRunHeaders({ clock: createManualClock() });
  expect(() => runs.check('a', run)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
});
