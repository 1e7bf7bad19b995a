import { type Clock, HubError, type Timer } from '../../base/index.ts';

/**
 * Admits the calls of one client at a time. On a stream, a legacy server does not say for which call it asks. If all
 * calls in flight come from one client, no other client can be asked by mistake.
 */
export interface ExclusiveAccess {
  /** Resolves when it is the call's turn. Calls of one session go together, and a call without a session goes alone. */
  enter(call: object, session: string | undefined): Promise<void>;
  /** Also for a call that still waits, or never entered. */
  leave(call: object): void;
  readonly waiting: number;
}

interface Waiting {
  readonly call: object;
  readonly owner: unknown;
  readonly timer: Timer;
  go(): void;
}

export function createExclusiveAccess(
  deps: { readonly clock: Clock },
  options: { readonly server: string; readonly timeoutMs: number },
): ExclusiveAccess {
  const { server, timeoutMs } = options;
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
      // A waiting call is not overtaken.
      if (inside.has(call) || (queue.length === 0 && isFree(who))) {
        admit(call, who);
        return Promise.resolve();
      }
      return new Promise((go, reject) => {
        const timer = deps.clock.setTimer(timeoutMs, () => {
          queue = queue.filter((waiting) => waiting.call !== call);
          reject(busy(server, timeoutMs));
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

function busy(server: string, timeoutMs: number): HubError {
  return new HubError('OVERLOADED', `Server "${server}" was busy with another client for ${timeoutMs / 1000} s.`, {
    hint: 'It may be waiting for input from that client. Try again, or give the server `isolation: per-session`.',
    details: { server },
  });
}
