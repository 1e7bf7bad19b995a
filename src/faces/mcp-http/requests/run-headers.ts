import { type Clock, HubError } from '../../../base/index.ts';
import { runIdPattern } from '../../../domain/index.ts';

/** The runs that clients name in a header. Each gets its own folder, so the number of new runs per token is limited. */
export interface RunHeaders {
  /** Throws HubError for an invalid run id, and for too many new runs. */
  check(tokenId: string, run: string): void;
  /** Forgets tokens that are gone. */
  keep(isValid: (tokenId: string) => boolean): void;
}

/** New runs per token and minute. */
export const newRunsPerMinute = 60;
/** Known runs per token; the least recently used one is forgotten first. */
const mostKnown = 1000;
const minuteMs = 60_000;

interface Runs {
  readonly known: Set<string>;
  since: number;
  begun: number;
}

export function createRunHeaders({ clock }: { readonly clock: Clock }): RunHeaders {
  const tokens = new Map<string, Runs>();

  function runsOf(tokenId: string): Runs {
    const found = tokens.get(tokenId) ?? { known: new Set(), since: clock.monotonic(), begun: 0 };
    tokens.set(tokenId, found);
    return found;
  }

  function begin(runs: Runs): void {
    const now = clock.monotonic();
    if (now - runs.since >= minuteMs) [runs.since, runs.begun] = [now, 0];
    if (runs.begun >= newRunsPerMinute) {
      throw new HubError('RATE_LIMITED', `A token may begin ${newRunsPerMinute} runs a minute.`, {
        hint: 'Use one value of X-Quartermaster-Run for all calls of a run.',
        details: { retryAfterMs: Math.ceil(runs.since + minuteMs - now) },
      });
    }
    runs.begun++;
  }

  return {
    check(tokenId, run) {
      if (!runIdPattern.test(run)) {
        throw new HubError('INVALID_REQUEST', 'X-Quartermaster-Run must be 1 to 64 of A-Z, a-z, 0-9, "_" and "-".');
      }
      const runs = runsOf(tokenId);
      if (!runs.known.delete(run)) begin(runs);
      runs.known.add(run);
      if (runs.known.size <= mostKnown) return;
      const [oldest] = runs.known;
      if (oldest !== undefined) runs.known.delete(oldest);
    },
    keep(isValid) {
      for (const tokenId of tokens.keys()) if (!isValid(tokenId)) tokens.delete(tokenId);
    },
  };
}
