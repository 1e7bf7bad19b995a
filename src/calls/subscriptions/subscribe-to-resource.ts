import type { Connection, PendingRequest, UpstreamDispatch } from '../../upstream/index.ts';
import type { ResourceSubscription } from './resource-subscription.ts';

/** Subscribes at the server. Listens first, so that no notification is missed. */
export function subscribeToResource(
  dispatch: UpstreamDispatch,
  connection: Connection,
  uri: string,
  subscribe: ResourceSubscription | undefined,
): PendingRequest {
  const forget = dispatch.onUpdated((changed) => {
    if (isWithin(changed, uri)) subscribe?.updated(changed);
  });
  const call = dispatch.subscribe(connection, uri);
  void call.reply.then((reply) => {
    if (reply.kind !== 'result') forget();
    else if (subscribe === undefined) release();
    else subscribe.begun(release);
  });
  return call;

  function release(): void {
    forget();
    dispatch.unsubscribe(uri);
  }
}

/** A server may name the changed part. */
export function isWithin(changed: string, uri: string): boolean {
  if (!changed.startsWith(uri)) return false;
  return changed.length === uri.length || uri.endsWith('/') || '/?#'.includes(changed.charAt(uri.length));
}
