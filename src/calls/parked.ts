import { type Clock, HubError, type Timer } from '../base/index.ts';
import type { Dialogue } from './dialogue.ts';
import { interrupted, stopping } from './refusals.ts';

/** Calls that wait at a server for what their caller was asked. Bounded in time, in number, and for each principal. */
export interface ParkedCalls {
  /** The id under which the caller finds it again; throws HubError where there is no room. */
  park(dialogue: Dialogue, principal: string): string;
  /** Once: whoever takes it goes on with it. Undefined for what is gone, was taken or is somebody else's. */
  take(id: string, principal: string): Dialogue | undefined;
  readonly size: number;
  /** Nobody can come again: the hub stops, or the only client that could is gone. */
  close(why: 'stopping' | 'client-gone'): void;
}

export interface ParkedCallsOptions {
  readonly lifeMs: number;
  readonly max: number;
  readonly maxPerPrincipal: number;
}

interface Parked {
  readonly dialogue: Dialogue;
  readonly principal: string;
  readonly timer: Timer;
}

export function createParkedCalls(
  deps: { readonly clock: Clock; readonly newId: () => string },
  options: ParkedCallsOptions,
): ParkedCalls {
  const parked = new Map<string, Parked>();
  let closed = false;

  function remove(id: string): Parked | undefined {
    const found = parked.get(id);
    parked.delete(id);
    found?.timer.cancel();
    return found;
  }

  function checkRoom(principal: string): void {
    if (closed) throw stopping();
    const own = [...parked.values()].filter((call) => call.principal === principal).length;
    if (parked.size < options.max && own < options.maxPerPrincipal) return;
    throw new HubError('OVERLOADED', 'Too many calls wait for answers of their callers.', {
      hint: 'Answer what was asked, or wait until it is given up.',
    });
  }

  return {
    park(dialogue, principal) {
      checkRoom(principal);
      const id = deps.newId();
      const timer = deps.clock.setTimer(options.lifeMs, () =>
        remove(id)?.dialogue.abandon('nobody answered what the server asked'),
      );
      parked.set(id, { dialogue, principal, timer });
      return id;
    },
    take: (id, principal) => (parked.get(id)?.principal === principal ? remove(id)?.dialogue : undefined),
    get size() {
      return parked.size;
    },
    close(why) {
      closed = true;
      const reason = why === 'stopping' ? interrupted() : 'the client is gone';
      for (const id of [...parked.keys()]) remove(id)?.dialogue.abandon(reason);
    },
  };
}
