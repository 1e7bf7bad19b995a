import { HubError } from '../../base/index.ts';
import { runIdPattern } from '../../domain/index.ts';
import type { EndedRecord } from '../journal/journal-reader.ts';
import { journalFolder, type LedgerPlaces } from '../places.ts';
import { type CallLine, parseCallLine } from '../records/call-line.ts';
import { runLine } from '../records/call-text.ts';
import { type EndedPair, hasRecordedCalls, scanJournal } from './journal-calls.ts';
import { compareStarts, isWantedCall, newestCalls, type ReadCallsOptions, type RecordedCall } from './recorded-call.ts';
import { readCopiedCalls } from './run-copies.ts';

/** Ended calls of all runs, sorted by their start, newest last. */
export async function readCalls(places: LedgerPlaces, options: ReadCallsOptions = {}): Promise<CallLine[]> {
  return (await readRecordedCalls(places, options)).calls.map(({ call }) => call);
}

export interface RecordedCalls {
  /** `copies`: the journal has no calls at all, so these are from the run files, and nothing vouches for them. */
  readonly source: 'journal' | 'copies';
  readonly calls: RecordedCall[];
}

/** Run files are read only for a workspace without a journal: agents with a file tool can change them. */
export async function readRecordedCalls(places: LedgerPlaces, options: ReadCallsOptions = {}): Promise<RecordedCalls> {
  checkRunId(options.run);
  const folder = journalFolder(places);
  const calls = await readJournalCalls(folder, options);
  if (calls.length > 0 || (await hasRecordedCalls(folder))) return { source: 'journal', calls };
  return { source: 'copies', calls: await readCopiedCalls(places.workspace, options) };
}

export function checkRunId(run: string | undefined): void {
  if (run === undefined || runIdPattern.test(run)) return;
  throw new HubError('USAGE', `"${run}" is not a run id.`, { hint: 'Use letters, digits, _ and -, at most 64.' });
}

async function readJournalCalls(folder: string, options: ReadCallsOptions): Promise<RecordedCall[]> {
  const { limit = Infinity, run, since, where } = options;
  const isPicky = run !== undefined || since !== undefined || where !== undefined;
  let found: Candidate[] = [];
  for await (const { pairs, until } of scanJournal(folder, since === undefined ? {} : { since })) {
    for (const pair of pairs) {
      if (!isPicky) found.push({ pair, read: () => recordedCall(pair) });
      else {
        const recorded = recordedCall(pair);
        if (recorded !== undefined && isWantedCall(recorded.call, options)) {
          found.push({ pair, read: () => recorded });
        }
      }
    }
    found = newest(found, limit);
    const [oldest] = found;
    if (limit === 0 || (found.length === limit && oldest !== undefined && Date.parse(oldest.pair.ts) > until)) break;
  }
  return newestCalls(
    found.flatMap(({ read }) => read() ?? []),
    limit,
  );
}

interface Candidate {
  readonly pair: EndedPair;
  read(): RecordedCall | undefined;
}

function newest(calls: Candidate[], limit: number): Candidate[] {
  if (limit === Infinity) return calls;
  calls.sort((a, b) => compareStarts(a.pair, b.pair));
  return calls.slice(Math.max(0, calls.length - limit));
}

/** Undefined if a record is damaged. */
export function recordedCall(pair: Pick<EndedPair, 'parse'>): RecordedCall | undefined {
  const ended = pair.parse();
  return ended === undefined ? undefined : lineOf(ended);
}

function lineOf({ call: { parts, connection }, end }: EndedRecord): RecordedCall | undefined {
  const text = runLine(parts, connection, end).slice(0, -1);
  const call = parseCallLine(text);
  return call === undefined ? undefined : { call, text };
}
