import { journalFolder, type LedgerPlaces } from '../places.ts';
import type { CallLine } from '../records/call-line.ts';
import { type JournalRange, scanJournal } from './journal-calls.ts';
import { recordedCall } from './read-calls.ts';
import { isWantedCall } from './recorded-call.ts';

/** Visits the ended calls of the journal one by one, without holding all of them. Undefined: a damaged record. */
export async function visitJournalCalls(
  places: LedgerPlaces,
  range: JournalRange,
  visit: (call: CallLine | undefined) => void,
): Promise<void> {
  for await (const { pairs } of scanJournal(journalFolder(places), range)) {
    for (const pair of pairs) {
      const call = recordedCall(pair)?.call;
      if (call === undefined || isWantedCall(call, range)) visit(call);
    }
  }
}
