import { createHash } from 'node:crypto';
import {
  type AccessRules,
  type AgentSpec,
  type ApprovalSettings,
  type ClientRules,
  type Configuration,
  definitionKinds,
  limitsOfRule,
  type Permissions,
  type PolicyRule,
  type ServerAccess,
  type ServerLock,
  type ServerSpec,
  type ToolFilter,
  type ToolPolicy,
} from '../domain/index.ts';

/** Plain data without places in files: what is written counts, not where or in which order. */
export type RightsDocument = Readonly<Record<string, unknown>>;

/** Writes lists that several servers share. A long one is written as its hash, which is computed once. */
export type BriefLists = (shared: object, lists: readonly (readonly PolicyRule[])[], write: () => unknown) => unknown;

export function createBriefLists(): BriefLists {
  const known = new WeakMap<object, unknown>();
  return (shared, lists, write) => {
    if (known.has(shared)) return known.get(shared);
    const entries = lists.reduce((sum, list) => sum + list.length, 0);
    const written = write();
    const document = entries <= longestWritten ? written : { entries, sha256: hashOf(written) };
    known.set(shared, document);
    return document;
  };
}

/** All servers of a file have its rules: many servers with all of many rules would be too much to hash and to show. */
const longestWritten = 100;

function hashOf(document: unknown): string {
  return createHash('sha256').update(JSON.stringify(document)).digest('hex');
}

/** What agents may do with a server, apart from what it starts or contacts. */
export function serverRights(spec: ServerSpec, brief: BriefLists = createBriefLists()): RightsDocument {
  const {
    enabled,
    shared,
    tools,
    limits,
    access,
    restrictedBy,
    isolation,
    roots,
    paths,
    labels,
    lock,
    results,
    cache,
    instead,
    description,
  } = spec;
  return withoutDefaults({
    enabled,
    shared: shared || undefined,
    tools: filterOf(tools),
    limits,
    access: accessOf(access),
    restrictedBy: restrictedBy.map((each) => ({
      tools: filterOf(each.tools),
      access: each.access === undefined ? undefined : accessOf(each.access),
      rules: each.rules === undefined ? undefined : clientRulesOf(each.rules, brief),
    })),
    isolation: isolation === 'shared' ? undefined : isolation,
    roots: roots === 'none' ? undefined : roots,
    paths,
    labels: labels && {
      all: sorted(labels.all),
      ...Object.fromEntries([...labels.tools].sort(byName).map(([tool, names]) => [`tool ${tool}`, sorted(names)])),
    },
    lock: lock && lockOf(lock),
    results: results && { ...results, redact: results.redact.map(({ regex, replacement }) => [regex, replacement]) },
    cache,
    instead,
    description,
  });
}

/** The accepted definitions. The names of their kinds keep a tool from looking like a prompt. */
function lockOf({ mode, pins, acknowledged }: ServerLock): RightsDocument {
  const lists = definitionKinds.flatMap((kind) =>
    [...pins[kind]].sort(byName).map(([name, print]): [string, string] => [`${kind} ${name}`, print]),
  );
  const notes = [...acknowledged].sort(byName).map(([name, why]): [string, string] => [`acknowledged ${name}`, why]);
  return withoutDefaults({ mode, instructions: pins.instructions, ...Object.fromEntries([...lists, ...notes]) });
}

/** The rules for agents, and the settings of the whole hub. */
export function policyRights(configuration: Configuration): RightsDocument {
  const { naming, ledger, serve, allowPaths } = configuration;
  const approvals = approvalsOf(configuration.approvals);
  const settings = { naming, ledger, serve, approvals, allowPaths: sorted(allowPaths) };
  return withoutDefaults({ ...rulesOf(configuration), ...settings });
}

/** Nothing if all is as by default, so that workspaces without the section need no new approval. */
function approvalsOf({ waitMs, expiresMs, fourEyes, require }: ApprovalSettings): RightsDocument | undefined {
  const set = withoutDefaults({
    waitMs,
    expiresMs: expiresMs === usualExpiryMs ? undefined : expiresMs,
    fourEyes: fourEyes || undefined,
    require: require === 'any' ? undefined : require,
  });
  return Object.keys(set).length === 0 ? undefined : set;
}

const usualExpiryMs = 3_600_000;

function rulesOf({ agents, roles, policy, shadow, permissions }: AccessRules): RightsDocument {
  return {
    agents: Object.fromEntries([...agents].sort(byName).map(([name, agent]) => [name, agentOf(agent)])),
    roles: Object.fromEntries([...roles].sort(byName)),
    policy: policyOf(policy),
    shadow: policyOf(shadow),
    permissions: permissions && permissionsOf(permissions),
  };
}

/** Every environment counts: which of them is in force may be up to the hub's own environment, which needs no approval. */
function permissionsOf({ written, rules }: Permissions): RightsDocument {
  return withoutDefaults({
    environment: written,
    rules: rules.map(({ environment, ordered, servers, fallback, restrictions, rates }) =>
      withoutDefaults({
        environment,
        ordered: ordered.map(ruleOf),
        servers: Object.fromEntries([...servers].sort(byName).map(([name, rule]) => [name, ruleOf(rule)])),
        fallback: ruleOf(fallback),
        restrictions: restrictions.map(ruleOf),
        rates: rates.length === 0 ? undefined : rates,
      }),
    ),
  });
}

function agentOf({ servers, tools, policy, shadow, budget }: AgentSpec): RightsDocument {
  return withoutDefaults({
    servers: sorted(servers),
    tools: Object.fromEntries([...tools].sort(byName).map(([server, filter]) => [server, filterOf(filter)])),
    policy: policyOf(policy),
    shadow: policyOf(shadow),
    budget,
  });
}

function policyOf(policy: ToolPolicy | undefined): unknown {
  return policy?.rules.map(ruleOf);
}

function clientRulesOf({ prefix, rules, agents }: ClientRules, brief: BriefLists): unknown {
  const lists = [...agents].sort(byName);
  return {
    prefix,
    rules: brief(rules, [rules], () => rules.map(ruleOf)),
    agents: brief(agents, [...agents.values()], () =>
      Object.fromEntries(lists.map(([name, own]) => [name, own.map(ruleOf)])),
    ),
  };
}

/** Everything that the rule's effect depends on. `otherwise` ties a clause to the one before it. */
function ruleOf(rule: PolicyRule): unknown {
  const { pattern, effect, otherwise, message, approvers } = rule;
  const limits = limitsOfRule(rule);
  return [
    pattern,
    effect,
    ...(otherwise ? ['otherwise'] : []),
    ...(limits === undefined ? [] : [limits]),
    ...(approvers === undefined ? [] : [`approvers ${approvers.join(', ')}`]),
    ...(message === undefined ? [] : [`message ${message}`]),
  ];
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
