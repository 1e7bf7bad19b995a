import { type Clock, HubError, sleep } from '../../base/index.ts';
import type { AgentToolEntry } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { findTool, type ToolName, textOf } from './tool-ref.ts';

export interface DiscoverTimeout {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** How long a program waits for servers that were never reached. */
export const discoveryMs = 10_000;

/** Discovers servers and waits for their lists up to the limit. Later lists still arrive, in the background. */
export async function discoverWithin(hub: Hub, servers: readonly string[], timeout: DiscoverTimeout): Promise<void> {
  if (servers.length > 0) await waitWithin(hub.discover(servers), timeout);
}

/** The same for the servers that are missing from the caller's lists. */
export async function discoverMissing(hub: Hub, caller: Caller, timeout: DiscoverTimeout): Promise<void> {
  const undiscovered = hub.lists.undiscovered(caller).map(({ name }) => name);
  await discoverWithin(hub, undiscovered, timeout);
}

/** Finds the agent's tool by name. If it is unknown, discovers the servers that may have it first. */
export async function locateTool(
  hub: Hub,
  caller: Caller,
  name: ToolName,
  timeout: DiscoverTimeout,
): Promise<AgentToolEntry | undefined> {
  const known = findTool(hub.lists.tools(caller), name);
  if (known !== undefined) return known;
  await discoverWithin(hub, whoMayHave(hub, caller, name), timeout);
  return findTool(hub.lists.tools(caller), name);
}

async function waitWithin(work: Promise<void>, { clock, limitMs, signal }: DiscoverTimeout): Promise<void> {
  const enough = new AbortController();
  const until = signal === undefined ? enough.signal : AbortSignal.any([enough.signal, signal]);
  await Promise.race([work, sleep(clock, limitMs, until)]);
  enough.abort();
  if (!signal?.aborted) return;
  const { reason }: { reason: unknown } = signal;
  throw reason instanceof HubError ? reason : new HubError('CANCELLED', 'Stopped while waiting for servers.');
}

/** The servers worth discovering. Starts no server on behalf of an agent that may not use it. */
function whoMayHave(hub: Hub, caller: Caller, name: ToolName): readonly string[] {
  const text = textOf(name);
  const named = [...hub.configuration.servers.keys()].filter((server) =>
    typeof name === 'string' ? text.startsWith(`${server}.`) : server === name.server,
  );
  if (named.length === 0) return hub.lists.undiscovered(caller).map(({ name: server }) => server);
  return named.filter((server) => hub.explain(caller.chain, server, text.slice(server.length + 1)).effect !== 'deny');
}
