import type {
  AgentSpec,
  ClientRules,
  Fleet,
  FleetServer,
  PolicyRule,
  ServerSpec,
  ToolFilter,
  ToolPolicy,
} from '../../domain/index.ts';
import { compileRouting } from './routing.ts';
import { compileRuleSet, strictness } from './rule-set.ts';
import { isReadOnly } from './scopes.ts';
import { speakersFor } from './speakers.ts';
import { splitToolName } from './tool-name.ts';
import { isPattern } from './wildcard.ts';

/**
 * What of `before` could let somebody do more under `next`, one phrase each. It errs on the side of too many: a
 * restriction that is written in another way counts as lost. A server that `before` does not have is no widening.
 */
export function findWidenings(before: Fleet, next: Fleet): readonly string[] {
  const found = new Set<string>();
  for (const [name, server] of before.servers) {
    for (const loss of serverLosses(server, next.servers.get(name))) found.add(`server ${name}: ${loss}`);
  }
  for (const loss of ruleLosses(before.policy, next.policy, before.servers)) found.add(loss);
  for (const [name, entry] of before.agents) {
    for (const loss of entryLosses(entry, next.agents.get(name), before.servers)) found.add(`agent ${name}: ${loss}`);
  }
  for (const [name, { policy }] of next.agents) {
    if (before.agents.has(name)) continue;
    for (const gain of ruleLosses(undefined, policy, before.servers)) found.add(`agent ${name}: ${gain}`);
  }
  for (const loss of roleLosses(before, next)) found.add(loss);
  for (const gain of routeGains(before, next)) found.add(gain);
  return [...found];
}

function* serverLosses(before: FleetServer, next: FleetServer | undefined): Generator<string> {
  if (next?.kind !== 'ready') return;
  if (before.kind === 'invalid') {
    if (before.unclear === true) yield 'a restriction that was not understood is gone';
    return;
  }
  if (!before.spec.enabled && next.spec.enabled) yield 'it is switched on';
  yield* serverFilterLosses(filtersOf(before.spec), filtersOf(next.spec));
  yield* accessLosses(before.spec, next.spec);
  yield* clientRuleLosses(before.spec, next.spec);
}

function filtersOf({ tools, restrictedBy }: ServerSpec): readonly ToolFilter[] {
  return [tools, ...restrictedBy.map((each) => each.tools)];
}

/** Each of its lists counts, from whichever file it is. */
function* serverFilterLosses(before: readonly ToolFilter[], next: readonly ToolFilter[]): Generator<string> {
  const exclude = next.flatMap((filter) => filter.exclude ?? []);
  for (const filter of before) {
    const losses = next.map(({ include }) => [...filterLosses(filter, { exclude, ...(include && { include }) })]);
    if (losses.every(({ length }) => length > 0)) yield* losses[0] ?? [];
  }
}

function* accessLosses(before: ServerSpec, next: ServerSpec): Generator<string> {
  const [old, fresh] = [before, next].map(({ access, restrictedBy }) => {
    const all = [access, ...restrictedBy.flatMap((each) => each.access ?? [])];
    return {
      shut: all.some(({ scopes }) => scopes?.length === 0),
      readOnly: all.some(isReadOnly),
      approval: all.some(({ writeRequiresApproval }) => writeRequiresApproval),
    };
  });
  if (old?.shut && !fresh?.shut) yield 'its scopes are no longer empty';
  if (old?.readOnly && !fresh?.readOnly) yield 'it is no longer read-only';
  if (old?.approval && !fresh?.approval) yield 'writing no longer needs approval';
  if (!before.access.trustAnnotations && next.access.trustAnnotations) yield 'its annotations are trusted';
}

function* clientRuleLosses(before: ServerSpec, next: ServerSpec): Generator<string> {
  const texts = (spec: ServerSpec): Map<string, string> =>
    new Map(
      spec.restrictedBy.flatMap(({ rules, source }) => (rules === undefined ? [] : [[textOf(rules), source.file]])),
    );
  const kept = texts(next);
  for (const [text, file] of texts(before)) if (!kept.has(text)) yield `its rules in ${file} are others`;
}

function textOf({ prefix, rules, agents }: ClientRules): string {
  const plain = (list: readonly PolicyRule[]): unknown => list.map(({ pattern, effect }) => [pattern, effect]);
  return JSON.stringify([prefix, plain(rules), [...agents].map(([agent, list]) => [agent, plain(list)])]);
}

