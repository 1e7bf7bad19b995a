import type { Clock } from './clock.ts';

/** A clock that stands still until a test advances it. Due timers fire in order. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
  readonly waiting: number;
}

export function createManualClock(): ManualClock {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  let time = 0;
  return {
    now: () => Date.UTC(2026, 10, 1) + time,
    monotonic: () => time,
    setTimer(ms, run) {
      const timer = { at: time + ms, run };
      timers.add(timer);
      return { cancel: () => timers.delete(timer) };
    },
    advance(ms) {
      const until = time + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        time = Math.max(time, next.at);
        next.run();
      }
      time = until;
    },
    get waiting() {
      return timers.size;
    },
  };
}
