import type { ApprovalsDeps } from '../../approvals/index.ts';
import type { Clock } from '../../base/index.ts';
import { readOpenCalls, readRecordedCalls } from '../../ledger/index.ts';
import { ledgerPlaces } from '../../storage/index.ts';
import type { ProcessParts } from '../process-parts.ts';

type FateOf = ApprovalsDeps['fateOf'];

/** The ledger keeps at least a day. About an older call, silence says nothing. */
const certainMs = 20 * 60 * 60_000;

/** A call begins before it waits for its approval. */
const longestWaitMs = 24 * 60 * 60_000;

/** What became of calls of hubs that have ended, by the journal. Run files do not count: agents can change them. */
export function createFateOf({ layout, ledger }: Pick<ProcessParts, 'layout' | 'ledger'>, clock: Clock): FateOf {
  const places = ledgerPlaces(layout);
  return async (id, claimed) => {
    await ledger.flush();
    const { source, calls } = await readRecordedCalls(places, {
      since: claimed - longestWaitMs,
      where: ({ call_id }) => call_id === id,
    });
    const [found] = source === 'journal' ? calls : [];
    if (found !== undefined) return fateBy(found.call.outcome, found.call.transport !== null);
    // A journal that is not settled yet: what is open in it may have been sent.
    const open = (await readOpenCalls(places, clock)).find(({ call_id }) => call_id === id);
    if (open !== undefined && open.outcome !== 'held') return { kind: 'interrupted' };
    return clock.now() - claimed < certainMs ? { kind: 'not-sent' } : { kind: 'unrecorded' };
  };
}

/** A call that was sent has a transport. */
function fateBy(outcome: string, wasSent: boolean): Awaited<ReturnType<FateOf>> {
  if (!wasSent) return { kind: 'not-sent' };
  return outcome === 'interrupted' ? { kind: 'interrupted' } : { kind: 'ended', outcome };
}
