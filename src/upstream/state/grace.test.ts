import { expect, test } from 'vitest';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { createGrace } from './grace.ts';

const hour = 3600 * 1000;

function begin() {
  const clock = createManualClock();
  let over = 0;
  const grace = createGrace({ clock, onOver: () => over++ }, { lengthMs: hour });
  return { clock, grace, over: () => over };
}

test('it is over once, and counts from the first time that the server was away', () => {
  const { clock, grace, over } = begin();
  clock.advance(5 * hour);
  expect(grace.isOver).toBe(false);
  grace.begin();
  clock.advance(hour - 1);
  grace.begin();
  expect(grace.isOver).toBe(false);
  clock.advance(1);
  expect([grace.isOver, over()]).toEqual([true, 1]);
  grace.begin();
  clock.advance(5 * hour);
  expect([grace.isOver, over()]).toEqual([true, 1]);
});

test('a server that was back for a moment has all of it again', () => {
  const { clock, grace, over } = begin();
  grace.begin();
  clock.advance(hour - 1);
  grace.end();
  grace.begin();
  clock.advance(hour - 1);
  expect([grace.isOver, over()]).toEqual([false, 0]);
  clock.advance(1);
  expect(over()).toBe(1);
  grace.end();
  expect(grace.isOver).toBe(false);
});

test('another length holds for an absence that has begun', () => {
  const { clock, grace, over } = begin();
  grace.begin();
  clock.advance(hour);
  expect(over()).toBe(1);
  grace.setLength(10 * hour);
  clock.advance(hour);
  expect([grace.isOver, over()]).toEqual([true, 1]);
  grace.end();
  grace.begin();
  clock.advance(2 * hour);
  grace.setLength(3 * hour);
  clock.advance(hour - 1);
  expect(over()).toBe(1);
  clock.advance(1);
  expect(over()).toBe(2);
  grace.end();
  grace.begin();
  clock.advance(2 * hour);
  grace.setLength(hour);
  clock.advance(1);
  expect(over()).toBe(3);
});

test('once it is over, another length changes nothing until the server was back', () => {
  const { clock, grace, over } = begin();
  grace.begin();
  clock.advance(hour);
  grace.setLength(2 * hour);
  clock.advance(5 * hour);
  expect([grace.isOver, over()]).toEqual([true, 1]);
});
