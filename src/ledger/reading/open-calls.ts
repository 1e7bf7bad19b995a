import { type Clock, createSystemClock } from '../../base/index.ts';
import type { JournalName } from '../journal/journal-name.ts';
import { type RecordedStart, startedCall } from '../journal/journal-reader.ts';
import { isMissing } from '../journal/line-chunks.ts';
import { isInUse, journalLives } from '../journal/recovery.ts';
import { journalSegments, segmentLines } from '../journal/segments.ts';
import { journalFolder, type LedgerPlaces } from '../places.ts';
import { type CallLine, parseCallLine } from '../records/call-line.ts';
import { runLine } from '../records/call-text.ts';
import { interruptedParts } from '../records/end-text.ts';
import { recordHead } from '../records/record-head.ts';
import { newestCalls, type RecordedCall } from './recorded-call.ts';

/** Calls of living hubs that are sent or held and have no end yet. */
export async function readOpenCalls(places: LedgerPlaces, clock: Clock = createSystemClock()): Promise<CallLine[]> {
  return (await readRecordedOpenCalls(places, clock)).map(({ call }) => call);
}

export async function readRecordedOpenCalls(places: LedgerPlaces, clock: Clock): Promise<RecordedCall[]> {
  const folder = journalFolder(places);
  const calls: RecordedCall[] = [];
  for (const life of await journalSegments(folder)) {
    const written = life.filter(({ holder }) => holder === 'writer');
    const [first] = written;
    if (first === undefined || !(await isInUseNow(clock, folder, written))) continue;
    // A call may begin in a file that another call keeps open, and end in one that is sealed.
    const sources = life.filter(({ number }) => number >= first.number);
    for (const line of (await openStarts(folder, sources)).values()) calls.push(...openCall(line));
  }
  return newestCalls(calls, Infinity);
}

/** The records of calls without an end, by call id. */
async function openStarts(folder: string, names: readonly JournalName[]): Promise<Map<string, string>> {
  const starts = new Map<string, string>();
  for (const name of names) {
    for await (const { lines } of segmentLines(folder, name)) {
      for (const line of lines) {
        const head = recordHead(line);
        if (head?.kind === 'sent' || head?.kind === 'held') starts.set(head.id, line);
        else if (head !== undefined) starts.delete(head.id);
      }
    }
  }
  return starts;
}

/** Whether a hub died and left calls without an end. The next hub to start ends them. */
export async function hasUnsettledCalls(places: LedgerPlaces, clock: Clock): Promise<boolean> {
  const folder = journalFolder(places);
  for (const life of await journalLives(folder)) if (!(await isInUseNow(clock, folder, life, true))) return true;
  return false;
}

async function isInUseNow(
  clock: Clock,
  folder: string,
  life: readonly JournalName[],
  whenGone = false,
): Promise<boolean> {
  try {
    return await isInUse({ clock }, folder, life);
  } catch (error) {
    // Its hub stopped meanwhile and sealed the file.
    if (isMissing(error)) return whenGone;
    throw error;
  }
}

function openCall(line: string): RecordedCall[] {
  const start: RecordedStart | undefined = startedCall(line);
  if (start === undefined) return [];
  const { parts, connection } = start;
  const ended = parseCallLine(runLine(parts, connection, interruptedParts()));
  if (ended === undefined) return [];
  const outcome = recordHead(line)?.kind === 'held' ? 'held' : 'open';
  const call: CallLine = { ...ended, status: 'open', outcome, error: null };
  // This text cannot occur before the arguments, because quotes inside strings are escaped.
  const { args_length: _length, args_sha256: _sha256, ...rest } = call;
  const text = JSON.stringify({ ...rest, args: null }).replace('"args":null', () => `"args":${parts.args}`);
  return [{ call, text }];
}
