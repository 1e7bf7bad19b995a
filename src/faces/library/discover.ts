import { type Clock, HubError, sleep } from '../../base/index.ts';
import type { ViewEntry } from '../../calls/index.ts';
import type { Hub } from '../../hub/index.ts';
import { findTool } from './find-tool.ts';

export interface Patience {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Asks servers for their tools and waits for the answers, but not for ever; what is late comes in later. */
export async function discoverWithin(hub: Hub, servers: readonly string[], patience: Patience): Promise<void> {
  if (servers.length === 0) return;
  const enough = new AbortController();
  const { signal } = patience;
  const until = signal === undefined ? enough.signal : AbortSignal.any([enough.signal, signal]);
  await Promise.race([hub.discover(servers), sleep(patience.clock, patience.limitMs, until)]);
  enough.abort();
  if (signal?.aborted) throw new HubError('CANCELLED', 'Stopped while waiting for servers.');
}

/** The agent's tool of that name; a server that was never seen, or does not have it yet, is asked first. */
export async function locateTool(
  hub: Hub,
  chain: readonly string[],
  text: string,
  patience: Patience,
): Promise<ViewEntry | undefined> {
  const view = hub.views.of(chain);
  const known = findTool(view, text);
  if (known !== undefined) return known;
  await discoverWithin(hub, whoMayHave(hub, chain, text), patience);
  return findTool(hub.views.of(chain), text);
}

/** Servers that are worth asking; none is started for an agent that may not use it. */
function whoMayHave(hub: Hub, chain: readonly string[], text: string): readonly string[] {
  const named = [...hub.fleet.servers.keys()].filter((server) => text.startsWith(`${server}.`));
  if (named.length === 0) return hub.views.of(chain).unseen.map(({ spec }) => spec.name);
  return named.filter((server) => hub.explain(chain, server, text.slice(server.length + 1)).effect !== 'deny');
}
