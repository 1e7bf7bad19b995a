import type { HubError } from '../../base/index.ts';
import { cancelled } from '../failures.ts';
import { controlRequest, type PendingRequest, type UpstreamReply, type UpstreamRequest } from '../transport.ts';

/** Subscriptions to resources at a server. */
export interface LegacySubscriptions {
  subscribe(uri: string): PendingRequest;
  unsubscribe(uri: string): void;
}

/** Legacy servers take one request per resource. */
export function createLegacySubscriptions(
  send: (request: UpstreamRequest) => PendingRequest,
  timeoutMs: number,
): LegacySubscriptions {
  const leaving = new Map<string, Promise<UpstreamReply>>();
  const ask = (method: string, uri: string): PendingRequest => send(controlRequest(method, { uri }, timeoutMs));

  return {
    subscribe(uri) {
      const subscribe = (): PendingRequest => ask('resources/subscribe', uri);
      const left = leaving.get(uri);
      return left === undefined ? subscribe() : afterwards(left, subscribe);
    },
    unsubscribe(uri) {
      const left = ask('resources/unsubscribe', uri).reply.finally(() => {
        if (leaving.get(uri) === left) leaving.delete(uri);
      });
      leaving.set(uri, left);
    },
  };
}

/** Over HTTP, requests may overtake each other, so a new subscription could be ended by an earlier `unsubscribe`. */
function afterwards(before: Promise<unknown>, begin: () => PendingRequest): PendingRequest {
  let call: PendingRequest | undefined;
  let stopped: HubError | undefined;
  async function follow(): Promise<UpstreamReply> {
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
