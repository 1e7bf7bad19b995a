import type {
  AgentSpec,
  CacheSettings,
  Fleet,
  FleetServer,
  PolicyRule,
  RuleEffect,
  ServerAccess,
  ServerRestriction,
  ToolFilter,
  ToolPolicy,
  Transport,
} from '../../domain/index.ts';

export interface ServerDraft {
  readonly enabled?: boolean;
  readonly shared?: boolean;
  readonly tools?: ToolFilter;
  readonly access?: Partial<ServerAccess>;
  readonly restrictedBy?: readonly ServerRestriction[];
  readonly transport?: Transport;
  readonly fallbacks?: readonly Transport[];
  readonly cache?: CacheSettings;
}

export interface AgentDraft {
  readonly servers?: readonly string[] | undefined;
  readonly tools?: Readonly<Record<string, ToolFilter>>;
  readonly policy?: Readonly<Record<string, RuleEffect>>;
}

export interface FleetDraft {
  readonly servers: Readonly<Record<string, ServerDraft>>;
  readonly agents?: Readonly<Record<string, AgentDraft>>;
  readonly policy?: Readonly<Record<string, RuleEffect>>;
  readonly roles?: Readonly<Record<string, string>>;
}

/** A fleet as the configuration would make it, from the few fields that decide rights. */
export function draftFleet(draft: FleetDraft): Fleet {
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
    ledger: { sync: 'os' },
    serve: {
      allowedHosts: [],
      allowedOrigins: [],
      maxBodyBytes: 1,
      clientSessionIdleMs: 1,
      maxClientSessions: 1,
    },
  };
}

function draftServer(name: string, draft: ServerDraft): FleetServer {
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

function draftPolicy(rules: Readonly<Record<string, RuleEffect>>, file: string): ToolPolicy {
  const written = Object.entries(rules).map(
    ([pattern, effect], index): PolicyRule => ({ pattern, effect, source: { file, line: index + 1 } }),
  );
  return { source: { file }, rules: written };
}
