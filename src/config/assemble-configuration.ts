import { didYouMean } from '../base/index.ts';
import {
  affectsAll,
  type Configuration,
  type ConfiguredServer,
  compileNameOrPattern,
  isPattern,
  type Problem,
  type ServerPlan,
  type SourceRef,
} from '../domain/index.ts';
import { mergeAgents } from './agents/merge-agents.ts';
import { type Finding, quote, toProblem } from './findings.ts';
import { applyLock } from './lock/apply-lock.ts';
import { collectPermissions, environmentNotes, environmentVariable } from './permissions/collect-permissions.ts';
import { defaultApprovals, defaultLedger, defaultServe, quartermasterYaml } from './readers/quartermaster-yaml.ts';
import type { FileContent, Mention, Reader, Settings } from './readers/reader.ts';
import { reportHidden } from './report-hidden.ts';
import { type HiddenEntry, inherit, switchOff } from './restrictions/inherit-restrictions.ts';
import { deniesEverything } from './restrictions/read-policy.ts';
import { type CoverOptions, findCovered, findReadable } from './servers/covered-places.ts';
import { leadsToHub } from './servers/hub-entry.ts';
import { resolveServer, type WrittenPlan } from './servers/resolve-server.ts';
import { findSimilarNames } from './servers/similar-names.ts';
import type { FoundLiteral } from './variables/literal-secrets.ts';
import type { DotEnv } from './variables/read-dotenv.ts';
import type { StoredSecrets } from './variables/read-secrets.ts';
import { createVariables, shortestSecret, type VariablesDeps } from './variables/variables.ts';

/** One file that exists. Sources are ordered strongest first. */
export interface ReadSource {
  readonly reader: Reader;
  readonly file: string;
  readonly content: FileContent;
  /** Why nothing of the file is used. */
  readonly problems: readonly Problem[];
  /** The same in one sentence, including for a file that is one server and reports it as that server's problem. */
  readonly unusable?: string;
  /** Valid, but empty. */
  readonly isEmpty?: boolean;
}

export interface LoadDeps extends VariablesDeps {
  /** Folders that no server may reach unless `allowPaths` lists them. The first is the hub's own state. */
  readonly protectedPlaces?: readonly string[];
  /**
   * Where agents write, if it is not the workspace. Nobody approves anything then: a program that can be kept from the code
   * there is kept from it, also if it would run something else without it.
   */
  readonly agentFolder?: string | undefined;
}

export interface AssembleOptions {
  readonly workspace: string;
  readonly readSources: readonly ReadSource[];
  /** Files that the hub does not read, if there is nothing else. */
  readonly unread?: readonly string[];
  readonly notices: readonly Problem[];
  readonly dotEnv: DotEnv;
  readonly stored: StoredSecrets;
  /** Nothing but the texts is of the moment that is loaded. */
  readonly only?: boolean | undefined;
}

export interface AssembledConfiguration {
  readonly configuration: Configuration;
  /** The servers that refer to each variable. */
  readonly uses: ReadonlyMap<string, readonly string[]>;
  /** Of the servers that are valid. */
  readonly plans: ReadonlyMap<string, Omit<ServerPlan, 'files'>>;
  readonly literals: readonly FoundLiteral[];
}

