import type { OpenCall } from '../ledger.ts';
import {
  cachedAnswer,
  cachedRecord,
  doneRecord,
  type EndParts,
  heldRecord,
  type LedgerConnection,
  refusedRecord,
  sentRecord,
} from '../records/call-text.ts';
import { argumentsMember, longestRefusedArguments } from '../records/cut-text.ts';
import { type CallEnd, endParts } from '../records/end-text.ts';
import type { Redact } from '../records/redact.ts';
import type { TimeStamps } from '../records/time-stamps.ts';

/** A record that is not written yet. Its text is built when the batch is written. */
export interface PendingRecord {
  readonly kind: 'held' | 'sent' | 'sent-again' | 'end';
  readonly call: OpenCall;
  /** Of `sent-again`: the call has it once the record is written. */
  readonly connection?: LedgerConnection;
  /** Of `end`. */
  readonly end: CallEnd | undefined;
  /** When the call ended, if it was sent. */
  endedAt: number | undefined;
  parts: EndParts | undefined;
}

export function recordText(entry: PendingRecord, redact: Redact, stamps: TimeStamps): string {
  const { kind, call, end, endedAt } = entry;
  if (end === undefined)
    return kind === 'held' ? heldText(call, redact) : sentRecord(call, entry.connection ?? call.connection);
  entry.parts ??= endParts(end, redact);
  if (endedAt !== undefined) return doneRecord(call, entry.parts, stamps.text(endedAt));
  return call.connection === cachedAnswer ? cachedRecord(call, entry.parts) : refusedRecord(call, entry.parts);
}

/** Like a refused call, a held one had no effect. It may still be sent, so only this record is cut. */
function heldText(call: OpenCall, redact: Redact): string {
  if (call.raw === undefined) return heldRecord(call);
  return heldRecord({ ...call, args: argumentsMember(call.raw, longestRefusedArguments, redact) });
}

/** For the time in which nothing could be written. */
export function gapRecord(ts: string, since: string, dropped: number): string {
  return `{"k":"gap","ts":"${ts}","since":"${since}","dropped":${dropped}}\n`;
}
