import type { FolderGuard } from '../base/index.ts';
import type { RuleEffect, ToolClass } from './decision.ts';
import type { LockMode, ServerLock } from './definition-lock.ts';
import type { Permissions } from './permissions.ts';
import type { RedactionRule } from './redaction-rule.ts';
import type { RuleCondition } from './rule-condition.ts';
import type { ApprovedFiles } from './server-plan.ts';

/** The place of a setting, for messages and `qm explain`. */
export interface SourceRef {
  /** Relative to the workspace. */
  readonly file: string;
  readonly line?: number;
}

/** `file:line`, the form that editors and terminals understand. */
export function placeOf({ file, line }: SourceRef): string {
  return line === undefined ? file : `${file}:${line}`;
}

/** Settings of a program that runs as a child process or inside the hub. */
export interface ProgramSettings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface StdioTransportSpec extends ProgramSettings {
  readonly type: 'stdio';
  readonly command: string;
  /** Undefined where servers need no approval. */
  readonly approvedFiles?: ApprovedFiles;
  /**
   * It is started so that it takes neither settings nor code from its working folder. `unapproved`: it would take some
   * now, and it is not known whether that was approved; so it is not started.
   */
  readonly guard?: FolderGuard | 'unapproved';
}

export interface HttpTransportSpec {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The HTTP+SSE transport that preceded streamable HTTP: a GET stream announces the URL to post to. */
export interface SseTransportSpec {
  readonly type: 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The servers that ship with the product. */
export const builtinNames = ['git', 'fetch', 'pg-readonly'] as const;

export type BuiltinName = (typeof builtinNames)[number];

/** A server that ships with the product and runs inside the hub. */
export interface BuiltinTransportSpec extends ProgramSettings {
  readonly type: 'builtin';
  readonly builtin: BuiltinName;
}

export type TransportSpec = StdioTransportSpec | HttpTransportSpec | SseTransportSpec | BuiltinTransportSpec;

export const transportKinds = ['stdio', 'http', 'sse', 'builtin'] as const satisfies readonly TransportSpec['type'][];

export type TransportKind = (typeof transportKinds)[number];

/** Tool names as users write them, with or without the server's prefix. `*` alone matches every tool. */
export interface ToolFilter {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Where the lists are written, if not in the line of their owner. */
  readonly lines?: Readonly<Partial<Record<'include' | 'exclude', number>>>;
}

/** The place of one of the lists. `owner` is the place of the entry that has them. */
export function listSourceOf({ lines }: ToolFilter, list: 'include' | 'exclude', owner: SourceRef): SourceRef {
  const line = lines?.[list];
  return line === undefined ? owner : { ...owner, line };
}

export interface ServerLimits {
  /** How long a call may go without progress. Each progress notification restarts it. */
  readonly timeoutMs: number;
  /** How long a call may take in total, with or without progress. */
  readonly maxMs: number;
  /** Maximum calls in flight. */
  readonly concurrency: number;
  /** Maximum calls in any 60 seconds. Undefined: no limit. */
  readonly ratePerMin: number | undefined;
  /** How long the tools of an unavailable server stay listed. */
  readonly graceMs: number;
  /** Larger results are dropped. Undefined: no limit of its own. */
  readonly maxResultBytes?: number;
}

/** What the server's own file permits. It narrows rights and never widens them. */
export interface ServerAccess {
  /**
   * As written, for example `read:files` or `db:select`. Undefined: no restriction stated. An empty list grants
   * nothing.
   */
  readonly scopes: readonly string[] | undefined;
  /** Only tools that read, whatever the scopes allow. */
  readonly readOnly: boolean;
  /** Tools that write need a human's approval. */
  readonly writeRequiresApproval: boolean;
  /** Trust the server's tool annotations where they would allow something. */
  readonly trustAnnotations: boolean;
  /** Where these settings are written. */
  readonly source: SourceRef;
}

/** A restriction from outside the server's own entry: an entry in a file of lower precedence, or a client's rules. */
export interface ServerRestriction {
  readonly source: SourceRef;
  readonly tools: ToolFilter;
  /** Undefined: states nothing. */
  readonly access: ServerAccess | undefined;
  readonly rules: ClientRules | undefined;
}

/** Rules from a client's own file. The last rule that matches decides. */
export interface ClientRules {
  /** The prefix that the client puts before this server's tool names. */
  readonly prefix: string;
  readonly rules: readonly PolicyRule[];
  /** Rules that replace `rules` for the agent of that name. */
  readonly agents: ReadonlyMap<string, readonly PolicyRule[]>;
}

/** Which results of a server are cached, and for how long. */
export interface CacheSettings {
  readonly ttlMs: number;
  /** Limit for all cached results together. */
  readonly maxBytes: number;
  /**
   * Tools that the operator declares read-only, by the server's own names. Undefined: the tools known to be read-only.
   */
  readonly tools: readonly string[] | undefined;
  readonly resources: boolean;
}

/**
 * Who shares a connection to a server. In the legacy era, a server can send requests to its callers only over a
 * connection that is not `shared`.
 */
export type Isolation = 'shared' | 'per-agent' | 'per-session';

/**
 * Which folders a server gets when it asks for roots: none, or those of the calling client that lie in the workspace or
 * in `allowPaths`. Many servers give their clients access to the roots, so a client must not choose them freely.
 */
export type RootsSource = 'none' | 'client';

/** One upstream server with every variable expanded. Contains secrets: never log it. */
export interface ServerSpec {
  readonly name: string;
  readonly source: SourceRef;
  /** Servers of the same name in files of lower precedence. */
  readonly hides: readonly SourceRef[];
  readonly description: string | undefined;
  readonly enabled: boolean;
  /** Set if another file disables the server and its own file does not. */
  readonly disabledBy?: SourceRef;
  /** Available to agents without a route. */
  readonly shared: boolean;
  readonly transport: TransportSpec;
  /** Tried in order when the transport before cannot be reached. */
  readonly fallbacks: readonly TransportSpec[];
  /** Places with keys that its programs may reach, because `allowPaths` lists them. */
  readonly reaches: readonly string[];
  readonly tools: ToolFilter;
  readonly limits: ServerLimits;
  readonly access: ServerAccess;
  readonly restrictedBy: readonly ServerRestriction[];
  readonly isolation: Isolation;
  readonly roots: RootsSource;
  /** The server works on files of this machine, and its tools take paths. */
  readonly paths?: 'local';
  /** What its results bring into a run. */
  readonly labels?: ContentLabels;
  /** Undefined: no lockfile says which definitions agents may get. */
  readonly lock?: ServerLock;
  /** What is changed in its results. Undefined: nothing. */
  readonly results?: ResultSettings;
  /** Undefined: nothing is cached. */
  readonly cache: CacheSettings | undefined;
  /** What an agent can do while the server is unavailable: "use the gh command line". */
  readonly instead: string | undefined;
  /**
   * Says whether what is kept on disk is about this server. Covers the transports without secrets and header values, and the
   * isolation; `isSameConnection` says whether a reconnect is needed.
   */
  readonly connectionKey: string;
}

export type ConfiguredServer =
  | { readonly kind: 'ready'; readonly spec: ServerSpec }
  | {
      readonly kind: 'invalid';
      readonly name: string;
      readonly source: SourceRef;
      readonly hides: readonly SourceRef[];
      readonly problems: readonly Problem[];
      /** Part of the entry restricts, but cannot be understood. */
      readonly unclear?: true;
    }
  /** Valid and enabled, but nobody approved what it would start or contact. */
  | {
      readonly kind: 'untrusted';
      readonly name: string;
      readonly source: SourceRef;
      readonly hides: readonly SourceRef[];
      readonly description: string | undefined;
      readonly transport: TransportKind;
      readonly shared: boolean;
      /** The operator declined it. */
      readonly declined: boolean;
    };

/** What is changed in the results of a server before agents get them. */
export interface ResultSettings {
  readonly redact: readonly RedactionRule[];
  /** Text that is labelled `untrusted-content` gets marks around it. */
  readonly delimit: boolean;
}

/** The label of content that may hold instructions of strangers. */
export const untrustedContent = 'untrusted-content';

/** The labels that a run gets by a call: of every tool, resource and prompt of a server, and of single tools. */
export interface ContentLabels {
  readonly all: readonly string[];
  /** By the server's own name of the tool. */
  readonly tools: ReadonlyMap<string, readonly string[]>;
}

export interface AgentSpec {
  readonly name: string;
  readonly source: SourceRef;
  /** Undefined: this entry sets no route. */
  readonly servers: readonly string[] | undefined;
  /** Per server. */
  readonly tools: ReadonlyMap<string, ToolFilter>;
  readonly policy: ToolPolicy | undefined;
  /** Rules that are tried in place of `policy`. They enforce nothing. */
  readonly shadow?: ToolPolicy;
  readonly budget?: AgentBudget;
}

/** How much an agent may call. Undefined: no limit. */
export interface AgentBudget {
  readonly callsPerMinute: number | undefined;
  readonly callsPerHour: number | undefined;
  readonly callsPerRun: number | undefined;
  /** Of arguments and results. */
  readonly bytesPerRun: number | undefined;
}

/** One set of rules from one source. Patterns are `server.tool`, with `*` as the wildcard. */
export interface ToolPolicy {
  readonly source: SourceRef;
  readonly rules: readonly PolicyRule[];
}

export interface PolicyRule {
  readonly pattern: string;
  readonly effect: RuleEffect;
  readonly source: SourceRef;
  /** The rule applies only to calls that meet it. */
  readonly condition?: RuleCondition;
  /** The rule applies only to tools of this class. */
  readonly kind?: ToolClass;
  /** The rule applies only if the rule before it, which has the same pattern, does not: both are clauses of one list. */
  readonly otherwise?: true;
  readonly message?: string;
  readonly approvers?: readonly string[];
}

/** What the rule is limited to, as written. Undefined if it applies to every call of its tools. */
export function limitsOfRule({ kind, condition }: PolicyRule): string | undefined {
  const parts = [kind === undefined ? undefined : `kind ${kind}`, condition?.text].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(', ');
}

export interface Problem {
  /** `note`: nothing is wrong, but it may not be what somebody expects. */
  readonly severity: 'error' | 'warning' | 'note';
  readonly file: string;
  readonly line?: number;
  /** Dotted path within the file. */
  readonly field?: string;
  readonly server?: string;
  /** The agent or role that gets nothing because of it. */
  readonly agent?: string;
  readonly message: string;
  /** How to fix it. */
  readonly fix?: string;
  /** The problem is in a restriction. The hub must not start without it. */
  readonly fatal?: true;
}

/** Whether it is a mistake that affects more than one server or agent. */
export function affectsAll({ severity, server, agent }: Problem): boolean {
  return severity === 'error' && server === undefined && agent === undefined;
}

/** The problem to show if only one can be shown: an error before a warning. */
export function worstProblem(problems: readonly Problem[]): Problem | undefined {
  return problems.find(({ severity }) => severity === 'error') ?? problems[0];
}

export type Naming = 'prefixed' | 'preserved';

/** Who may use what: the routes, restrictions and rules of agents and roles. */
export interface AccessRules {
  /** By the name of an agent or role. */
  readonly agents: ReadonlyMap<string, AgentSpec>;
  /** Maps agents to roles. An agent without its own entry uses its role's. */
  readonly roles: ReadonlyMap<string, string>;
  readonly policy: ToolPolicy | undefined;
  /** Rules that are tried in place of `policy`. They enforce nothing. */
  readonly shadow?: ToolPolicy;
  /** Undefined: there is no permissions file. */
  readonly permissions?: Permissions;
}

/** The whole configuration, frozen. */
export interface Configuration extends AccessRules {
  readonly workspace: string;
  readonly servers: ReadonlyMap<string, ConfiguredServer>;
  /** The rules that were approved, while a change of them waits for approval. Agents have what both allow. */
  readonly approvedRules?: AccessRules;
  readonly naming: Naming;
  readonly problems: readonly Problem[];
  /** Files that were read. A change to one of them, or a new file, triggers a reload. */
  readonly files: readonly string[];
  /** Values that variables expanded to. They are redacted everywhere. */
  readonly secrets: readonly string[];
  /**
   * Values of fewer than six characters whose variable is named like a secret. They are redacted where they stand
   * alone.
   */
  readonly shortSecrets: readonly string[];
  /** Variables that servers refer to and that only the environment of the hub can answer. */
  readonly environment: readonly string[];
  readonly ledger: LedgerSettings;
  readonly serve: ServeSettings;
  readonly approvals: ApprovalSettings;
  /** Folders that servers may be given although keys lie in them. */
  readonly allowPaths: readonly string[];
  /** As configured. Each server has what follows from it. */
  readonly lock?: LockMode;
}

export interface LedgerSettings {
  readonly sync: 'os' | 'always';
  /** How much of the journal is kept. */
  readonly keep: Retention;
  /** How much of the run files is kept. */
  readonly runs: Retention;
}

/** How held calls are approved. */
export interface ApprovalSettings {
  /** How long a call waits for a decision. Undefined: as long as its client does. */
  readonly waitMs: number | undefined;
  /** How long a question stays open, and an approved call may come after the decision. */
  readonly expiresMs: number;
  /** Another person than the one behind the call must approve it. */
  readonly fourEyes: boolean;
  /** `page`: only over a one-time link. */
  readonly require: 'any' | 'page';
}

/** The limit that is reached first removes the oldest files. */
export interface Retention {
  readonly days: number;
  readonly megabytes: number;
}

export interface ServeSettings {
  /** Where people reach the hub from other machines, without a slash at the end. */
  readonly publicUrl?: string;
  /** Accepted host names besides loopback. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly maxBodyBytes: number;
  readonly clientSessionIdleMs: number;
  readonly maxClientSessions: number;
}
