import type {
  AccessRules,
  AgentSpec,
  ClientRules,
  Configuration,
  PolicyRule,
  ServerAccess,
  ServerSpec,
  ToolFilter,
  ToolPolicy,
} from '../domain/index.ts';

/** Plain data without places in files: what is written counts, not where or in which order. */
export type RightsDocument = Readonly<Record<string, unknown>>;

/** What agents may do with a server, apart from what it starts or contacts. */
export function serverRights(spec: ServerSpec): RightsDocument {
  const { enabled, shared, tools, limits, access, restrictedBy, isolation, roots, cache, instead, description } = spec;
  return withoutDefaults({
    enabled,
    shared: shared || undefined,
    tools: filterOf(tools),
    limits,
    access: accessOf(access),
    restrictedBy: restrictedBy.map((each) => ({
      tools: filterOf(each.tools),
      access: each.access === undefined ? undefined : accessOf(each.access),
      rules: each.rules === undefined ? undefined : clientRulesOf(each.rules),
    })),
    isolation: isolation === 'shared' ? undefined : isolation,
    roots: roots === 'none' ? undefined : roots,
    cache,
    instead,
    description,
  });
}

/** The rules for agents, and the settings of the whole hub. */
export function policyRights(configuration: Configuration): RightsDocument {
  const { naming, ledger, serve, allowPaths } = configuration;
  return withoutDefaults({ ...rulesOf(configuration), naming, ledger, serve, allowPaths: sorted(allowPaths) });
}

function rulesOf({ agents, roles, policy }: AccessRules): RightsDocument {
  return {
    agents: Object.fromEntries([...agents].sort(byName).map(([name, agent]) => [name, agentOf(agent)])),
    roles: Object.fromEntries([...roles].sort(byName)),
    policy: policyOf(policy),
  };
}

function agentOf({ servers, tools, policy }: AgentSpec): RightsDocument {
  return withoutDefaults({
    servers: sorted(servers),
    tools: Object.fromEntries([...tools].sort(byName).map(([server, filter]) => [server, filterOf(filter)])),
    policy: policyOf(policy),
  });
}

function policyOf(policy: ToolPolicy | undefined): unknown {
  return policy?.rules.map(ruleOf);
}

function clientRulesOf({ prefix, rules, agents }: ClientRules): unknown {
  return {
    prefix,
    rules: rules.map(ruleOf),
    agents: Object.fromEntries([...agents].sort(byName).map(([name, own]) => [name, own.map(ruleOf)])),
  };
}

function ruleOf({ pattern, effect, condition }: PolicyRule): unknown {
  return condition === undefined ? [pattern, effect] : [pattern, effect, condition.text];
}

function filterOf({ include, exclude }: ToolFilter): unknown {
  return withoutDefaults({ include: sorted(include), exclude: sorted(exclude) });
}

function accessOf({ scopes, readOnly, writeRequiresApproval, trustAnnotations }: ServerAccess): unknown {
  return withoutDefaults({
    scopes: sorted(scopes),
    readOnly: readOnly || undefined,
    writeRequiresApproval: writeRequiresApproval || undefined,
    trustAnnotations: trustAnnotations || undefined,
  });
}

function sorted(names: readonly string[] | undefined): readonly string[] | undefined {
  return names === undefined ? undefined : [...names].sort();
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

/** A new setting with a default does not change documents that were approved before it existed. */
function withoutDefaults(document: RightsDocument): RightsDocument {
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined));
}