export function assembleConfiguration(deps: LoadDeps, options: AssembleOptions): AssembledConfiguration {
  const { workspace, readSources, dotEnv, stored } = options;
  const settings: Settings = Object.assign({}, ...readSources.map(({ content }) => content.settings).reverse());
  const { servers, problems, secrets, uses, literals, written } = assembleServers(deps, options);
  applyLock(servers, readSources, settings.lock);
  refuseCovering(deps, { servers, problems }, { workspace, allowPaths: settings.allowPaths ?? [] });
  const { agents, problems: aboutAgents } = mergeAgents(readSources);
  const permissions = collectPermissions(readSources, deps.env);
  const all = [
    ...options.notices.map(asFatal),
    ...stored.problems,
    ...dotEnv.problems,
    ...readSources.flatMap(({ reader, file, content, problems: own }) => {
      const found = [...own, ...content.findings.map((finding) => toProblem(file, finding))];
      const unknown = findUnknown(file, content.mentions, { servers, agents });
      return [...(reader.restricts ? found.map(asFatal) : found), ...unknown];
    }),
    ...problems,
    ...aboutAgents,
    ...environmentNotes(permissions),
  ];
  if (readSources.length === 0 && options.notices.length === 0) all.push(noConfiguration(options));
  const configuration: Configuration = {
    workspace,
    servers,
    agents,
    roles: allRoles(readSources),
    ...firstPolicy(readSources),
    ...(permissions === undefined ? {} : { permissions }),
    naming: 'prefixed',
    problems: all.sort(byPlace(readSources)),
    files: [...readSources.map(({ file }) => file), ...(dotEnv.present ? [dotEnv.file] : [])],
    secrets: secrets.filter((secret) => secret.length >= shortestSecret),
    shortSecrets: secrets.filter((secret) => secret.length < shortestSecret),
    environment: [
      ...[...uses.keys()].filter((name) => !stored.values?.has(name) && !dotEnv.values.has(name)),
      ...(permissions !== undefined && permissions.written === undefined ? [environmentVariable] : []),
    ],
    ledger: defaultLedger,
    serve: defaultServe,
    approvals: defaultApprovals,
    allowPaths: [],
    ...settings,
  };
  return { configuration, uses, literals, plans: completePlans(servers, written) };
}

/** Servers that could reach keys become invalid, unless `allowPaths` says that they may. */
function refuseCovering(
  { env, protectedPlaces: places = [] }: LoadDeps,
  { servers, problems }: Pick<AssembledServers, 'servers' | 'problems'>,
  options: Pick<CoverOptions, 'workspace' | 'allowPaths'>,
): void {
  for (const [name, server] of servers) {
    if (server.kind !== 'ready') continue;
    const { source, hides } = server.spec;
    const { refused, reaches } = findCovered(server.spec, { ...options, places, home: env.HOME });
    const warning = findReadable(server.spec, options);
    if (warning !== undefined) problems.push(toProblem(source.file, warning));
    if (refused === undefined) {
      servers.set(name, { kind: 'ready', spec: { ...server.spec, reaches } });
      continue;
    }
    const problem = toProblem(source.file, refused);
    problems.push(problem);
    servers.set(name, { kind: 'invalid', name, source, hides, problems: [problem] });
  }
}

function completePlans(
  servers: ReadonlyMap<string, ConfiguredServer>,
  written: ReadonlyMap<string, WrittenPlan>,
): ReadonlyMap<string, Omit<ServerPlan, 'files'>> {
  return new Map(
    [...written].flatMap(([name, plan]) => {
      const server = servers.get(name);
      return server?.kind === 'ready' ? [[name, { ...plan, reaches: server.spec.reaches }]] : [];
    }),
  );
}

/** An error in one server leaves out only that server, and one in the entry of an agent leaves that agent without tools. */
function asFatal(problem: Problem): Problem {
  return affectsAll(problem) ? { ...problem, fatal: true } : problem;
}

interface AssembledServers {
  readonly servers: Map<string, ConfiguredServer>;
  readonly problems: Problem[];
  readonly secrets: string[];
  readonly uses: ReadonlyMap<string, readonly string[]>;
  readonly written: ReadonlyMap<string, WrittenPlan>;
  readonly literals: readonly FoundLiteral[];
}

/**
 * The stronger file wins. Problems in hidden servers are not reported, and hiding is reported only if it makes a
 * difference.
 */
