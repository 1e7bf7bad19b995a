import { HubError } from '../base/index.ts';
import type { SharedRate } from '../domain/index.ts';
import { RecentCalls } from './recent-times.ts';

/** Counts calls against the limits that all agents share. */
export interface SpentRates {
  /** Throws RATE_LIMITED, or returns what counts the call. */
  check(rates: readonly SharedRate[], server: string, now: number): () => void;
}

export function createSpentRates(): SpentRates {
  const spent = new Map<string | undefined, RecentCalls>();
  return {
    check(rates, server, now) {
      const counted: RecentCalls[] = [];
      for (const rate of rates) {
        if (rate.server !== undefined && rate.server !== server) continue;
        const recent = spent.get(rate.server) ?? new RecentCalls();
        spent.set(rate.server, recent);
        const wait = recent.wait(rate, now);
        if (wait !== undefined) throw overSharedRate(rate, wait.span, wait.waitMs);
        counted.push(recent);
      }
      return () => {
        for (const recent of counted) recent.add(now);
      };
    },
  };
}

function overSharedRate({ server }: SharedRate, span: 'minute' | 'hour', waitMs: number): HubError {
  const what = server === undefined ? 'All servers together are' : `Server "${server}" is`;
  const wait = Math.ceil(waitMs / 1000);
  return new HubError('RATE_LIMITED', `${what} at the rate limit per ${span}. Try again in ${wait} s.`, {
    hint: `Nothing was sent. The limit is calls_per_${span} under rate_limits in mcp_permissions.yaml.`,
    details: { retryAfterMs: waitMs },
  });
}
