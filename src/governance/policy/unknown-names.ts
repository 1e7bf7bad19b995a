import { didYouMean } from '../../base/index.ts';
import {
  type AccessRules,
  type Configuration,
  compileWildcard,
  isPattern,
  listSourceOf,
  matchesWildcard,
  type PolicyRule,
  type Problem,
  permissionsInForce,
  placeOf,
  type ServerSpec,
  type SourceRef,
  type ToolFilter,
} from '../../domain/index.ts';
import { ambiguousNames } from './ambiguous-names.ts';
import { toolSpellings } from './name-list.ts';
import { entryTitles } from './policy-entries.ts';
import { createPatternIndex } from './rules/pattern-index.ts';
import { splitToolName } from './tool-name.ts';
import { isReadName, resourcePrefix } from './uris/read-name.ts';

export interface KnownTool {
  /** `prompt:<name>` and `resource:<uri>` for prompts and resources. */
  readonly name: string;
  /** The name that agents see, if the caller knows it. */
  readonly exposedName?: string;
}

/** The tools of each server that has been queried. Other servers are not in the map. */
export type KnownTools = ReadonlyMap<string, readonly KnownTool[]>;

/** Finds names in filters and rules that no known server has, nearly all of them typos, and names that fit several. */
export function unknownNames(configuration: Configuration, known: KnownTools): readonly Problem[] {
  const titleOf = entryTitles(configuration);
  const found = [...filterProblems(configuration, known, titleOf)];
  const addRules = ({ policy, shadow }: Pick<AccessRules, 'policy' | 'shadow'>, title: string | undefined): void => {
    for (const each of [policy, shadow]) found.push(...ruleProblems(each?.rules ?? [], title, configuration, known));
  };
  addRules(configuration, undefined);
  found.push(...ruleProblems(permissionRulesOf(configuration), undefined, configuration, known));
  for (const agent of configuration.agents.values()) addRules(agent, titleOf(agent.name));
  const problems = found.map((each, at) => (at < mostSuggested ? withSuggestion(each) : each.problem));
  return [...problems, ...ambiguousNames(configuration)];
}

/** Rules that name a tool. Patterns of a permissions file are often meant for any server. Each place counts once. */
function permissionRulesOf({ permissions }: Configuration): readonly PolicyRule[] {
  const all = permissions === undefined ? [] : permissionsInForce(permissions).flatMap(({ ordered }) => ordered);
  const places = new Map(all.filter(({ pattern }) => !isPattern(pattern)).map((rule) => [placeOf(rule.source), rule]));
  return [...places.values()];
}

/** A problem, and the name that it is about if another one may have been meant. */
interface FoundProblem {
  readonly problem: Problem;
  readonly typo?: { readonly text: string; readonly names: () => readonly string[] };
}

/** Comparing a name with all others takes time, and nobody reads more suggestions. */
const mostSuggested = 20;

/** A pattern is meant for several names, so none is suggested for it. */
function withSuggestion({ problem, typo }: FoundProblem): Problem {
  const near = typo === undefined || isPattern(typo.text) ? undefined : didYouMean(typo.text, typo.names());
  return near === undefined ? problem : { ...problem, fix: `Did you mean "${near}"?` };
}

function* filterProblems(
  configuration: Configuration,
  known: KnownTools,
  titleOf: (name: string) => string,
): Generator<FoundProblem> {
  for (const [server, entry] of configuration.servers) {
    if (entry.kind !== 'ready') continue;
    for (const { tools, source } of [entry.spec, ...entry.spec.restrictedBy]) {
      yield* oneFilter(tools, server, `server ${server}`, source, known);
    }
    yield* cacheProblems(entry.spec, known.get(server));
  }
  for (const agent of configuration.agents.values()) {
    for (const [server, filter] of agent.tools) {
      yield* oneFilter(filter, server, titleOf(agent.name), agent.source, known);
    }
  }
}

function* cacheProblems(
  { name: server, cache, source }: ServerSpec,
  tools: readonly KnownTool[] | undefined,
): Generator<FoundProblem> {
  if (tools === undefined) return;
  const names = new Set(tools.map(({ name }) => name));
  for (const entry of cache?.tools ?? []) {
    if (names.has(entry)) continue;
    const message = `The cache of server ${server} names "${entry}", which server ${server} does not have.`;
    yield { problem: warning(source, server, message), typo: { text: entry, names: () => [...names] } };
  }
}

