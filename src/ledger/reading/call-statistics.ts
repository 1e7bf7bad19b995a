import { isPrivilegedName } from '../privileged-name.ts';
import type { CallLine } from '../records/call-line.ts';
import { findSuspiciousPath, type SuspiciousValue } from '../suspicious-path.ts';
import { Latency, type LatencySummary } from './latency.ts';

/** The statistics `qm summarize` prints about ended calls. */
export interface CallStatistics {
  readonly total_calls: number;
  readonly total_errors: number;
  readonly calls_by_server: Readonly<Record<string, number>>;
  /** Errors divided by calls, to three decimals; 0 without calls. */
  readonly error_rate: number;
  readonly errors_by_server: Readonly<Record<string, number>>;
  /** Calls answered from the cache, without their server. */
  readonly cached_calls: number;
  readonly cached_by_server: Readonly<Record<string, number>>;
  /** Calls to names that no server has. */
  readonly calls_without_server: number;
  readonly calls_by_agent: Readonly<Record<string, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  /**
   * In milliseconds, by `server.tool`, or `server.resources/read` and the like. Counts only
   * calls that reached the server,
   * because refusals take no time.
   */
  readonly latency_by_tool: Readonly<Record<string, LatencySummary>>;
  /** Calls refused by a configured limit or throttled by the server. */
  readonly rate_limit_hits: number;
  readonly rate_limit_hits_by_server: Readonly<Record<string, number>>;
  /** The number of calls with a suspicious value. The list has the first 100 of them. */
  readonly suspicious_calls: number;
  readonly suspicious_paths: readonly SuspiciousCall[];
  /** Attempts by `server.tool`. */
  readonly privileged_operations: Readonly<Record<string, number>>;
  /** The start of the first call and of the last one. */
  readonly first_ts: string | null;
  readonly last_ts: string | null;
  readonly runs: number;
  /** Probes of `qm doctor` and `qm inspect`. They are no calls of agents, and count nowhere else. */
  readonly probes: number;
  /** Torn lines, and lines that are not call lines. */
  readonly unreadable_lines: number;
  /** Run files that could not be read at all. */
  readonly unreadable_files: readonly string[];
}

export interface SuspiciousCall extends SuspiciousValue {
  readonly call_id: string;
  readonly run_id: string;
  readonly agent: string;
  readonly tool: string;
}

/** The start of a call, without the arguments: only the suspicious part of them is counted. */
export interface CountedStart {
  readonly ts: string;
  readonly facts: CountedFacts;
  readonly isProbe: boolean;
  readonly suspicion: SuspiciousValue | undefined;
}

/** The part that many calls have in common, so that they share one object. */
export type CountedFacts = Pick<CallLine, 'server' | 'tool' | 'method' | 'agent' | 'run_id' | 'transport'>;

export interface CountedCall {
  readonly call_id: string;
  readonly start: CountedStart;
  readonly status: string;
  readonly outcome: string;
  readonly duration_ms: number | null;
  readonly cached: boolean;
}

type ProbeFacts = Pick<CallLine, 'agent' | 'tool' | 'method'>;

/** Counts calls one at a time, in bounded memory. */
export class CallCounter {
  readonly #roots: readonly string[];
  #calls = 0;
  #errors = 0;
  #withoutServer = 0;
  #cached = 0;
  #suspicious = 0;
  #probes = 0;
  #rateLimitHits = 0;
  #firstTs: string | null = null;
  #lastTs: string | null = null;
  readonly #suspiciousPaths: SuspiciousCall[] = [];
  readonly #byServer = new Tally();
  readonly #errorsByServer = new Tally();
  readonly #cachedByServer = new Tally();
  readonly #byAgent = new Tally();
  readonly #outcomes = new Tally();
  readonly #limitsByServer = new Tally();
  readonly #privileged = new Tally();
  readonly #latency = new Map<string, Latency>();

  /** `roots` are the paths of the workspace itself. */
  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** Returns whether it is a call of an agent. */
  addLine(call: CallLine): boolean {
    const { ts, args, call_id, status, outcome, duration_ms } = call;
    const start = { ts, facts: call, isProbe: isProbe(call, args), suspicion: this.suspicion(args) };
    return this.add({ call_id, start, status, outcome, duration_ms, cached: call.cached === true });
  }