function* filterLosses(before: ToolFilter, next: ToolFilter | undefined): Generator<string> {
  const excluded = new Set(next?.exclude);
  for (const entry of before.exclude ?? []) if (!excluded.has(entry)) yield `${entry} is no longer excluded`;
  if (before.include === undefined || before.include.includes('*')) return;
  if (next?.include === undefined) {
    yield 'the list of included tools is gone';
    return;
  }
  const included = new Set(before.include);
  for (const entry of next.include) if (!included.has(entry)) yield `${entry} is included`;
}

/** Of two maps of rules, those that are gone or weaker, and exact ones that lift what a pattern or a server demands. */
function* ruleLosses(
  before: ToolPolicy | undefined,
  next: ToolPolicy | undefined,
  servers: Fleet['servers'],
): Generator<string> {
  const old = compileRuleSet(before ?? noRules, servers);
  const fresh = compileRuleSet(next ?? noRules, servers);
  const patterns = new Map<string, number>();
  for (const rule of next?.rules ?? []) {
    patterns.set(rule.pattern, Math.max(strictness(rule), patterns.get(rule.pattern) ?? 0));
  }
  const strictest = (set: typeof old, pattern: string): number => {
    const name = splitToolName(pattern, servers);
    const rule = name === undefined ? undefined : set.find(name.server, name.tool);
    return rule === undefined ? 0 : strictness(rule);
  };
  for (const rule of before?.rules ?? []) {
    const now = isPattern(rule.pattern) ? (patterns.get(rule.pattern) ?? 0) : strictest(fresh, rule.pattern);
    if (now < strictness(rule)) yield `rule "${rule.pattern}: ${rule.effect}" is gone or weaker`;
  }
  const allowed = new Set(
    (before?.rules ?? []).flatMap(({ effect, pattern }) => (effect === 'allow' ? [pattern] : [])),
  );
  for (const rule of next?.rules ?? []) {
    if (isPattern(rule.pattern)) continue;
    const lifts = rule.effect === 'allow' && !allowed.has(rule.pattern);
    if (lifts || strictest(fresh, rule.pattern) < strictest(old, rule.pattern)) {
      yield `rule "${rule.pattern}: ${rule.effect}" is new`;
    }
  }
}

const noRules: ToolPolicy = { source: { file: '' }, rules: [] };

function* entryLosses(before: AgentSpec, next: AgentSpec | undefined, servers: Fleet['servers']): Generator<string> {
  if (next === undefined) {
    if (restricts(before)) yield 'its entry is gone';
    return;
  }
  for (const [server, filter] of before.tools) {
    for (const loss of filterLosses(filter, next.tools.get(server))) yield `server ${server}: ${loss}`;
  }
  yield* ruleLosses(before.policy, next.policy, servers);
}

function restricts({ tools, policy }: AgentSpec): boolean {
  return tools.size > 0 || policy !== undefined;
}

function* roleLosses(before: Fleet, next: Fleet): Generator<string> {
  for (const [agent, role] of before.roles) {
    const entry = before.agents.get(role);
    if (next.roles.get(agent) !== role && entry !== undefined && restricts(entry))
      yield `agent ${agent}: role ${role} is gone`;
  }
  for (const [agent, role] of next.roles) {
    const entry = next.agents.get(role);
    if (before.roles.get(agent) !== role && entry?.policy !== undefined) yield `agent ${agent}: role ${role} is new`;
  }
}

/** Agents that are named, and one that is not, which stands for all the others. */
function* routeGains(before: Fleet, next: Fleet): Generator<string> {
  const [old, fresh] = [compileRouting(before), compileRouting(next)];
  const names = new Set([before, next].flatMap(({ agents, roles }) => [...agents.keys(), ...roles.keys()]));
  const known = [...before.servers].flatMap(([name, server]) => {
    const there = next.servers.has(name);
    return there && server.kind === 'ready' && server.spec.enabled ? [name] : [];
  });
  for (const agent of [...names, undefined]) {
    const name = agent ?? stranger;
    const was = old(name, speakersFor(before, name));
    const is = fresh(name, speakersFor(next, name));
    const gained = known.filter((server) => is.leadsTo(server) && !was.leadsTo(server));
    if (gained.length === 0) continue;
    const who = agent === undefined ? 'agents without an entry' : `agent ${agent}`;
    yield `${who}: ${gained.length > 5 ? `${gained.length} servers are` : `${gained.join(', ')} ${gained.length === 1 ? 'is' : 'are'}`} routed`;
  }
}

/** No entry can have this name. */
const stranger = '\0';
