import { isMissing, readLineChunks } from '../journal/line-chunks.ts';
import { runNames } from '../reading/run-copies.ts';
import { recordHead } from '../records/record-head.ts';
import { callIdOf, runFilesOf } from '../runs/run-file.ts';
import { CallIds } from './call-ids.ts';
import type { LedgerFinding } from './ledger-finding.ts';

/** Compares the run files with the journal, call by call. */
export interface RunCheck {
  addRecords(lines: readonly string[]): void;
  /** Calls in run files that began before `oldest` are not judged: the journal does not reach back so far. */
  compare(oldest: string, found: (finding: LedgerFinding) => void): Promise<void>;
}

export function createRunCheck(workspace: string): RunCheck {
  const ended = new Map<string, CallIds>();
  /** Calls that a run file may have or not. */
  const former = new Map<string, readonly CallIds[]>();
  /** The run of each call that has begun and not ended. */
  const open = new Map<string, string>();

  function end(run: string, id: string): void {
    const ids = ended.get(run) ?? new CallIds();
    ended.set(run, ids);
    ids.add(id);
  }

  /** Retention removed a file of the run, so nobody expects the calls before that in it. */
  function forget(run: string): void {
    const before = ended.get(run);
    if (before === undefined) return;
    ended.delete(run);
    former.set(own(run), [...(former.get(run) ?? []), before]);
  }

  return {
    addRecords(lines) {
      for (const line of lines) {
        const head = recordHead(line);
        if (head === undefined) {
          const run = prunedRun(line);
          if (run !== undefined) forget(run);
          continue;
        }
        const { kind, id } = head;
        const run = open.get(id) ?? runOf(line);
        if (kind === 'sent' || kind === 'held') {
          if (run !== undefined) open.set(own(id), own(run));
          continue;
        }
        open.delete(id);
        // Its beginning is in a file that retention removed.
        if (run !== undefined) end(own(run), id);
      }
    },
    async compare(oldest, found) {
      const names = new Set([...ended.keys(), ...(await runNames(workspace, undefined))]);
      for (const run of names) {
        const expected = ended.get(run) ?? new CallIds();
        const { present, adds } = await readRun(
          runFilesOf(workspace, run),
          { expected, former: former.get(run) },
          oldest,
        );
        const lacks = expected.size - present;
        if (lacks > 0 || adds > 0) found({ kind: 'run-file', run, lacks, adds });
      }
    },
  };
}

async function readRun(
  paths: readonly string[],
  { expected, former = [] }: { readonly expected: CallIds; readonly former: readonly CallIds[] | undefined },
  oldest: string,
): Promise<{ readonly present: number; readonly adds: number }> {
  const seen = new CallIds();
  let [present, adds] = [0, 0];
  try {
    for (const path of paths) {
      for await (const { lines } of readLineChunks(path)) {
        for (const line of lines) {
          const id = callIdOf(line);
          if (id === undefined || former.some((ids) => ids.has(id))) continue;
          if (!expected.has(id)) adds += isOlder(line, oldest) ? 0 : 1;
          else if (!seen.has(id)) present++;
          seen.add(id);
        }
      }
    }
  } catch (error) {
    if (!isMissing(error) && !(error instanceof Error && 'code' in error)) throw error;
  }
  return { present, adds };
}

function isOlder(line: string, oldest: string): boolean {
  return line.startsWith(lineStart) && line.slice(lineStart.length, lineStart.length + oldest.length) < oldest;
}

function prunedRun(line: string): string | undefined {
  if (!line.startsWith(prunedRunStart)) return undefined;
  const [, run] = /"run":"([\w-]+)"/.exec(line) ?? [];
  return run;
}

/** The run of a record, which comes after the id and before any text of a caller. */
function runOf(line: string): string | undefined {
  const at = line.indexOf(runMember);
  if (at < 0) return undefined;
  const begin = at + runMember.length;
  return line.slice(begin, line.indexOf('"', begin));
}

/** A copy: a slice would keep the text of the whole chunk in memory. */
function own(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

const prunedRunStart = '{"k":"pruned-run"';
const runMember = '","run":"';
const lineStart = '{"ts":"';