function* oneFilter(
  filter: ToolFilter,
  server: string,
  by: string,
  source: SourceRef,
  known: KnownTools,
): Generator<FoundProblem> {
  const tools = known.get(server);
  if (tools === undefined) return;
  const owners = ownersBySpelling(server, tools);
  for (const list of ['include', 'exclude'] as const) {
    const place = listSourceOf(filter, list, source);
    for (const entry of filter[list] ?? []) {
      const matches = isPattern(entry) ? patternMatches(entry, owners) : (owners.get(entry)?.size ?? 0);
      if (matches === 0 && entry !== '*' && !mayBeUnlisted(ownPart(entry, server))) {
        const message = `The ${list} list of ${by} names "${entry}", which server ${server} does not have.`;
        const typo = { text: ownPart(entry, server), names: () => tools.map(({ name }) => name) };
        yield { problem: warning(place, server, message), typo };
      }
      if (matches > 1 && !isPattern(entry)) {
        const message = `The ${list} list of ${by} names "${entry}", which fits ${matches} tools of server ${server}; all are meant.`;
        yield { problem: warning(place, server, message) };
      }
    }
  }
}

function ownPart(entry: string, server: string): string {
  return entry.startsWith(`${server}.`) ? entry.slice(server.length + 1) : entry;
}

/** A server need not list every resource, and a pattern may be meant for future prompts. */
function mayBeUnlisted(subject: string): boolean {
  return subject.startsWith(resourcePrefix) || (isReadName(subject) && isPattern(subject));
}

/** Maps each spelling to the tools it means. */
function ownersBySpelling(server: string, tools: readonly KnownTool[]): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>();
  for (const { name, exposedName } of tools) {
    for (const spelling of toolSpellings(server, name, exposedName ?? name)) {
      const named = owners.get(spelling) ?? new Set();
      owners.set(spelling, named.add(name));
    }
  }
  return owners;
}

function patternMatches(pattern: string, owners: ReadonlyMap<string, unknown>): number {
  const wildcard = compileWildcard(pattern);
  for (const spelling of owners.keys()) if (matchesWildcard(wildcard, spelling)) return 1;
  return 0;
}

function* ruleProblems(
  rules: readonly PolicyRule[],
  title: string | undefined,
  configuration: Configuration,
  known: KnownTools,
): Generator<FoundProblem> {
  const hit = rulesThatMatch(rules, known);
  const owner = title === undefined ? 'A rule' : `A rule of ${title}`;
  for (const rule of rules) {
    if (hit.has(rule)) continue;
    // The literal start of a pattern names its server. A pattern that starts with a star names none.
    const literal = isPattern(rule.pattern) ? compileWildcard(rule.pattern).prefix : rule.pattern;
    const server = serverOf(literal, rule.pattern, configuration);
    // A name of no server at all is a problem of the configuration, reported when it was read.
    if (server === undefined || !known.has(server.name) || server.wholeServer || server.mayBeUnlisted) continue;
    const message = `${owner} names "${rule.pattern}", which server ${server.name} does not have.`;
    const names = (): string[] => known.get(server.name)?.map(({ name }) => `${server.name}.${name}`) ?? [];
    yield { problem: warning(rule.source, server.name, message), typo: { text: rule.pattern, names } };
  }
}

function rulesThatMatch(rules: readonly PolicyRule[], known: KnownTools): ReadonlySet<PolicyRule> {
  const exact = new Map<string, PolicyRule[]>();
  const patterns = createPatternIndex<PolicyRule>();
  for (const rule of rules) {
    if (isPattern(rule.pattern)) patterns.add(rule.pattern, rule);
    else exact.set(rule.pattern, [...(exact.get(rule.pattern) ?? []), rule]);
  }
  const hit = new Set<PolicyRule>();
  for (const [server, tools] of known) {
    for (const { name } of tools) {
      const subject = `${server}.${name}`;
      for (const rule of exact.get(subject) ?? []) hit.add(rule);
      patterns.visit(subject, (rule) => hit.add(rule));
    }
  }
  return hit;
}

interface NamedServer {
  readonly name: string;
  /** `server.*`, which is also valid for a server without tools. */
  readonly wholeServer: boolean;
  readonly mayBeUnlisted: boolean;
}

function serverOf(literal: string, pattern: string, configuration: Configuration): NamedServer | undefined {
  // The added letter makes `files.` split like `files.x`.
  const name = splitToolName(isPattern(pattern) ? `${literal}x` : literal, configuration.servers);
  if (name === undefined) return undefined;
  return {
    name: name.server,
    wholeServer: isPattern(pattern) && name.tool === 'x',
    mayBeUnlisted: mayBeUnlisted(ownPart(pattern, name.server)),
  };
}

function warning(source: SourceRef, server: string, message: string): Problem {
  return {
    severity: 'warning',
    file: source.file,
    ...(source.line === undefined ? {} : { line: source.line }),
    server,
    fix: `Run \`qm inspect ${server}\` to see its tools.`,
    message,
  };
}