function assembleServers(deps: LoadDeps, options: AssembleOptions): AssembledServers {
  const { workspace, readSources, dotEnv, stored, only: onlyTexts } = options;
  const servers = new Map<string, ConfiguredServer>();
  const problems: Problem[] = [];
  // A server may print a secret that it read elsewhere, so unused ones are hidden too.
  const secrets = new Set([...(stored.values?.values() ?? [])].filter((value) => value.length >= shortestSecret));
  const uses = new Map<string, string[]>();
  const written = new Map<string, WrittenPlan>();
  const literals: FoundLiteral[] = [];
  const madeFrom = new Map<string, string | undefined>();
  const samples: HiddenEntry[] = [];
  // Whoever disables an entry that leads to the hub may mean the server of that name.
  const unused: SwitchedOff[] = [];
  for (const { reader, file, content } of readSources) {
    const { workspaceNames } = reader;
    const { grammar = reader.grammar, writeVariable = reader.writeVariable } = content;
    const variables = createVariables(deps, {
      workspace,
      workspaceNames,
      stored: stored.values,
      dotEnv: dotEnv.values,
    });
    for (const draft of content.servers) {
      const winner = servers.get(draft.name);
      const context = { file, workspace, grammar, variables, writeVariable, onlyTexts, agentFolder: deps.agentFolder };
      const resolved = resolveServer(draft, context);
      if (!isOurs(reader) && leadsToHub(draft, resolved.server)) {
        if (draft.body?.enabled === false) unused.push({ name: draft.name, file, line: draft.line });
        continue;
      }
      if (draft.isSample === true) {
        samples.push({ draft, resolved, file });
        continue;
      }
      if (winner !== undefined) {
        const made = madeFrom.get(draft.name) === file;
        problems.push(...reportHidden({ winner, hidden: resolved.server, draft, file, made }));
        const { server, problem } = inherit(hiding(winner, { file, line: draft.line }), { draft, resolved, file });
        if (problem !== undefined) problems.push(problem);
        servers.set(draft.name, server);
        continue;
      }
      servers.set(draft.name, resolved.server);
      if (resolved.plan !== undefined) written.set(draft.name, resolved.plan);
      madeFrom.set(draft.name, draft.madeFrom);
      problems.push(...resolved.problems);
      literals.push(...resolved.literals);
      for (const secret of resolved.secrets) secrets.add(secret);
      for (const variable of resolved.variables) uses.set(variable, [...(uses.get(variable) ?? []), draft.name]);
    }
  }
  for (const sample of samples) problems.push(...restrictBy(sample, servers));
  switchOffAll(servers, [
    ...readSources.flatMap(({ file, content }) => (content.switchedOff ?? []).map((each) => ({ ...each, file }))),
    ...unused,
  ]);
  problems.push(...findSimilarNames(servers));
  return { servers, problems, secrets: [...secrets], uses, literals, written };
}

/** A sample here may be a server in another file. It does not run, but its restrictions count. */
function restrictBy(sample: HiddenEntry, servers: Map<string, ConfiguredServer>): readonly Problem[] {
  const winner = servers.get(sample.draft.name);
  if (winner === undefined) return [];
  const { server, problem } = inherit(winner, sample);
  servers.set(sample.draft.name, server);
  return problem === undefined ? [] : [problem];
}

