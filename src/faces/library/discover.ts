import { type Clock, HubError, sleep } from '../../base/index.ts';
import type { ViewEntry } from '../../calls/index.ts';
import type { Hub } from '../../hub/index.ts';
import { findTool, type ToolName, textOf } from './tool-ref.ts';

export interface Patience {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** How long a program waits for servers that were never reached. */
export const discoveryMs = 10_000;

/** Asks servers for their tools and waits for the answers, but not for ever; what is late comes in later. */
export async function discoverWithin(hub: Hub, servers: readonly string[], patience: Patience): Promise<void> {
  if (servers.length === 0) return;
  const enough = new AbortController();
  const { signal } = patience;
  const until = signal === undefined ? enough.signal : AbortSignal.any([enough.signal, signal]);
  await Promise.race([hub.discover(servers), sleep(patience.clock, patience.limitMs, until)]);
  enough.abort();
  if (!signal?.aborted) return;
  const { reason }: { reason: unknown } = signal;
  throw reason instanceof HubError ? reason : new HubError('CANCELLED', 'Stopped while waiting for servers.');
}

/** The agent's tool of that name; a server that was never seen, or does not have it yet, is asked first. */
export async function locateTool(
  hub: Hub,
  chain: readonly string[],
  name: ToolName,
  patience: Patience,
): Promise<ViewEntry | undefined> {
  const view = hub.views.of(chain);
  const known = findTool(view, name);
  if (known !== undefined) return known;
  await discoverWithin(hub, whoMayHave(hub, chain, name), patience);
  return findTool(hub.views.of(chain), name);
}

/** Servers that are worth asking; none is started for an agent that may not use it. */
function whoMayHave(hub: Hub, chain: readonly string[], name: ToolName): readonly string[] {
  const text = textOf(name);
  const named = [...hub.fleet.servers.keys()].filter((server) =>
    typeof name === 'string' ? text.startsWith(`${server}.`) : server === name.server,
  );
  if (named.length === 0) return hub.views.of(chain).unseen.map(({ spec }) => spec.name);
  return named.filter((server) => hub.explain(chain, server, text.slice(server.length + 1)).effect !== 'deny');
}
