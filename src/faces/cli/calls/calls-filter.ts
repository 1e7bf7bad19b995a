import { type Command, Option } from 'commander';
import { HubError } from '../../../base/index.ts';
import type { Outcome } from '../../../domain/index.ts';
import type { CallLine } from '../../../ledger/index.ts';
import { checkRun } from '../agents/agent-option.ts';
import { withChoices } from '../word-choices.ts';

/** The filter options as given on the command line. */
export interface CallsFilterOptions {
  readonly run?: string;
  readonly agent?: string;
  readonly server?: string;
  readonly status?: CallLine['status'];
  readonly outcome?: string;
  readonly since?: string;
  readonly shadow?: boolean;
}

export interface CallsFilter {
  readonly run: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
  /** Undefined if every call of the run matches. */
  readonly where: ((call: CallLine) => boolean) | undefined;
}

export function withCallsFilter(command: Command): Command {
  return command
    .option('--run <id>', 'only calls of this run')
    .option('--agent <name>', 'only calls by this agent')
    .option('--server <name>', 'only calls to this server')
    .addOption(withChoices(new Option('--status <word>', 'only calls with this status'), ['ok', 'error', 'open']))
    .addOption(withChoices(new Option('--outcome <word>', 'only calls with this outcome'), Object.keys(outcomes)))
    .option('--since <time>', 'only calls of the last 30m, 2h or 7d')
    .option('--shadow', 'only calls that the shadow policy would have decided differently');
}

export function readCallsFilter(options: CallsFilterOptions, now: number): CallsFilter {
  const { agent, server, status, outcome, since, shadow } = options;
  const wanted = [
    ...(shadow === true ? [(call: CallLine) => call.shadow !== undefined && call.shadow !== call.decision] : []),
    ...(agent === undefined ? [] : [(call: CallLine) => call.agent === agent]),
    ...(server === undefined ? [] : [(call: CallLine) => call.server === server]),
    ...(status === undefined ? [] : [(call: CallLine) => call.status === status]),
    ...(outcome === undefined ? [] : [(call: CallLine) => call.outcome === outcome]),
  ];
  return {
    run: checkRun(options.run),
    since: since === undefined ? undefined : now - readDuration(since),
    where: wanted.length === 0 ? undefined : (call) => wanted.every((fits) => fits(call)),
  };
}

/** For calls from a reader that does not apply the filter. */
export function fitsFilter({ run, since, where }: CallsFilter, call: CallLine): boolean {
  if (run !== undefined && call.run_id !== run) return false;
  if (since !== undefined && !(Date.parse(call.ts) >= since)) return false;
  return where === undefined || where(call);
}

/** A record by key, so that the compiler reports a missing outcome. */
const outcomes: Readonly<Record<Outcome | 'open' | 'held', true>> = {
  ok: true,
  tool_error: true,
  upstream_error: true,
  denied: true,
  rate_limited: true,
  overloaded: true,
  result_dropped: true,
  timeout: true,
  cancelled: true,
  unavailable: true,
  lost: true,
  needs_login: true,
  forbidden: true,
  throttled: true,
  interrupted: true,
  void: true,
  invalid: true,
  unknown_tool: true,
  input_required: true,
  pending: true,
  task: true,
  input_missing: true,
  open: true,
  held: true,
};

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `--since` in milliseconds. */
export function readDuration(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,8})([smhd])$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  if (ms > 0) return ms;
  throw new HubError('USAGE', `"${text.slice(0, 40)}" is not a length of time.`, {
    hint: 'Write --since with a whole number and a unit: 90s, 30m, 2h or 7d.',
  });
}

export function readLimit(text: string, what: 'calls' | 'acts'): number {
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (limit > 0) return limit;
  throw new HubError('USAGE', `"${text.slice(0, 40)}" is not a number of ${what}.`, {
    hint: 'Write --limit 50.',
  });
}
