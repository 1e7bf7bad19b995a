import { type Clock, createSystemClock, type Timer } from '../../src/base/index.ts';

/** Real time that a test can push forward, so that nobody waits a minute for a minute to pass. */
export interface MovingClock extends Clock {
  /** Whatever falls due on the way fires at the next turn of the loop. */
  advance(ms: number): void;
  /** Timers that have neither fired nor been cancelled. */
  readonly waiting: number;
}

interface Entry {
  readonly dueAt: number;
  readonly run: () => void;
  timer: Timer;
}

export function createMovingClock(): MovingClock {
  const real = createSystemClock();
  const entries = new Set<Entry>();
  let ahead = 0;

  const monotonic = (): number => real.monotonic() + ahead;

  function arm(entry: Pick<Entry, 'dueAt'>, fire: () => void): Timer {
    return real.setTimer(Math.max(0, entry.dueAt - monotonic()), fire);
  }

  return {
    now: () => real.now() + ahead,
    monotonic,
    setTimer(ms, run) {
      const due = { dueAt: monotonic() + ms, run };
      const entry: Entry = { ...due, timer: arm(due, fire) };
      entries.add(entry);
      function fire(): void {
        entries.delete(entry);
        run();
      }
      return {
        cancel() {
          entries.delete(entry);
          entry.timer.cancel();
        },
      };
    },
    advance(ms) {
      ahead += ms;
      for (const entry of entries) {
        entry.timer.cancel();
        entry.timer = arm(entry, () => {
          entries.delete(entry);
          entry.run();
        });
      }
    },
    get waiting() {
      return entries.size;
    },
  };
}