interface SwitchedOff {
  /** Or a pattern. */
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

function switchOffAll(servers: Map<string, ConfiguredServer>, switches: readonly SwitchedOff[]): void {
  for (const { name, file, line } of switches) {
    const fits = isPattern(name) ? compileNameOrPattern(name) : undefined;
    for (const each of fits === undefined ? [name] : [...servers.keys()].filter(fits)) {
      const server = servers.get(each);
      if (server !== undefined) servers.set(each, switchOff(server, { file, line }));
    }
  }
}

/** No client keeps its own entries there, so every entry is meant for the hub. */
function isOurs(reader: Reader): boolean {
  return reader === quartermasterYaml || reader.serverOf !== undefined;
}

function hiding(winner: ConfiguredServer, place: SourceRef): ConfiguredServer {
  if (winner.kind !== 'ready') return { ...winner, hides: [...winner.hides, place] };
  return { ...winner, spec: { ...winner.spec, hides: [...winner.spec.hides, place] } };
}

/** A role is a fact about one agent, so lists can be merged. Stronger files override weaker ones. */
function allRoles(readSources: readonly ReadSource[]): Configuration['roles'] {
  return new Map(readSources.toReversed().flatMap(({ content }) => [...content.roles]));
}

/** Rules come from the strongest file that has any, unless the restrictions of another file could not be understood. */
function firstPolicy(readSources: readonly ReadSource[]): Pick<Configuration, 'policy' | 'shadow'> {
  const contents = readSources.map(({ content }) => content);
  const locked = contents.find(({ policy }) => policy !== undefined && deniesEverything(policy));
  const { policy } = locked ?? contents.find((content) => content.policy !== undefined) ?? {};
  const { shadow } = locked ?? contents.find((content) => content.shadow !== undefined) ?? {};
  return { policy, ...(shadow === undefined ? {} : { shadow }) };
}

function findUnknown(
  file: string,
  mentions: readonly Mention[],
  known: Pick<Configuration, 'servers' | 'agents'>,
): Problem[] {
  const { servers, agents } = known;
  return mentions.flatMap((mention) => {
    const { kind, text, line, field } = mention;
    if (kind === 'role') return agents.has(text) ? [] : [toProblem(file, missingRole(mention, [...agents.keys()]))];
    if (kind === 'name' ? servers.has(text) : mayMatch(text, servers)) return [];
    const near = didYouMean(kind === 'name' ? text : text.slice(0, text.indexOf('.')), [...servers.keys()]);
    const message = `${mention.subject}: ${quote(text)} names a server that is not configured.`;
    const fix = near === undefined ? 'Configure the server, or remove the name.' : `Did you mean "${near}"?`;
    return [toProblem(file, { severity: 'warning', line, field, message, fix })];
  });
}

/** A missing role restricts nothing, which is seldom intended. */
function missingRole({ text: role, line, field, subject }: Mention, agents: readonly string[]): Finding {
  const near = didYouMean(role, agents);
  return {
    severity: 'warning',
    line,
    field,
    message: `${subject}: its role ${quote(role)} has no entry and therefore no effect.`,
    fix: near === undefined ? `Write an entry ${quote(role)} under agents:.` : `Did you mean "${near}"?`,
  };
}

/** A wildcard before the first dot may match any server, including future ones. */
function mayMatch(pattern: string, servers: ReadonlyMap<string, unknown>): boolean {
  const star = pattern.indexOf('*');
  const dot = pattern.indexOf('.');
  if (pattern === '*' || (star >= 0 && star < dot)) return true;
  for (let end = dot; end >= 0; end = pattern.indexOf('.', end + 1)) {
    if (servers.has(pattern.slice(0, end))) return true;
  }
  return false;
}

function noConfiguration({ workspace, unread = [] }: AssembleOptions): Problem {
  const [first, second] = unread.map((file) => quote(file));
  const more =
    second === undefined ? '' : unread.length === 2 ? ` and ${second}` : ` and ${unread.length - 1} more files`;
  const beside = first === undefined ? '' : ` The hub does not read ${first}${more}.`;
  const copy = first === undefined ? 'Run `qm init`, add' : 'Copy the servers into .mcp.json, add';
  return toProblem('quartermaster.yaml', {
    severity: 'warning',
    message: `No configuration found in ${workspace}.${beside}`,
    fix: `${copy} a server with \`qm add\`, use a preset from \`qm bootstrap --list\`, or write quartermaster.yaml, .mcp.json or another file that docs/configuration.md names.`,
  });
}

/** In the order in which people work through them: file by file, top to bottom. */
function byPlace(readSources: readonly ReadSource[]): (left: Problem, right: Problem) => number {
  const ranks = new Map(readSources.map(({ file }, index) => [file, index]));
  const rank = (problem: Problem): number => ranks.get(problem.file) ?? -1;
  return (left, right) => rank(left) - rank(right) || (left.line ?? 0) - (right.line ?? 0);
}
