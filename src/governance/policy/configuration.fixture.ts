import {
  type AgentSpec,
  type CacheSettings,
  type CallArguments,
  type Configuration,
  type ConfiguredServer,
  type PolicyRule,
  type RootsSource,
  RuleCondition,
  type RuleEffect,
  type ServerAccess,
  type ServerRestriction,
  type ToolFilter,
  type ToolPolicy,
  type TransportSpec,
} from '../../domain/index.ts';

export interface ConfiguredServerDraft {
  readonly enabled?: boolean;
  readonly shared?: boolean;
  readonly tools?: ToolFilter;
  readonly access?: Partial<ServerAccess>;
  readonly restrictedBy?: readonly ServerRestriction[];
  readonly transport?: TransportSpec;
  readonly fallbacks?: readonly TransportSpec[];
  readonly cache?: CacheSettings;
  readonly roots?: RootsSource;
}

/** An effect, or one that holds only for some arguments. */
export type PolicyDraft = Readonly<Record<string, RuleEffect | ConditionalDraft>>;

export interface ConditionalDraft {
  readonly effect: RuleEffect;
  readonly when: (args: CallArguments) => boolean;
}

export interface AgentDraft {
  readonly servers?: readonly string[] | undefined;
  readonly tools?: Readonly<Record<string, ToolFilter>>;
  readonly policy?: PolicyDraft;
}

export interface ConfigurationDraft {
  readonly servers: Readonly<Record<string, ConfiguredServerDraft>>;
  readonly agents?: Readonly<Record<string, AgentDraft>>;
  readonly policy?: PolicyDraft;
  readonly roles?: Readonly<Record<string, string>>;
}

/** Builds a configuration from the few fields that decide rights. */
export function draftConfiguration(draft: ConfigurationDraft): Configuration {
  return {
    workspace: '/workspace',
    servers: new Map(Object.entries(draft.servers).map(([name, server]) => [name, draftServer(name, server)])),
    agents: new Map(Object.entries(draft.agents ?? {}).map(([name, agent]) => [name, draftAgent(name, agent)])),
    roles: new Map(Object.entries(draft.roles ?? {})),
    policy: draft.policy === undefined ? undefined : draftPolicy(draft.policy, 'quartermaster.yaml'),
    naming: 'prefixed',
    problems: [],
    files: [],
    secrets: [],
    shortSecrets: [],
    environment: [],
    approvals: { waitMs: undefined, expiresMs: 3_600_000, fourEyes: false, require: 'any' },
    ledger: { sync: 'os', keep: { days: 7, megabytes: 1024 }, runs: { days: 7, megabytes: 1024 } },
    allowPaths: [],
    serve: {
      allowedHosts: [],
      allowedOrigins: [],
      maxBodyBytes: 1,
      clientSessionIdleMs: 1,
      maxClientSessions: 1,
    },
  };
}

function draftServer(name: string, draft: ConfiguredServerDraft): ConfiguredServer {
  return {
    kind: 'ready',
    spec: {
      name,
      hides: [],
      source: { file: `${name}.json`, line: 3 },
      description: undefined,
      enabled: draft.enabled ?? true,
      shared: draft.shared ?? false,
      transport: draft.transport ?? { type: 'http', url: 'http://127.0.0.1:1/', headers: {} },
      fallbacks: draft.fallbacks ?? [],
      tools: draft.tools ?? {},
      limits: { timeoutMs: 1, maxMs: 1, concurrency: 1, ratePerMin: undefined, graceMs: 1 },
      access: {
        scopes: undefined,
        readOnly: false,
        writeRequiresApproval: false,
        trustAnnotations: false,
        source: { file: `${name}.json`, line: 4 },
        ...draft.access,
      },
      restrictedBy: draft.restrictedBy ?? [],
      isolation: 'shared',
      roots: draft.roots ?? 'none',
      reaches: [],
      cache: draft.cache,
      instead: undefined,
      connectionKey: name,
    },
  };
}

function draftAgent(name: string, draft: AgentDraft): AgentSpec {
  return {
    name,
    source: { file: 'agents.yaml', line: 7 },
    servers: draft.servers,
    tools: new Map(Object.entries(draft.tools ?? {})),
    policy: draft.policy === undefined ? undefined : draftPolicy(draft.policy, 'agents.yaml'),
  };
}

function draftPolicy(rules: PolicyDraft, file: string): ToolPolicy {
  const written = Object.entries(rules).map(([pattern, draft], index): PolicyRule => {
    const source = { file, line: index + 1 };
    if (typeof draft === 'string') return { pattern, effect: draft, source };
    const { effect, when } = draft;
    return { pattern, effect, source, condition: new RuleCondition(String(when), ({ args }) => when(args)) };
  });
  return { source: { file }, rules: written };
}
