import type { Outcome } from '../../domain/index.ts';
import type { HubMeter } from '../../hub/index.ts';

/** Counts calls and connections per server. */
export interface Meter extends HubMeter {
  /** Zeros for a server of which nothing was counted. */
  of(server: string): Readonly<ServerNumbers>;
  /** Calls of names that the agent does not have. */
  readonly unknownNames: Readonly<ServerNumbers>;
  /** Forgets servers that are not among these. */
  keep(servers: ReadonlySet<string>): void;
}

export interface ServerNumbers {
  readonly outcomes: Record<Outcome, number>;
  /** Calls by the first bound that they do not exceed; the last stands for all that exceed every bound. */
  readonly buckets: number[];
  totalMs: number;
  /** Successful calls answered from the cache. */
  cached: number;
  connections: number;
}

/** From a server that answers at once to one that thinks for a minute. */
export const boundsMs: readonly number[] = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000];

export function createMeter(): Meter {
  const servers = new Map<string, ServerNumbers>();
  const unknownNames = noNumbers();

  function of(server: string): ServerNumbers {
    let numbers = servers.get(server);
    if (numbers === undefined) {
      numbers = noNumbers();
      servers.set(server, numbers);
    }
    return numbers;
  }

  return {
    of,
    unknownNames,
    ended({ server }, outcome, durationMs) {
      const numbers = of(server);
      const bucket = bucketOf(durationMs);
      numbers.outcomes[outcome]++;
      numbers.buckets[bucket] = (numbers.buckets[bucket] ?? 0) + 1;
      numbers.totalMs += durationMs;
    },
    cached({ server }) {
      const numbers = of(server);
      numbers.outcomes.ok++;
      numbers.cached++;
    },
    refused(entry, outcome) {
      const numbers = entry === undefined ? unknownNames : of(entry.server);
      numbers.outcomes[outcome]++;
    },
    connected(server) {
      of(server).connections++;
    },
    keep(names) {
      for (const server of servers.keys()) if (!names.has(server)) servers.delete(server);
    },
  };
}

function noNumbers(): ServerNumbers {
  return {
    outcomes: {
      ok: 0,
      tool_error: 0,
      upstream_error: 0,
      denied: 0,
      rate_limited: 0,
      overloaded: 0,
      timeout: 0,
      cancelled: 0,
      unavailable: 0,
      lost: 0,
      needs_login: 0,
      forbidden: 0,
      throttled: 0,
      interrupted: 0,
      void: 0,
      invalid: 0,
      unknown_tool: 0,
      result_dropped: 0,
      input_required: 0,
      pending: 0,
      task: 0,
      input_missing: 0,
    },
    buckets: Array.from({ length: boundsMs.length + 1 }, () => 0),
    totalMs: 0,
    cached: 0,
    connections: 0,
  };
}

/** Most calls are short, so the first bounds are looked at first. */
function bucketOf(durationMs: number): number {
  let index = 0;
  while (index < boundsMs.length && durationMs > (boundsMs[index] ?? 0)) index++;
  return index;
}
