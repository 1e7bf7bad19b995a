import { isJsonObject } from '../../base/index.ts';
import { type Outcome, runIdPattern, type TransportKind, transportKinds } from '../../domain/index.ts';
import { isGood } from '../records/call-text.ts';
import { type RecordHead, recordHead } from '../records/record-head.ts';
import { mayLeadOut } from '../suspicious-path.ts';
import {
  type CallCounter,
  type CallStatistics,
  type CountedFacts,
  type CountedStart,
  isProbe,
} from './call-statistics.ts';

/** Counts the calls of a journal from its lines. */
export interface JournalTally {
  /** The lines of a process life, in order. */
  add(lines: readonly string[]): void;
  /** Ids of another life are others. */
  endLife(): void;
  /** The number of runs with calls of agents, and of damaged records. */
  result(): Pick<CallStatistics, 'runs' | 'unreadable_lines'>;
}

interface CountedEnd {
  readonly outcome: string;
  readonly ms: number | null;
}

/**
 * A journal may have a gigabyte, so as little as possible is parsed: most calls share their facts with others, most ends
 * are alike, and most arguments have nothing that could be a path out of the workspace.
 */
export function createJournalTally(counter: CallCounter, run: string | undefined): JournalTally {
  const starts = new Map<string, CountedStart>();
  const facts = createFactsCache();
  const runs = new Set<string>();
  let unreadable = 0;

  function count(id: string, start: CountedStart | undefined, end: CountedEnd | undefined, cached: boolean): void {
    if (start === undefined || end === undefined) {
      unreadable++;
      return;
    }
    if (run !== undefined && start.facts.run_id !== run) return;
    const { outcome, ms } = end;
    // A newer hub may have written an outcome that this version does not know; it counts as an error.
    const status = isGood(outcome as Outcome) ? 'ok' : 'error';
    if (counter.add({ call_id: id, start, status, outcome, duration_ms: ms, cached })) runs.add(start.facts.run_id);
  }

  function startOf(line: string, { ts, end: membersAt }: RecordHead): CountedStart | undefined {
    const argsAt = line.indexOf(argsMember, membersAt);
    const shared = argsAt < 0 ? undefined : facts.of(line.slice(membersAt, argsAt));
    if (shared === undefined) return undefined;
    const text = line.slice(argsAt + argsMember.length, -1);
    const isOperators = shared.agent === 'operator';
    // Arguments that were cut have more members after them.
    const args = isOperators || mayLeadOut(text) ? parseObject(`{"args":${text}}`) : undefined;
    if (args === undefined) return { ts, facts: shared, isProbe: false, suspicion: undefined };
    return { ts, facts: shared, isProbe: isProbe(shared, args.args), suspicion: counter.suspicion(args.args) };
  }

  function addLine(line: string): void {
    const head = recordHead(line);
    if (head === undefined) return;
    const { kind, id } = head;
    if (kind === 'sent' || kind === 'held') {
      const start = startOf(line, head);
      if (start === undefined) unreadable++;
      else starts.set(id, start);
    } else if (kind === 'done') {
      const start = starts.get(id);
      starts.delete(id);
      // Without a start, that is in a file which retention removed.
      if (start !== undefined) count(id, start, endOf(line, head.end), false);
    } else if (kind === 'refused' || kind === 'cached') {
      starts.delete(id);
      const members = parseObject(line);
      count(id, startOf(line, head), members && endIn(members), kind === 'cached');
    }
  }

  return {
    add: (lines) => lines.forEach(addLine),
    endLife: () => starts.clear(),
    result: () => ({ runs: runs.size, unreadable_lines: unreadable }),
  };
}

const argsMember = ',"args":';

/** The facts of a call from the members between its id and its arguments. Most calls have the same text there. */
function createFactsCache(): { of(members: string): CountedFacts | undefined } {
  const known = new Map<string, CountedFacts | undefined>();
  return {
    of(members) {
      const found = known.get(members);
      if (found !== undefined) return found;
      if (known.size >= mostFacts) known.clear();
      const facts = factsOf(parseObject(`{${members.slice(1)}}`));
      if (facts !== undefined) known.set(Buffer.from(members).toString(), facts);
      return facts;
    },
  };
}

const mostFacts = 10_000;

function factsOf(fields: Fields | undefined): CountedFacts | undefined {
  if (fields === undefined) return undefined;
  const { run, server, tool, method, agent, decision, transport } = fields;
  if (typeof run !== 'string' || !runIdPattern.test(run)) return undefined;
  if (typeof tool !== 'string' || typeof agent !== 'string' || typeof decision !== 'string') return undefined;
  if (typeof server !== 'string' && server !== null) return undefined;
  const asked = typeof method === 'string' ? { method } : {};
  return { run_id: run, server, tool, ...asked, agent, transport: isTransport(transport) ? transport : null };
}

function isTransport(value: unknown): value is TransportKind {
  return transportKinds.some((kind) => kind === value);
}

/** Most calls end well, with the same text around their duration. */
function endOf(line: string, membersAt: number): CountedEnd | undefined {
  if (line.startsWith(goodEnd, membersAt)) {
    const from = membersAt + goodEnd.length;
    const to = line.indexOf(',', from);
    const ms = Number(line.slice(from, to));
    if (line.startsWith(noError, to) && Number.isFinite(ms)) return { outcome: 'ok', ms };
  }
  const members = parseObject(line);
  return members && endIn(members);
}

const goodEnd = ',"outcome":"ok","ms":';
const noError = ',"error":null,';

function endIn({ outcome, ms }: Fields): CountedEnd | undefined {
  if (typeof outcome !== 'string' || !/^[a-z_]+$/.test(outcome)) return undefined;
  return { outcome, ms: typeof ms === 'number' && Number.isFinite(ms) ? ms : null };
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
