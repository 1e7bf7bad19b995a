import type { Link, UpstreamDispatch, WireCall } from '../upstream/index.ts';
import type { ResourceWatch } from './resource-watch.ts';

/** Asks a server to tell of changes, and listens before it can have begun to. */
export function watchResource(
  dispatch: UpstreamDispatch,
  link: Link,
  uri: string,
  watch: ResourceWatch | undefined,
): WireCall {
  const forget = dispatch.onUpdated((changed) => {
    if (isWithin(changed, uri)) watch?.updated(changed);
  });
  const call = dispatch.watch(link, uri);
  void call.reply.then((reply) => {
    if (reply.kind !== 'result') forget();
    else if (watch === undefined) release();
    else watch.begun(release);
  });
  return call;

  function release(): void {
    forget();
    dispatch.unwatch(uri);
  }
}

/** A server may name the part that changed. */
export function isWithin(changed: string, uri: string): boolean {
  if (!changed.startsWith(uri)) return false;
  return changed.length === uri.length || uri.endsWith('/') || '/?#'.includes(changed.charAt(uri.length));
}
