import { type Clock, HubError, type Timer } from '../base/index.ts';

/**
 * The calls of one client at a time. A legacy server on a stream does not say for which call it asks; where all calls
 * under way come from one client, there is nothing to mistake.
 */
export interface Lane {
  /** Resolves when it is the call's turn, at once if it has it. Calls of a session go together, one without goes alone. */
  enter(call: object, session: string | undefined): Promise<void>;
  /** Also for a call that still waits, or that never came. */
  leave(call: object): void;
  readonly waiting: number;
}

interface Waiting {
  readonly call: object;
  readonly owner: unknown;
  readonly timer: Timer;
  go(): void;
}

export function createLane(
  deps: { readonly clock: Clock },
  options: { readonly server: string; readonly patienceMs: number },
): Lane {
  const { server, patienceMs } = options;
  const inside = new Set<object>();
  let owner: unknown;
  let queue: readonly Waiting[] = [];

  function admit(call: object, who: unknown): void {
    inside.add(call);
    owner = who;
  }

  function next(): void {
    for (let first = queue[0]; first !== undefined && isFree(first.owner); first = queue[0]) {
      queue = queue.slice(1);
      first.timer.cancel();
      admit(first.call, first.owner);
      first.go();
    }
  }

  function isFree(who: unknown): boolean {
    return inside.size === 0 || owner === who;
  }

  return {
    enter(call, session) {
      const who = session ?? call;
      // Whoever waits already is not overtaken.
      if (inside.has(call) || (queue.length === 0 && isFree(who))) {
        admit(call, who);
        return Promise.resolve();
      }
      return new Promise((go, reject) => {
        const timer = deps.clock.setTimer(patienceMs, () => {
          queue = queue.filter((waiting) => waiting.call !== call);
          reject(busy(server, patienceMs));
          next();
        });
        queue = [...queue, { call, owner: who, timer, go }];
      });
    },
    get waiting() {
      return queue.length;
    },
    leave(call) {
      queue.find((waiting) => waiting.call === call)?.timer.cancel();
      queue = queue.filter((waiting) => waiting.call !== call);
      inside.delete(call);
      next();
    },
  };
}

function busy(server: string, patienceMs: number): HubError {
  return new HubError('OVERLOADED', `Server "${server}" was busy with another client for ${patienceMs / 1000} s.`, {
    hint: 'It may be waiting for somebody to answer a question. Try again, or give the server `isolation: per-session`.',
    details: { server },
  });
}
