import type { Clock, Timer } from '../../base/index.ts';

/** How long the lists of an unavailable server stay visible. A timer runs only while the server is unavailable. */
export interface Grace {
  /** The server was unavailable for the whole grace. */
  readonly isOver: boolean;
  /** The server is unavailable. Repeated calls count from the first. */
  begin(): void;
  /** The server is back, or no longer in use. */
  end(): void;
  /** Changes the grace, also of one that has begun. */
  setLength(ms: number): void;
}

export function createGrace(
  deps: { readonly clock: Clock; readonly onOver: () => void },
  options: { readonly lengthMs: number },
): Grace {
  const { clock, onOver } = deps;
  let { lengthMs } = options;
  let since: number | undefined;
  let timer: Timer | undefined;
  let isOver = false;

  function arm(from: number): void {
    timer?.cancel();
    timer = clock.setTimer(Math.max(0, from + lengthMs - clock.monotonic()), () => {
      timer = undefined;
      isOver = true;
      onOver();
    });
  }

  return {
    get isOver() {
      return isOver;
    },
    begin() {
      if (since !== undefined) return;
      since = clock.monotonic();
      arm(since);
    },
    end() {
      timer?.cancel();
      timer = undefined;
      since = undefined;
      isOver = false;
    },
    setLength(ms) {
      if (ms === lengthMs) return;
      lengthMs = ms;
      // Lists that were withdrawn stay so until the server is back.
      if (since !== undefined && !isOver) arm(since);
    },
  };
}
