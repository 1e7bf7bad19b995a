import type { AgentAccount } from '../../base/index.ts';
import type { Connection, PendingRequest, UpstreamDispatch } from '../../upstream/index.ts';
import type { ResourceSubscription } from './resource-subscription.ts';

export interface ResourceToSubscribe {
  /** The server's own URI. */
  readonly uri: string;
  readonly account: AgentAccount | undefined;
  readonly subscription: ResourceSubscription | undefined;
}

/** Subscribes at the server. Listens first, so that no notification is missed. */
export function subscribeToResource(
  dispatch: UpstreamDispatch,
  connection: Connection,
  { uri, account, subscription }: ResourceToSubscribe,
): PendingRequest {
  const forget = subscription === undefined ? undefined : dispatch.onUpdated(uri, subscription);
  const call = dispatch.subscribe(connection, uri, account);
  void call.reply.then((reply) => {
    if (reply.kind !== 'result') forget?.();
    else if (subscription === undefined) release();
    else subscription.begun(release);
  });
  return call;

  function release(): void {
    forget?.();
    dispatch.unsubscribe(uri, account);
  }
}

/** A server may name the changed part. */
export function isWithin(changed: string, uri: string): boolean {
  if (!changed.startsWith(uri)) return false;
  return changed.length === uri.length || uri.endsWith('/') || '/?#'.includes(changed.charAt(uri.length));
}
