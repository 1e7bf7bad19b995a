import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/index.ts';
import type { ChainHead, SegmentHead } from '../journal/chain.ts';
import type { JournalName } from '../journal/journal-name.ts';
import { isMissing } from '../journal/line-chunks.ts';
import { isInUse } from '../journal/recovery.ts';
import { journalSegments } from '../journal/segments.ts';
import { journalFolder, type LedgerPlaces } from '../places.ts';
import { type CheckedSegment, checkSegment, type PrunedSegment } from './checked-segment.ts';
import { isProblem, type LedgerFinding } from './ledger-finding.ts';
import { createRunCheck } from './run-check.ts';

export interface VerifyOptions {
  /** A head that somebody kept: the ledger must still contain it. */
  readonly head?: ChainHead;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface LedgerReport {
  readonly ok: boolean;
  readonly segments: number;
  /** The number of journal writes, each with its hash. */
  readonly writes: number;
  readonly records: number;
  /** At most a thousand, problems first. */
  readonly findings: readonly LedgerFinding[];
  readonly problems: number;
}

/** Checks every write of the journal, the chain through all its files, and the run files against it. */
export async function verifyLedger(
  { clock }: { readonly clock: Clock },
  places: LedgerPlaces,
  options: VerifyOptions = {},
): Promise<LedgerReport> {
  const folder = journalFolder(places);
  const lives = await journalSegments(folder);
  const findings: LedgerFinding[] = [];
  const found = (finding: LedgerFinding): void => void findings.push(finding);
  const pruned = new Map<string, PrunedSegment>();
  const runs = createRunCheck(places.workspace);
  const checked: CheckedSegment[] = [];
  let [writes, records, hasHead] = [0, 0, options.head === undefined];
  const onHead = ({ seq, hash }: ChainHead, lines: readonly string[]): void => {
    writes++;
    records += lines.length;
    if (hash === options.head?.hash && seq === options.head.seq) hasHead = true;
    runs.addRecords(lines);
  };
  const progress = await createProgress(folder, lives, options.onProgress);
  for (const life of lives) {
    const inUse = await isLifeInUse(clock, folder, life);
    const onPruned = (segment: PrunedSegment): void => void pruned.set(segment.hash, segment);
    for (const name of life) {
      const segment = await checkSegment({ folder, isInUse: inUse, found, onHead, onPruned }, name);
      if (segment !== undefined) checked.push(segment);
      progress(name);
    }
  }
  checkLinks(checked, pruned, found);
  if (!hasHead && options.head !== undefined) found(judgeHead(options.head, pruned));
  if (checked.length > 0) await runs.compare(oldestOf(checked), found);
  const problems = findings.filter(isProblem);
  const shown = [...problems, ...findings.filter((finding) => !isProblem(finding))].slice(0, mostFindings);
  return {
    ok: problems.length === 0,
    segments: checked.length,
    writes,
    records,
    findings: shown,
    problems: problems.length,
  };
}

const mostFindings = 1000;

/** Every head that a header names must be the end of a file that is there, unless retention removed that. */
function checkLinks(
  checked: readonly CheckedSegment[],
  pruned: ReadonlyMap<string, PrunedSegment>,
  found: (finding: LedgerFinding) => void,
): void {
  const ends = new Set(checked.map(({ last }) => last?.hash));
  const byPlace = new Map(
    checked.map((segment) => [placeOf({ life: segment.name.boot, file: segment.file }), segment]),
  );
  const told = new Set<string>();
  for (const head of checked.flatMap(({ after }) => after)) {
    if (ends.has(head.hash) || told.has(head.hash)) continue;
    told.add(head.hash);
    const [removed, there] = [pruned.get(head.hash), byPlace.get(placeOf(head))];
    const { seq } = head;
    if (there !== undefined) {
      found({ kind: 'other-end', file: there.name.original, seq, foundSeq: there.last?.seq ?? 0 });
    } else if (removed !== undefined) found({ kind: 'expired', file: placeOf(head), seq, why: removed.why });
    else found({ kind: 'missing', file: placeOf(head), seq });
  }
}

function placeOf({ life, file }: Pick<SegmentHead, 'life' | 'file'>): string {
  return `${life}.${file}`;
}

function judgeHead(head: ChainHead, pruned: ReadonlyMap<string, PrunedSegment>): LedgerFinding {
  const isExpired = [...pruned.values()].some(({ seq }) => seq >= head.seq);
  return { kind: isExpired ? 'head-expired' : 'head-missing', ...head };
}

function oldestOf(checked: readonly CheckedSegment[]): string {
  return checked.reduce<string>((oldest, { created }) => {
    return created !== undefined && created < oldest ? created : oldest;
  }, '9');
}

async function isLifeInUse(clock: Clock, folder: string, life: readonly JournalName[]): Promise<boolean> {
  const open = life.filter(({ holder }) => holder !== 'sealed');
  try {
    return open.length > 0 && (await isInUse({ clock }, folder, open));
  } catch (error) {
    // Its hub sealed the file meanwhile.
    if (isMissing(error)) return true;
    throw error;
  }
}

async function createProgress(
  folder: string,
  lives: readonly (readonly JournalName[])[],
  onProgress: VerifyOptions['onProgress'],
): Promise<(name: JournalName) => void> {
  if (onProgress === undefined) return () => {};
  const sizes = new Map<string, number>();
  for (const name of lives.flat()) sizes.set(name.original, await sizeOf(join(folder, name.file)));
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  let done = 0;
  return ({ original }) => {
    done += sizes.get(original) ?? 0;
    onProgress(done, total);
  };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
