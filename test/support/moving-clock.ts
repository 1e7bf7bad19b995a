import { type Clock, createSystemClock, type Timer } from '../../src/base/index.ts';

/** Real time that a test can advance, so that no test waits a minute for a minute to pass. */
export interface MovingClock extends Clock {
  /** Timers that become due fire in the next turn of the event loop. */
  advance(ms: number): void;
  /** Time stands still until the returned function is called; only `advance` moves it. Then no load can run into a deadline. */
  hold(): () => void;
  /** Timers that have neither fired nor been cancelled. */
  readonly waiting: number;
  /** Milliseconds until the next timer is due. */
  readonly nextDueMs: number;
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
  let heldSince: number | undefined;

  const monotonic = (): number => (heldSince ?? real.monotonic()) + ahead;

  function arm(entry: Pick<Entry, 'dueAt'>, fire: () => void): Timer {
    const ms = Math.max(0, entry.dueAt - monotonic());
    return heldSince !== undefined && ms > 0 ? never : real.setTimer(ms, fire);
  }

  function armAll(): void {
    for (const entry of entries) {
      entry.timer.cancel();
      entry.timer = arm(entry, () => {
        entries.delete(entry);
        entry.run();
      });
    }
  }

  return {
    // Whole milliseconds, as of the system.
    now: () => Math.round(real.now() + monotonic() - real.monotonic()),
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
      armAll();
    },
    hold() {
      heldSince = real.monotonic();
      armAll();
      return () => {
        if (heldSince === undefined) return;
        ahead -= real.monotonic() - heldSince;
        heldSince = undefined;
        armAll();
      };
    },
    get waiting() {
      return entries.size;
    },
    get nextDueMs() {
      return Math.min(...[...entries].map(({ dueAt }) => dueAt - monotonic()));
    },
  };
}

const never: Timer = { cancel() {} };
