import { expect, test, vi } from 'vitest';
import { type Clock, createSystemClock, sleep } from './clock.ts';

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
  const clock = stoppedClock();
  const woke = vi.fn();
  const sleeping = sleep(clock, 500).then(woke);
  await Promise.resolve();
  expect(clock.pending()).toEqual([500]);
  expect(woke).not.toHaveBeenCalled();
  clock.fire();
  await sleeping;
  expect(woke).toHaveBeenCalledOnce();
});

test('a signal ends a sleep, and nothing of it stays behind', async () => {
  const clock = stoppedClock();
  const controller = new AbortController();
  const removed = vi.spyOn(controller.signal, 'removeEventListener');
  const sleeping = sleep(clock, 500, controller.signal);
  expect(clock.pending()).toEqual([500]);
  controller.abort();
  await sleeping;
  expect(clock.pending()).toEqual([]);
  expect(removed).toHaveBeenCalledOnce();
});

test('a sleep that ends by itself lets go of its signal', async () => {
  const clock = stoppedClock();
  const controller = new AbortController();
  const removed = vi.spyOn(controller.signal, 'removeEventListener');
  const sleeping = sleep(clock, 500, controller.signal);
  clock.fire();
  await sleeping;
  expect(removed).toHaveBeenCalledOnce();
});

test('with a signal that has aborted there is no sleep at all', async () => {
  const clock = stoppedClock();
  await sleep(clock, 500, AbortSignal.abort());
  expect(clock.pending()).toEqual([]);
});

function stoppedClock(): Clock & { pending(): number[]; fire(): void } {
  const timers = new Map<() => void, number>();
  return {
    now: () => 0,
    monotonic: () => 0,
    setTimer(ms, run) {
      timers.set(run, ms);
      return { cancel: () => timers.delete(run) };
    },
    pending: () => [...timers.values()],
    fire: () => {
      for (const run of [...timers.keys()]) run();
    },
  };
}
