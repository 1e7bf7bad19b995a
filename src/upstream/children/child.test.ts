import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { eventually, within } from '../../../test/support/within.ts';
import type { Logger } from '../../base/index.ts';
import { createChild, type OwnedChild } from './child.ts';
import { listProcesses } from './process-table.ts';
import type { SweepResult } from './sweep.ts';

/** A child whose descendants are looked for as long as the test likes. */
function begin() {
  const clock = createMovingClock();
  const log: string[] = [];
  const note = (event: string): void => void log.push(event);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  let answer: ((result: SweepResult) => void) | undefined;
  const leader = spawn('/bin/sh', ['-c', 'read -r line'], { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const child: OwnedChild = createChild(
    {
      clock,
      stderr: { push() {}, end() {} },
      logger,
      leader,
      list: listProcesses,
      sweeper: {
        end: () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
      },
    },
    { server: 'files', cookie: 'test:1:1:1:1', graceMs: 2000, stderrTailBytes: 100 },
  );
  return { clock, log, child, looked: () => answer };
}

test('a look for descendants that takes long says nothing of descendants', async () => {
  const { clock, log, child, looked } = begin();
  const stopped = child.stop();
  const answer = await eventually(looked, 'the look to begin');
  clock.advance(10_000);
  await within(stopped, 'the child to count as stopped');
  expect(log).toEqual([]);
  answer({ ended: 1, clean: true });
  await new Promise(setImmediate);
  expect(log).toEqual([]);
});

test('descendants that cannot be ended are told, however long it took to find out', async () => {
  const { clock, log, child, looked } = begin();
  const stopped = child.stop();
  const answer = await eventually(looked, 'the look to begin');
  clock.advance(10_000);
  await within(stopped, 'the child to count as stopped');
  answer({ ended: 0, clean: false });
  await new Promise(setImmediate);
  expect(log).toEqual(['child.descendants-left']);
});
