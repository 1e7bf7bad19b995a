import { type Clock, HubError, type Timer } from '../../base/index.ts';
import { interrupted, stopping } from '../call-errors.ts';
import type { MultiRoundTrip } from './multi-round-trip.ts';

/** Calls that wait for input from their caller. Bounded in time, in number, and per principal. */
export interface CallsAwaitingInput {
  /** Returns the id with which the caller resumes the call. Throws HubError if there are too many. */
  add(roundTrip: MultiRoundTrip, principal: string): string;
  /** Hands the call over, once. Undefined if it is gone, was taken, or belongs to another principal. */
  take(id: string, principal: string): MultiRoundTrip | undefined;
  readonly size: number;
  /** Nobody can resume the calls: the hub stops, or the only client that could is gone. */
  close(why: 'stopping' | 'client-gone'): void;
}

export interface CallsAwaitingInputOptions {
  readonly lifeMs: number;
  readonly max: number;
  readonly maxPerPrincipal: number;
}

interface AwaitingInput {
  readonly roundTrip: MultiRoundTrip;
  readonly principal: string;
  readonly timer: Timer;
}

export function createCallsAwaitingInput(
  deps: { readonly clock: Clock; readonly newId: () => string },
  options: CallsAwaitingInputOptions,
): CallsAwaitingInput {
  const awaitingInput = new Map<string, AwaitingInput>();
  let closed = false;

  function remove(id: string): AwaitingInput | undefined {
    const found = awaitingInput.get(id);
    awaitingInput.delete(id);
    found?.timer.cancel();
    return found;
  }

  function checkRoom(principal: string): void {
    if (closed) throw stopping();
    const own = [...awaitingInput.values()].filter((call) => call.principal === principal).length;
    if (awaitingInput.size < options.max && own < options.maxPerPrincipal) return;
    throw new HubError('OVERLOADED', 'Too many calls are waiting for input from their clients.', {
      hint: 'Provide the input, or wait until these calls expire.',
    });
  }

  return {
    add(roundTrip, principal) {
      checkRoom(principal);
      const id = deps.newId();
      const timer = deps.clock.setTimer(options.lifeMs, () =>
        remove(id)?.roundTrip.abandon('nobody provided the input that the server asked for'),
      );
      awaitingInput.set(id, { roundTrip, principal, timer });
      return id;
    },
    take: (id, principal) => (awaitingInput.get(id)?.principal === principal ? remove(id)?.roundTrip : undefined),
    get size() {
      return awaitingInput.size;
    },
    close(why) {
      closed = true;
      const reason = why === 'stopping' ? interrupted() : 'the client is gone';
      for (const id of [...awaitingInput.keys()]) remove(id)?.roundTrip.abandon(reason);
    },
  };
}
