import { expect, test, vi } from 'vitest';
import { createSystemClock, sleep } from './clock.ts';
import { createManualClock } from './manual-clock.fixture.ts';

test('a timer of the system clock fires once, and not when it was cancelled', async () => {
  const clock = createSystemClock();
  const cancelled = vi.fn();
  clock.setTimer(1, cancelled).cancel();
  const before = clock.monotonic();
  await new Promise<void>((resolve) => clock.setTimer(20, resolve));
  expect(clock.monotonic()).toBeGreaterThan(before);
  expect(cancelled).not.toHaveBeenCalled();
});

test('a sleep lasts until its timer', async () => {
  const clock = createManualClock();
  const woke = vi.fn();
  const sleeping = sleep(clock, 500).then(woke);
  await Promise.resolve();
  expect(clock.waiting).toBe(1);
  clock.advance(499);
  await Promise.resolve();
  expect(woke).not.toHaveBeenCalled();
  clock.advance(1);
  await sleeping;
  expect(woke).toHaveBeenCalledOnce();
});

test('a signal ends a sleep, and nothing of it stays behind', async () => {
  const clock = createManualClock();
  const controller = new AbortController();
  const removed = vi.spyOn(controller.signal, 'removeEventListener');
  const sleeping = sleep(clock, 500, controller.signal);
  expect(clock.waiting).toBe(1);
  controller.abort();
  await sleeping;
  expect(clock.waiting).toBe(0);
  expect(removed).toHaveBeenCalledOnce();
});

test('a sleep that ends by itself lets go of its signal', async () => {
  const clock = createManualClock();
  const controller = new AbortController();
  const removed = vi.spyOn(controller.signal, 'removeEventListener');
  const sleeping = sleep(clock, 500, controller.signal);
  clock.advance(500);
  await sleeping;
  expect(removed).toHaveBeenCalledOnce();
});

test('with a signal that has aborted there is no sleep at all', async () => {
  const clock = createManualClock();
  await sleep(clock, 500, AbortSignal.abort());
  expect(clock.waiting).toBe(0);
});
