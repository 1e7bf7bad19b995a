import type { Clock, Timer } from '../base/index.ts';
import type { Caller, Outcome } from '../domain/index.ts';
import { type Ledger, type LedgerSubject, ledgerSubject } from '../ledger/index.ts';

/**
 * How many calls that one token had no right to, or sent wrongly or too fast, get a record of their own. What is beyond that is counted, and one record a
 * minute tells how many there were: no agent fills the disk by what it may not do. Calls that are sent are always
 * recorded one by one.
 */
export interface RefusedCalls {
  /** Whether this refusal is recorded; where not, it is counted. */
  isRecorded(caller: Caller, outcome: Outcome): boolean;
  /** Records what was counted so far. */
  close(): void;
}

/** Refusals that a caller brings about itself. Of a server that is away, operators want every call. */
const callersOwn: ReadonlySet<Outcome> = new Set<Outcome>([
  'unknown_tool',
  'denied',
  'invalid',
  'rate_limited',
  'overloaded',
  // Only of the hub's own tool, which needs no right.
  'ok',
]);

/** In a minute, for each token. */
export const recordedPerMinute = 120;
const minuteMs = 60_000;

interface Minute {
  readonly endsAt: number;
  recorded: number;
  skipped: number;
  readonly outcomes: Map<Outcome, number>;
  /** The last that was counted. */
  caller: Caller;
}

export function createRefusedCalls({
  clock,
  ledger,
}: {
  readonly clock: Clock;
  readonly ledger: Ledger;
}): RefusedCalls {
  const minutes = new Map<string, Minute>();
  let timer: Timer | undefined;

  function minuteOf(caller: Caller): Minute {
    const key = caller.tokenId ?? caller.chain.join('\0');
    const known = minutes.get(key);
    const now = clock.monotonic();
    if (known !== undefined && now < known.endsAt) return known;
    if (known !== undefined) summarise(known);
    const minute = { endsAt: now + minuteMs, recorded: 0, skipped: 0, outcomes: new Map(), caller };
    minutes.set(key, minute);
    timer ??= clock.setTimer(minuteMs, sweep);
    return minute;
  }

  function sweep(): void {
    timer = undefined;
    const now = clock.monotonic();
    for (const [key, minute] of minutes) {
      if (now < minute.endsAt) continue;
      summarise(minute);
      minutes.delete(key);
    }
    if (minutes.size > 0) timer = clock.setTimer(minuteMs, sweep);
  }

  function summarise({ skipped, outcomes, caller }: Minute): void {
    if (skipped === 0) return;
    const args = JSON.stringify({ count: skipped, outcomes: Object.fromEntries(outcomes) });
    const record = ledger.open(summaryOf(caller), caller.run, args);
    const error = `rate limit: ${skipped} more refused calls within a minute, not recorded one by one.`;
    ledger.refused(record, { outcome: 'rate_limited', durationMs: 0, error });
  }

  return {
    isRecorded(caller, outcome) {
      if (!callersOwn.has(outcome)) return true;
      const minute = minuteOf(caller);
      if (minute.recorded < recordedPerMinute) {
        minute.recorded++;
        return true;
      }
      minute.skipped++;
      minute.caller = caller;
      minute.outcomes.set(outcome, (minute.outcomes.get(outcome) ?? 0) + 1);
      return false;
    },
    close() {
      timer?.cancel();
      for (const minute of minutes.values()) summarise(minute);
      minutes.clear();
    },
  };
}

function summaryOf({ agent, chain }: Caller): LedgerSubject {
  return ledgerSubject({ agent, chain, server: null, tool: summaryName, decision: 'deny' });
}

/** No tool has a name with a blank. */
const summaryName = 'refused calls';
