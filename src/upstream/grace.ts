import type { Clock, Timer } from '../base/index.ts';

/** How long what a server offered outlasts the server. There is a timer while it is away, and none otherwise. */
export interface Grace {
  /** It has been away all that time. */
  readonly isOver: boolean;
  /** The server is away; told again before it is back, it counts from the first time. */
  begin(): void;
  /** The server is back, or nobody waits for it any more. */
  end(): void;
  /** Another length holds, also for an absence that has begun. */
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
      // What has left the lists stays away from them until the server is back.
      if (since !== undefined && !isOver) arm(since);
    },
  };
}