  /** The first value of the arguments that leads out of the workspace. */
  suspicion(args: unknown): SuspiciousValue | undefined {
    return findSuspiciousPath(args, this.#roots);
  }

  /** Returns whether it is a call of an agent. */
  add(call: CountedCall): boolean {
    const { status, outcome } = call;
    const { facts, ts } = call.start;
    if (call.start.isProbe) {
      this.#probes++;
      return false;
    }
    const { server } = facts;
    this.#calls++;
    if (server === null) this.#withoutServer++;
    else this.#byServer.count(server);
    if (status === 'error') {
      this.#errors++;
      if (server !== null) this.#errorsByServer.count(server);
    }
    if (call.cached) {
      this.#cached++;
      if (server !== null) this.#cachedByServer.count(server);
    }
    this.#byAgent.count(facts.agent);
    this.#outcomes.count(outcome);
    if (outcome === 'rate_limited' || outcome === 'throttled') {
      this.#rateLimitHits++;
      if (server !== null) this.#limitsByServer.count(server);
    }
    if (this.#firstTs === null || ts < this.#firstTs) this.#firstTs = ts;
    if (this.#lastTs === null || ts > this.#lastTs) this.#lastTs = ts;
    this.#timeCall(call);
    this.#inspect(call);
    return true;
  }

  result(read: Pick<CallStatistics, 'runs' | 'unreadable_lines' | 'unreadable_files'>): CallStatistics {
    return {
      total_calls: this.#calls,
      total_errors: this.#errors,
      calls_by_server: this.#byServer.result(),
      error_rate: this.#calls === 0 ? 0 : Math.round((this.#errors / this.#calls) * 1000) / 1000,
      errors_by_server: this.#errorsByServer.result(),
      cached_calls: this.#cached,
      cached_by_server: this.#cachedByServer.result(),
      calls_without_server: this.#withoutServer,
      calls_by_agent: this.#byAgent.result(),
      outcomes: this.#outcomes.result(),
      latency_by_tool: Object.fromEntries(
        [...this.#latency]
          .map(([tool, latency]): [string, LatencySummary] => [tool, latency.summary()])
          .sort(([, a], [, b]) => b.count - a.count),
      ),
      rate_limit_hits: this.#rateLimitHits,
      rate_limit_hits_by_server: this.#limitsByServer.result(),
      suspicious_calls: this.#suspicious,
      suspicious_paths: this.#suspiciousPaths,
      privileged_operations: this.#privileged.result(),
      first_ts: this.#firstTs,
      last_ts: this.#lastTs,
      probes: this.#probes,
      ...read,
    };
  }

  #timeCall({ duration_ms, start: { facts } }: CountedCall): void {
    const { server, tool, method, transport } = facts;
    if (server === null || duration_ms === null || transport === null) return;
    // Resources share one entry per server: a server may have any number of them, each read once or twice.
    const name = `${server}.${method ?? tool}`;
    let latency = this.#latency.get(name);
    if (latency === undefined) {
      if (this.#latency.size >= maxNames) return;
      latency = new Latency();
      this.#latency.set(ownText(name), latency);
    }
    latency.add(duration_ms);
  }

  #inspect(call: CountedCall): void {
    const { call_id, start } = call;
    const { server, agent, run_id, method } = start.facts;
    const found = start.suspicion;
    const tool = server === null ? start.facts.tool : `${server}.${start.facts.tool}`;
    // Other methods only read, whatever the name suggests.
    if (method === undefined && isPrivilegedName(start.facts.tool)) this.#privileged.count(tool);
    if (found === undefined) return;
    this.#suspicious++;
    if (this.#suspiciousPaths.length < maxSuspicious)
      this.#suspiciousPaths.push({ call_id: ownText(call_id), run_id, agent, tool, ...found });
  }
}

/** As the hub records them: by the operator, with the transports as the arguments. */
export function isProbe({ agent, tool, method }: ProbeFacts, args: unknown): boolean {
  if (agent !== 'operator' || method !== undefined || (tool !== 'doctor' && tool !== 'inspect')) return false;
  // Arguments that were cut are a text.
  if (typeof args === 'string') return args.startsWith('{"transports":[');
  return typeof args === 'object' && args !== null && 'transports' in args && Array.isArray(args.transports);
}

const maxSuspicious = 100;
/** Callers can invent any number of tool names; names beyond this limit are left out. */
const maxNames = 1000;
const longestName = 256;

class Tally {
  readonly #counts = new Map<string, number>();

  count(name: string): void {
    const before = this.#counts.get(name);
    if (before !== undefined) this.#counts.set(name, before + 1);
    else if (this.#counts.size < maxNames && name.length <= longestName) this.#counts.set(ownText(name), 1);
  }

  /** Highest count first, then by name. */
  result(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)));
  }
}

/** A copy: a slice would keep the text of the whole chunk in memory. */
function ownText(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
