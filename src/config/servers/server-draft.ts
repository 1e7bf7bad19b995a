import type {
  BuiltinName,
  CacheSettings,
  ClientRules,
  ContentLabels,
  Isolation,
  ResultSettings,
  RootsSource,
  ServerLimits,
  ToolFilter,
} from '../../domain/index.ts';
import { type Finding, quote } from '../findings.ts';
import { namePattern } from '../schema.ts';
import type { ParsedTemplate } from '../variables/interpolation.ts';

/** One server as a file describes it: its shape is checked, its variables are not expanded yet. */
export interface ServerDraft {
  readonly name: string;
  readonly line: number;
  /** Dotted path of the server within its file. */
  readonly field: string;
  readonly findings: readonly Finding[];
  /** The file from which this one was generated. */
  readonly madeFrom?: string | undefined;
  /** Undefined if the findings leave nothing usable. */
  readonly body: ServerBody | undefined;
  /** It is not meant to run. */
  readonly isSample?: true;
  /** The entry restricts something that cannot be understood. */
  readonly unclear?: true;
}

export interface ServerBody {
  readonly description: string | undefined;
  readonly enabled: boolean;
  readonly shared: boolean;
  readonly transport: TransportDraft;
  readonly fallbacks: readonly TransportDraft[];
  readonly tools: ToolFilter;
  readonly limits: ServerLimits;
  readonly access: AccessDraft;
  /** Further rules from the file. Each list is evaluated separately. */
  readonly rules?: readonly ClientRules[];
  /** Undefined: shared. */
  readonly isolation?: Isolation | undefined;
  /** Undefined: none. */
  readonly roots?: RootsSource | undefined;
  /** Set: the server works on files of this machine. */
  readonly paths?: 'local' | undefined;
  readonly labels?: ContentLabels | undefined;
  readonly results?: ResultSettings | undefined;
  readonly cache?: CacheSettings | undefined;
  readonly instead: string | undefined;
}

/** The access settings. `readOnly` may contain a variable. */
export interface AccessDraft {
  /** Undefined: none are written. */
  readonly scopes: readonly string[] | undefined;
  readonly readOnly: boolean | WrittenText;
  readonly writeRequiresApproval: boolean;
  readonly trustAnnotations: boolean;
  readonly line: number;
}

/** No access settings are written. */
export function fullAccess(line: number): AccessDraft {
  return { scopes: undefined, readOnly: false, writeRequiresApproval: false, trustAnnotations: false, line };
}

/** Whether the entry restricts agents in any way. */
export function restricts({ enabled, tools, access, rules, limits }: Omit<ServerBody, 'transport'>): boolean {
  const { scopes, readOnly, writeRequiresApproval } = access;
  const lists = tools.include !== undefined || (tools.exclude ?? []).length > 0;
  const statement = scopes !== undefined || readOnly !== false || writeRequiresApproval;
  return !enabled || lists || statement || (rules ?? []).length > 0 || limits.ratePerMin !== undefined;
}

export type TransportDraft =
  | (ProgramParts & { readonly type: 'stdio'; readonly command: WrittenText })
  | (ProgramParts & { readonly type: 'builtin'; readonly builtin: BuiltinName })
  | { readonly type: 'http' | 'sse'; readonly url: WrittenText; readonly headers: ReadonlyMap<string, WrittenText> };

interface ProgramParts {
  readonly args: readonly WrittenText[];
  readonly env: ReadonlyMap<string, WrittenText>;
  readonly cwd: WrittenText | undefined;
}

/** The settings of a program that runs as a child process or inside the hub. */
export type ProgramDraft = Extract<TransportDraft, ProgramParts>;

export function isProgram(transport: TransportDraft): transport is ProgramDraft {
  return transport.type === 'stdio' || transport.type === 'builtin';
}

/** The server being read, for messages. */
export interface ServerPlace {
  readonly name: string;
  readonly line: number;
  readonly field: string;
}

/** Text that may contain variables, with its position. */
export interface WrittenText {
  readonly text: string;
  readonly line: number;
  /** Within the server: `args.2`, `headers.Authorization`. */
  readonly field: string;
  /** Set if the format does not express variables as text. `text` is then ignored. */
  readonly template?: ParsedTemplate;
  /** `omit`: leave out the header or environment entry while its variable is not set. */
  readonly whenMissing?: 'omit';
}

export interface WrittenLimits {
  readonly timeoutMs?: number | undefined;
  readonly maxMs?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly ratePerMin?: number | undefined;
  readonly graceMs?: number | undefined;
  readonly maxResultBytes?: number | undefined;
}

/** A timeout above the default total raises the total too. */
export function completeLimits(written: WrittenLimits): ServerLimits {
  const timeoutMs = Math.max(1, Math.round(written.timeoutMs ?? 60_000));
  const maxMs = Math.max(1, Math.round(written.maxMs ?? Math.max(600_000, timeoutMs)));
  const { concurrency = 256, ratePerMin, graceMs = 3_600_000, maxResultBytes } = written;
  const limits = { timeoutMs, maxMs, concurrency, ratePerMin, graceMs };
  return maxResultBytes === undefined ? limits : { ...limits, maxResultBytes };
}

/** The problem with the name of a server or agent, if any. */
export function checkName(kind: 'Server' | 'Agent', name: string): Pick<Finding, 'message' | 'fix'> | undefined {
  if (namePattern.test(name)) return undefined;
  const better = fittingName(name);
  const example = better === undefined ? '' : `, for example "${better}"`;
  return {
    message: `${kind} ${quote(name)}: the name is not valid.`,
    fix: `Rename it${example}: 1 to 64 letters, digits, ".", "_" or "-".`,
  };
}

/** The name with `-` in place of invalid characters. Undefined if nothing is left. */
export function fittingName(name: string): string | undefined {
  const better = withoutDashesAround(name.replace(/[^A-Za-z0-9._-]+/g, '-')).slice(0, 64);
  return namePattern.test(better) ? better : undefined;
}

function withoutDashesAround(text: string): string {
  let [start, end] = [0, text.length];
  while (text[start] === '-') start++;
  while (end > start && text[end - 1] === '-') end--;
  return text.slice(start, end);
}
