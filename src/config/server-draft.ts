import type { BuiltinName, CacheSettings, ClientRules, Isolation, ServerLimits, ToolFilter } from '../domain/index.ts';
import type { ParsedTemplate } from './interpolation.ts';
import { type Finding, quote } from './problems.ts';
import { namePattern } from './schema.ts';

/** One server as a file describes it: shape checked, variables not yet expanded. */
export interface ServerDraft {
  readonly name: string;
  readonly line: number;
  /** Dotted path of the server inside its file. */
  readonly field: string;
  readonly findings: readonly Finding[];
  /** The file that this one was generated from. */
  readonly madeFrom?: string | undefined;
  /** Absent when the findings leave nothing to work with. */
  readonly body: ServerBody | undefined;
  /** It restricts something, and nobody can tell what. */
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
  /** Further rules of the file, each list for itself. */
  readonly rules?: readonly ClientRules[];
  /** Absent: shared. */
  readonly isolation?: Isolation | undefined;
  readonly cache?: CacheSettings | undefined;
  readonly instead: string | undefined;
}

/** What the server may be used for; `readOnly` may hold a variable. */
export interface AccessDraft {
  /** Undefined: none are written. */
  readonly scopes: readonly string[] | undefined;
  readonly readOnly: boolean | WrittenText;
  readonly writeRequiresApproval: boolean;
  readonly trustAnnotations: boolean;
  readonly line: number;
}

/** The file says nothing about it. */
export function fullAccess(line: number): AccessDraft {
  return { scopes: undefined, readOnly: false, writeRequiresApproval: false, trustAnnotations: false, line };
}

/** Whether the entry keeps anything from agents. */
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

/** What is given to a program, one of its own or one inside the hub. */
export type ProgramDraft = Extract<TransportDraft, ProgramParts>;

export function isProgram(transport: TransportDraft): transport is ProgramDraft {
  return transport.type === 'stdio' || transport.type === 'builtin';
}

/** Which server is being read, for messages about it. */
export interface ServerPlace {
  readonly name: string;
  readonly line: number;
  readonly field: string;
}

/** Text with variables in it, and where it stands. */
export interface WrittenText {
  readonly text: string;
  readonly line: number;
  /** Inside the server: `args.2`, `headers.Authorization`. */
  readonly field: string;
  /** Where a format says it other than by text with variables; the text is then not looked at. */
  readonly template?: ParsedTemplate;
  /** `omit`: a header or environment entry that is left out while its variable is not set. */
  readonly whenMissing?: 'omit';
}

export interface WrittenLimits {
  readonly timeoutMs?: number | undefined;
  readonly maxMs?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly ratePerMin?: number | undefined;
  readonly graceMs?: number | undefined;
}

/** A silence limit above the default total raises the total with it. */
export function completeLimits(written: WrittenLimits): ServerLimits {
  const timeoutMs = Math.max(1, Math.round(written.timeoutMs ?? 60_000));
  const maxMs = Math.max(1, Math.round(written.maxMs ?? Math.max(600_000, timeoutMs)));
  const { concurrency = 256, ratePerMin, graceMs = 3_600_000 } = written;
  return { timeoutMs, maxMs, concurrency, ratePerMin, graceMs };
}

/** What is wrong with the name of a server or an agent, if anything. */
export function checkName(kind: 'Server' | 'Agent', name: string): Pick<Finding, 'message' | 'fix'> | undefined {
  if (namePattern.test(name)) return undefined;
  const better = fittingName(name);
  const example = better === undefined ? '' : `, for example "${better}"`;
  return {
    message: `${kind} ${quote(name)}: the name is not valid.`,
    fix: `Rename it${example}: 1 to 64 letters, digits, ".", "_" or "-".`,
  };
}

/** A name with `-` for all that a name cannot hold; undefined where nothing is left. */
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
