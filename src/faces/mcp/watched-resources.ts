import { setImmediate } from 'node:timers/promises';
import { HubError } from '../../base/index.ts';
import type { CallClient, CallResult, ResourceWatch } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { onResource } from './operations.ts';

/** The resources that one client watches. Each was allowed when it was asked for, and is looked at again when it is told. */
export interface WatchedResources {
  watch(caller: Caller, uri: string, client: CallClient | undefined, meta: string): Promise<CallResult>;
  /** Asks for all of them, and gives back those that were granted. Others get their turn between two URIs. */
  watchAll(caller: Caller, uris: readonly string[], client: CallClient | undefined): Promise<readonly string[]>;
  unwatch(uri: string): void;
  close(): void;
}

/** One client leaves room for others: a server has a limit too. */
const maxWatched = 256;

export function watchResources(hub: Hub, onUpdate: (uri: string) => void): WatchedResources {
  const watches = new Map<string, ResourceWatch>();
  /** Asked for and not granted yet. */
  const pending = new Map<string, ResourceWatch>();
  let closed = false;

  function end(uri: string): void {
    watches.get(uri)?.end();
    watches.delete(uri);
  }

  /** Of those under way, too: many may be asked for before the first is granted. */
  function hasRoom(uri: string): boolean {
    return watches.has(uri) || pending.has(uri) || watches.size + pending.size < maxWatched;
  }

  const watched: WatchedResources = {
    async watch(caller, uri, client, meta) {
      if (!hasRoom(uri)) return { kind: 'failed', error: tooMany() };
      const watch = hub.resourceWatch(caller, uri, onUpdate);
      const operation = onResource('subscription', uri);
      const { result } = hub.call({ ...operation, caller, meta, client, watch, channel: undefined });
      pending.set(uri, watch);
      const outcome = await result;
      const wanted = pending.get(uri) === watch;
      if (wanted) pending.delete(uri);
      if (outcome.kind !== 'result') return outcome;
      // The client may be gone, or have changed its mind, by the time the server says yes.
      if (closed || !wanted) watch.end();
      else {
        end(uri);
        watches.set(uri, watch);
      }
      return outcome;
    },
    async watchAll(caller, uris, client) {
      const asked: Promise<readonly string[]>[] = [];
      for (const uri of uris) {
        if (closed) break;
        const outcome = watched.watch(caller, uri, client, '');
        asked.push(outcome.then(({ kind }) => (kind === 'result' ? [uri] : [])));
        await setImmediate();
      }
      return (await Promise.all(asked)).flat();
    },
    unwatch(uri) {
      pending.delete(uri);
      end(uri);
    },
    close() {
      closed = true;
      for (const uri of [...watches.keys()]) end(uri);
    },
  };
  return watched;
}

function tooMany(): HubError {
  return new HubError('OVERLOADED', `A client may watch ${maxWatched} resources.`, { hint: 'Unsubscribe from some.' });
}
