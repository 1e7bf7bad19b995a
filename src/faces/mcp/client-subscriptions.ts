import { setImmediate } from 'node:timers/promises';
import { HubError } from '../../base/index.ts';
import type { CallClient, CallResult, ResourceSubscription } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { onResource } from './operations.ts';

/** The resources one client is subscribed to. Access is checked when it subscribes and again for each update. */
export interface ClientSubscriptions {
  subscribe(caller: Caller, uri: string, client: CallClient | undefined, meta: string): Promise<CallResult>;
  /** Subscribes to all of them and returns those that were granted. Yields to other work between two URIs. */
  subscribeAll(caller: Caller, uris: readonly string[], client: CallClient | undefined): Promise<readonly string[]>;
  unsubscribe(uri: string): void;
  close(): void;
}

/** Leaves room for other clients, because servers limit subscriptions too. */
const maxSubscribed = 256;
/** For all clients of an agent together. */
const maxPerAgent = 2048;

export function createClientSubscriptions(hub: Hub, onUpdate: (uri: string) => void): ClientSubscriptions {
  const subscriptions = new Map<string, ResourceSubscription>();
  /** Requested and not granted yet. */
  const pending = new Map<string, ResourceSubscription>();
  let closed = false;

  function end(uri: string): void {
    subscriptions.get(uri)?.end();
    subscriptions.delete(uri);
  }

  /** Pending ones count too: a client may request many before the first is granted. */
  function hasRoom(uri: string): boolean {
    return subscriptions.has(uri) || pending.has(uri) || subscriptions.size + pending.size < maxSubscribed;
  }

  const subscribed: ClientSubscriptions = {
    async subscribe(caller, uri, client, meta) {
      if (!hasRoom(uri)) return { kind: 'failed', error: tooMany(`A client may subscribe to ${maxSubscribed}`) };
      if (!subscriptions.has(uri) && (caller.account?.subscriptions ?? 0) >= maxPerAgent) {
        return { kind: 'failed', error: tooMany(`The clients of an agent may together subscribe to ${maxPerAgent}`) };
      }
      const subscribe = hub.resourceSubscription(caller, uri, onUpdate);
      const operation = onResource('subscription', uri);
      const { result } = hub.call({ ...operation, caller, meta, client, subscription: subscribe, channel: undefined });
      pending.set(uri, subscribe);
      const outcome = await result;
      const wanted = pending.get(uri) === subscribe;
      if (wanted) pending.delete(uri);
      // The client may be gone or have unsubscribed by the time the server grants it.
      if (outcome.kind !== 'result' || closed || !wanted) subscribe.end();
      else {
        end(uri);
        subscriptions.set(uri, subscribe);
      }
      return outcome;
    },
    async subscribeAll(caller, uris, client) {
      const asked: Promise<readonly string[]>[] = [];
      for (const uri of uris) {
        if (closed) break;
        const outcome = subscribed.subscribe(caller, uri, client, '');
        asked.push(outcome.then(({ kind }) => (kind === 'result' ? [uri] : [])));
        await setImmediate();
      }
      return (await Promise.all(asked)).flat();
    },
    unsubscribe(uri) {
      pending.delete(uri);
      end(uri);
    },
    close() {
      closed = true;
      for (const uri of [...subscriptions.keys()]) end(uri);
    },
  };
  return subscribed;
}

function tooMany(limit: string): HubError {
  return new HubError('OVERLOADED', `${limit} resources.`, { hint: 'Unsubscribe from some first.' });
}
