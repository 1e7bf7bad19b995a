import type { HubError } from '../base/index.ts';
import { cancelled } from './failures.ts';
import { controlRequest, type WireCall, type WireReply, type WireRequest } from './wire.ts';

/** A way to have a server tell of changes of a resource. */
export interface Subscriptions {
  watch(uri: string): WireCall;
  unwatch(uri: string): void;
}

/** The legacy way: a request for each resource. */
export function createSubscriptions(send: (request: WireRequest) => WireCall, timeoutMs: number): Subscriptions {
  const leaving = new Map<string, Promise<WireReply>>();
  const ask = (method: string, uri: string): WireCall => send(controlRequest(method, { uri }, timeoutMs));

  return {
    watch(uri) {
      const subscribe = (): WireCall => ask('resources/subscribe', uri);
      const left = leaving.get(uri);
      return left === undefined ? subscribe() : afterwards(left, subscribe);
    },
    unwatch(uri) {
      const left = ask('resources/unsubscribe', uri).reply.finally(() => {
        if (leaving.get(uri) === left) leaving.delete(uri);
      });
      leaving.set(uri, left);
    },
  };
}

/** Over HTTP requests may overtake each other: who subscribes too early would be unsubscribed by the one before. */
function afterwards(before: Promise<unknown>, begin: () => WireCall): WireCall {
  let call: WireCall | undefined;
  let stopped: HubError | undefined;
  async function follow(): Promise<WireReply> {
    await before;
    if (stopped !== undefined) return cancelled(stopped, false);
    call = begin();
    return call.reply;
  }
  return {
    reply: follow(),
    cancel(error) {
      if (call === undefined) stopped = error;
      else call.cancel(error);
    },
  };
}
