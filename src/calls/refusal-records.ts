import type { Clock, Timer } from '../base/index.ts';
import type { Caller, Outcome } from '../domain/index.ts';
import { type Ledger, type LedgerSubject, ledgerSubject } from '../ledger/index.ts';

/**
 * Limits the records of refused calls: those that a token has no right to, or that were invalid or too frequent. Calls
 * beyond the limit are counted, and one record a minute gives their number, so that no agent can fill the disk with
 * refused calls. Calls that are sent are always recorded one by one.
 */
export interface RefusedCalls {
  /** Whether to record this refusal. If not, it was counted. */
  isRecorded(caller: Caller, outcome: Outcome): boolean;
  /** Whether a call may be held, which always writes a record. Beyond the limit it is refused like others. */
  mayHold(caller: Caller): boolean;
  /** Records the counts so far. */
  close(): void;
}

/** Refusals that the caller caused. Calls to an unavailable server are all recorded, because operators want them. */
const callersOwn: ReadonlySet<Outcome> = new Set<Outcome>([
  'unknown_tool',
  'denied',
  'invalid',
  'rate_limited',
  'overloaded',
  // Only for the hub's own tool, which needs no right.
  'ok',
]);

/** Per minute and token. */
export const recordedPerMinute = 120;
const minuteMs = 60_000;

interface Minute {
  readonly endsAt: number;
  recorded: number;
  held: number;
  skipped: number;
  readonly outcomes: Map<Outcome, number>;
  /** The caller that was counted last. */
  caller: Caller;
}

export interface RefusedCallsDeps {
  readonly clock: Clock;
  readonly ledger: Ledger;
}

export function createRefusedCalls({ clock, ledger }: RefusedCallsDeps): RefusedCalls {
  const minutes = new Map<string, Minute>();
  let timer: Timer | undefined;

  function minuteOf(caller: Caller): Minute {
    const key = caller.tokenId ?? caller.chain.join('\0');
    const known = minutes.get(key);
    const now = clock.monotonic();
    if (known !== undefined && now < known.endsAt) return known;
    if (known !== undefined) summarise(ledger, known);
    const minute = { endsAt: now + minuteMs, recorded: 0, held: 0, skipped: 0, outcomes: new Map(), caller };
    minutes.set(key, minute);
    timer ??= clock.setTimer(minuteMs, sweep);
    return minute;
  }

  function sweep(): void {
    timer = undefined;
    const now = clock.monotonic();
    for (const [key, minute] of minutes) {
      if (now < minute.endsAt) continue;
      summarise(ledger, minute);
      minutes.delete(key);
    }
    if (minutes.size > 0) timer = clock.setTimer(minuteMs, sweep);
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
    mayHold(caller) {
      const minute = minuteOf(caller);
      minute.held++;
      return minute.held <= recordedPerMinute;
    },
    close() {
      timer?.cancel();
      for (const minute of minutes.values()) summarise(ledger, minute);
      minutes.clear();
    },
  };
}

/** Records how many refusals of the minute have no record of their own. */
function summarise(ledger: Ledger, { skipped, outcomes, caller }: Minute): void {
  if (skipped === 0) return;
  const args = JSON.stringify({ count: skipped, outcomes: Object.fromEntries(outcomes) });
  const record = ledger.open(summaryOf(caller), caller.run, args);
  const error = `rate limit: ${skipped} more refused calls within a minute, not recorded one by one.`;
  ledger.refused(record, { outcome: 'rate_limited', durationMs: 0, error });
}

function summaryOf({ agent, chain }: Caller): LedgerSubject {
  return ledgerSubject({ agent, chain, server: null, tool: summaryName, decision: 'deny' });
}

/** No tool name contains a space. */
const summaryName = 'refused calls';
