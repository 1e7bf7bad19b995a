import type { Logger } from '../base/index.ts';
import { tooManyWatches } from './failures.ts';
import type { Link } from './link.ts';
import type { WireCall } from './wire.ts';

/** The resources of one server that somebody watches, whatever connection it has at the time. */
export interface Watches {
  /** How many there are. */
  readonly size: number;
  /** The reply is the server's own; without a result nobody watches. */
  watch(link: Link, uri: string): WireCall;
  unwatch(uri: string): void;
  /** The server says that a resource has changed. */
  updated(params: Readonly<Record<string, unknown>>): void;
  /** Whatever is watched may have changed unheard. */
  missed(): void;
  /** A new connection knows nothing of what was watched over the last one. */
  resume(link: Link): Promise<void>;
  stop(): void;
}

export interface WatchesDeps {
  readonly logger: Logger;
  readonly redact: (text: string) => string;
  /** The connection of this moment. */
  readonly link: () => Link | undefined;
  readonly onUpdated: (uri: string) => void;
}

const maxWatched = 1000;
/** A server that just came back is not asked for everything at once. */
const resumedAtOnce = 50;

export function createWatches(deps: WatchesDeps, { server }: { readonly server: string }): Watches {
  /** How many watch each; those count too who still wait for the server's answer. */
  const watchers = new Map<string, number>();
  let stopped = false;

  function watch(link: Link, uri: string): WireCall {
    if (watchers.size >= maxWatched && !watchers.has(uri)) {
      return { reply: Promise.resolve(tooManyWatches(server, maxWatched)), cancel() {} };
    }
    watchers.set(uri, (watchers.get(uri) ?? 0) + 1);
    const call = link.watch(uri);
    void call.reply.then((reply) => reply.kind !== 'result' && unwatch(uri));
    return call;
  }

  function unwatch(uri: string): void {
    const left = (watchers.get(uri) ?? 0) - 1;
    if (left < 0) return;
    if (left > 0) watchers.set(uri, left);
    else {
      watchers.delete(uri);
      deps.link()?.unwatch(uri);
    }
  }

  function tell(uri: string): void {
    if (!stopped) deps.onUpdated(uri);
  }

  async function watchAgain(link: Link, uri: string): Promise<void> {
    if (!watchers.has(uri)) return;
    const reply = await link.watch(uri).reply;
    if (deps.link() !== link || !watchers.has(uri)) return;
    if (reply.kind !== 'result') {
      const error = reply.kind === 'error' ? reply.message : reply.error.message;
      deps.logger.warn('upstream_watch_lost', { server, uri: deps.redact(uri), error: deps.redact(error) });
    }
    tell(uri);
  }

  return {
    get size() {
      return watchers.size;
    },
    watch,
    unwatch,
    updated(params) {
      // It may be a part of what is watched, so that only its form can be checked here.
      if (typeof params.uri === 'string') tell(params.uri);
    },
    missed() {
      for (const uri of watchers.keys()) tell(uri);
    },
    async resume(link) {
      const uris = [...watchers.keys()];
      for (let done = 0; done < uris.length && deps.link() === link; done += resumedAtOnce) {
        await Promise.all(uris.slice(done, done + resumedAtOnce).map((uri) => watchAgain(link, uri)));
      }
    },
    stop() {
      stopped = true;
    },
  };
}
