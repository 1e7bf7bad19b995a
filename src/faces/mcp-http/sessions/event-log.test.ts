import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { createSystemClock } from '../../../base/index.ts';
import type { BufferedBytes } from './client-sessions.ts';
import { EventLog, maxKeptPerOwner } from './event-log.ts';

function openLog(kept: BufferedBytes): EventLog {
  return new EventLog({ clock: createSystemClock(), primed: true, kept, onOver() {} }, 'stream', true);
}

test(verifies('http:kept-events', 'many small events of many streams keep to the limit of their token'), () => {
  const kept: BufferedBytes = { total: 0 };
  const logs = Array.from({ length: 100 }, () => openLog(kept));
  const message = JSON.stringify('x'.repeat(60_000));
  for (let round = 0; round < 20; round++) for (const log of logs) log.send(message);
  expect(kept.total).toBeLessThanOrEqual(maxKeptPerOwner);
  expect(kept.total).toBe(logs.reduce((sum, { bytes }) => sum + bytes, 0));
  // The most that is useful is kept: the last event of as many streams as have room.
  expect(logs.filter(({ bytes }) => bytes > 0).length).toBeGreaterThan(20);
  // A short error still finds room.
  const late = openLog(kept);
  expect([late.keeps(60_000), late.keeps(200)]).toEqual([false, true]);
  for (const log of [...logs, late]) {
    log.end();
    log.release();
  }
  expect(kept.total).toBe(0);
});

test('a stream alone may keep one answer of any size', () => {
  const kept: BufferedBytes = { total: 0 };
  const log = openLog(kept);
  log.send('"progress"');
  expect(log.keeps(maxKeptPerOwner + 1)).toBe(true);
  log.send(`"${'x'.repeat(maxKeptPerOwner)}"`);
  expect(log.bytes).toBeGreaterThan(maxKeptPerOwner);
  const other = openLog(kept);
  expect(other.keeps(10)).toBe(false);
});
