import type { RuleEffect } from './decision.ts';

/** Where something was written, for messages and for `qm explain`. */
export interface SourceRef {
  /** Path relative to the workspace. */
  readonly file: string;
  readonly line?: number;
}

/** `file:line`, as editors and terminals understand it. */
export function placeOf({ file, line }: SourceRef): string {
  return line === undefined ? file : `${file}:${line}`;
}

/** What a program is given, whether it is one of its own or runs inside the hub. */
export interface ProgramSettings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface StdioTransport extends ProgramSettings {
  readonly type: 'stdio';
  readonly command: string;
}

export interface HttpTransport {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The transport before streamable HTTP: a GET stream that says where to post. */
export interface SseTransport {
  readonly type: 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The servers that come with the product. */
export const builtinNames = ['git', 'fetch', 'pg-readonly'] as const;

export type BuiltinName = (typeof builtinNames)[number];

/** One of our own, which runs inside the hub. */
export interface BuiltinTransport extends ProgramSettings {
  readonly type: 'builtin';
  readonly builtin: BuiltinName;
}

export type Transport = StdioTransport | HttpTransport | SseTransport | BuiltinTransport;

export const transportKinds = ['stdio', 'http', 'sse', 'builtin'] as const satisfies readonly Transport['type'][];

export type TransportKind = (typeof transportKinds)[number];

/** Names as people write them: raw or with the server's prefix; `*` alone is everything. */
export interface ToolFilter {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

export interface ServerLimits {
  /** How long a call may stay silent; progress starts it anew. */
  readonly timeoutMs: number;
  /** How long a call may take in all, progress or not. */
  readonly maxMs: number;
  /** Calls under way at once. */
  readonly concurrency: number;
  /** Calls in any minute; undefined: no limit. */
  readonly ratePerMin: number | undefined;
  /** How long the tools of a server that is away stay in the lists. */
  readonly graceMs: number;
}

/** What a server may be used for, as its own file says; narrows rights, never widens them. */
export interface ServerAccess {
  /** As written: `read:files`, `db:select`. Undefined: no statement; an empty list grants nothing. */
  readonly scopes: readonly string[] | undefined;
  /** Only tools that read, whatever the scopes say. */
  readonly readOnly: boolean;
  /** Tools that write ask a human first. */
  readonly writeRequiresApproval: boolean;
  /** What the server says of its own tools is believed where it would allow something. */
  readonly trustAnnotations: boolean;
  /** Where the above is written. */
  readonly source: SourceRef;
}

/** What stands beside a server's own entry and restricts it: an entry of a weaker file, or rules of a client. */
export interface ServerRestriction {
  readonly source: SourceRef;
  readonly tools: ToolFilter;
  /** Undefined: says nothing. */
  readonly access: ServerAccess | undefined;
  readonly rules: ClientRules | undefined;
}

/** Rules as a client has them in its own file: of those that match, the last one decides. */
export interface ClientRules {
  /** What the client puts before the name of a tool of this server. */
  readonly prefix: string;
  readonly rules: readonly PolicyRule[];
  /** In place of those, for an agent of that name. */
  readonly agents: ReadonlyMap<string, readonly PolicyRule[]>;
}

/** Which results of a server are kept to answer the same call again, and for how long. */
export interface CacheSettings {
  readonly ttlMs: number;
  /** Of all that is kept. */
  readonly maxBytes: number;
  /** By the operator's word these only read, under the server's own names; undefined: those that are known to. */
  readonly tools: readonly string[] | undefined;
  readonly resources: boolean;
}

/** Who shares a connection to a server. Only one that is not shared by all can ask its callers something in the legacy era. */
export type Isolation = 'shared' | 'per-agent' | 'per-session';

/** One upstream server with every variable expanded. Holds secrets: never log it. */
export interface ServerSpec {
  readonly name: string;
  readonly source: SourceRef;
  /** Where weaker files have a server of the same name. */
  readonly hides: readonly SourceRef[];
  readonly description: string | undefined;
  readonly enabled: boolean;
  /** Where another file switches it off, which its own does not. */
  readonly disabledBy?: SourceRef;
  /** Given to agents that no route names. */
  readonly shared: boolean;
  readonly transport: Transport;
  /** Tried in this order when the one before cannot be reached. */
  readonly fallbacks: readonly Transport[];
  readonly tools: ToolFilter;
  readonly limits: ServerLimits;
  readonly access: ServerAccess;
  readonly restrictedBy: readonly ServerRestriction[];
  readonly isolation: Isolation;
  /** Undefined: nothing is kept. */
  readonly cache: CacheSettings | undefined;
  /** What an agent can do when the server is away: "use the gh command line". */
  readonly instead: string | undefined;
  /** Changes exactly when a reconnect is needed: transports and nothing else. */
  readonly connectionKey: string;
}

export type FleetServer =
  | { readonly kind: 'ready'; readonly spec: ServerSpec }
  | {
      readonly kind: 'invalid';
      readonly name: string;
      readonly source: SourceRef;
      readonly hides: readonly SourceRef[];
      readonly problems: readonly Problem[];
      /** Something in it restricts, and nobody can tell what. */
      readonly unclear?: true;
    };

export interface AgentSpec {
  readonly name: string;
  readonly source: SourceRef;
  /** Undefined: not routed by itself. */
  readonly servers: readonly string[] | undefined;
  /** Per server. */
  readonly tools: ReadonlyMap<string, ToolFilter>;
  readonly policy: ToolPolicy | undefined;
}

/** One map of rules, as one source wrote it. Keys are `server.tool` with `*` as wildcard. */
export interface ToolPolicy {
  readonly source: SourceRef;
  readonly rules: readonly PolicyRule[];
}

export interface PolicyRule {
  readonly pattern: string;
  readonly effect: RuleEffect;
  readonly source: SourceRef;
}

export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly file: string;
  readonly line?: number;
  /** Dotted path inside the file. */
  readonly field?: string;
  readonly server?: string;
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string;
  /** It stands where restrictions are written: a hub must not start without them. */
  readonly fatal?: true;
}

export type Naming = 'prefixed' | 'preserved';

/** Everything that was configured, frozen. */
export interface Fleet {
  readonly workspace: string;
  readonly servers: ReadonlyMap<string, FleetServer>;
  /** By name of an agent or of a role. */
  readonly agents: ReadonlyMap<string, AgentSpec>;
  /** The role of each agent that has one; an agent without an entry of its own gets its role's. */
  readonly roles: ReadonlyMap<string, string>;
  readonly policy: ToolPolicy | undefined;
  readonly naming: Naming;
  readonly problems: readonly Problem[];
  /** Files that were read; a change to one of them, or a new one, calls for a reload. */
  readonly files: readonly string[];
  /** Values that variables expanded to; they are redacted everywhere. */
  readonly secrets: readonly string[];
  /** Values of fewer than six characters whose variable is named like a secret; they are redacted where they stand alone. */
  readonly shortSecrets: readonly string[];
  readonly ledger: { readonly sync: 'os' | 'always' };
  readonly serve: ServeSettings;
}

export interface ServeSettings {
  /** Host names besides loopback ones that requests may name. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly maxBodyBytes: number;
  readonly clientSessionIdleMs: number;
  readonly maxClientSessions: number;
}
