import type { OpenCall } from './ledger.ts';
import { type DecisionFacts, decidedSubject } from './records/call-text.ts';

/** The decision on a call that was held: its later records have this one. */
export function redecide(call: OpenCall, facts: DecisionFacts): void {
  if (call.stage === 'open' || call.stage === 'held') call.subject = decidedSubject(call.subject, facts);
}
