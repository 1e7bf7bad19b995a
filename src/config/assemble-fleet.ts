import type { Fleet, FleetServer, Problem, SourceRef } from '../domain/index.ts';
import { didYouMean } from './did-you-mean.ts';
import { leadsToHub } from './hub-entry.ts';
import { inherit, switchOff } from './inherit-restrictions.ts';
import { layAgents } from './lay-agents.ts';
import { type Finding, quote, toProblem } from './problems.ts';
import type { DotEnv } from './read-dotenv.ts';
import { deniesEverything } from './read-policy.ts';
import { defaultServe, quartermasterYaml } from './readers/quartermaster-yaml.ts';
import type { FileContent, Mention, Reader, Settings } from './readers/reader.ts';
import { reportHidden } from './report-hidden.ts';
import { resolveServer } from './resolve-server.ts';
import { createVariables, shortestSecret, type VariablesDeps } from './variables.ts';

/** One file that is there, strongest first. */
export interface SourceReading {
  readonly reader: Reader;
  readonly file: string;
  readonly content: FileContent;
  /** Why nothing of the file is used. */
  readonly problems: readonly Problem[];
  /** The same in one sentence, also where the file is one server and that is the server's problem. */
  readonly unusable?: string;
  /** Understood, with nothing in it. */
  readonly isEmpty?: boolean;
}

export interface AssembleOptions {
  readonly workspace: string;
  readonly readings: readonly SourceReading[];
  readonly notices: readonly Problem[];
  readonly dotEnv: DotEnv;
}

export function assembleFleet(deps: VariablesDeps, options: AssembleOptions): Fleet {
  const { workspace, readings, dotEnv } = options;
  const { servers, problems, secrets } = assembleServers(deps, options);
  const { agents, problems: aboutAgents } = layAgents(readings);
  const settings: Settings = Object.assign({}, ...readings.map(({ content }) => content.settings).reverse());
  const all = [
    ...options.notices.map(asFatal),
    ...dotEnv.problems,
    ...readings.flatMap(({ reader, file, content, problems: own }) => {
      const found = [...own, ...content.findings.map((finding) => toProblem(file, finding))];
      const unknown = findUnknown(file, content.mentions, { servers, agents });
      return [...(reader.restricts ? found.map(asFatal) : found), ...unknown];
    }),
    ...problems,
    ...aboutAgents,
  ];
  if (readings.length === 0 && options.notices.length === 0) all.push(noConfiguration(workspace));
  return {
    workspace,
    servers,
    agents,
    roles: allRoles(readings),
    policy: firstPolicy(readings),
    naming: 'prefixed',
    problems: all.sort(byPlace(readings)),
    files: [...readings.map(({ file }) => file), ...(dotEnv.present ? [dotEnv.file] : [])],
    secrets: secrets.filter((secret) => secret.length >= shortestSecret),
    shortSecrets: secrets.filter((secret) => secret.length < shortestSecret),
    ledger: { sync: 'os' },
    serve: defaultServe,
    ...settings,
  };
}

/** An error that belongs to one server leaves that server out, and nothing else. */
function asFatal(problem: Problem): Problem {
  return problem.severity === 'error' && problem.server === undefined ? { ...problem, fatal: true } : problem;
}

interface AssembledServers {
  readonly servers: Map<string, FleetServer>;
  readonly problems: Problem[];
  readonly secrets: string[];
}

/** The stronger file wins; what it hides is not judged, and mentioned only where it would make a difference. */
function assembleServers(deps: VariablesDeps, { workspace, readings, dotEnv }: AssembleOptions): AssembledServers {
  const servers = new Map<string, FleetServer>();
  const problems: Problem[] = [];
  const secrets = new Set<string>();
  const madeFrom = new Map<string, string | undefined>();
  for (const { reader, file, content } of readings) {
    const { workspaceNames, sayVariable } = reader;
    const grammar = content.grammar ?? reader.grammar;
    const variables = createVariables(deps, { workspace, workspaceNames, dotEnv: dotEnv.values });
    for (const draft of content.servers) {
      const winner = servers.get(draft.name);
      const resolved = resolveServer(draft, { file, workspace, grammar, variables, sayVariable });
      if (!isOurs(reader) && leadsToHub(draft, resolved.server)) continue;
      if (winner !== undefined) {
        const made = madeFrom.get(draft.name) === file;
        problems.push(...reportHidden({ winner, hidden: resolved.server, draft, file, made }));
        const { server, problem } = inherit(hiding(winner, { file, line: draft.line }), { draft, resolved, file });
        if (problem !== undefined) problems.push(problem);
        servers.set(draft.name, server);
        continue;
      }
      servers.set(draft.name, resolved.server);
      madeFrom.set(draft.name, draft.madeFrom);
      problems.push(...resolved.problems);
      for (const secret of resolved.secrets) secrets.add(secret);
    }
  }
  for (const { file, content } of readings) {
    for (const { name, line } of content.switchedOff ?? []) {
      const server = servers.get(name);
      if (server !== undefined) servers.set(name, switchOff(server, { file, line }));
    }
  }
  return { servers, problems, secrets: [...secrets] };
}

/** No client has its own entries there, so whatever stands there is meant for the hub. */
function isOurs(reader: Reader): boolean {
  return reader === quartermasterYaml || reader.serverOf !== undefined;
}

function hiding(winner: FleetServer, place: SourceRef): FleetServer {
  if (winner.kind === 'invalid') return { ...winner, hides: [...winner.hides, place] };
  return { ...winner, spec: { ...winner.spec, hides: [...winner.spec.hides, place] } };
}

/** A role is a fact about one agent, so these lists can be laid over each other, the weaker ones first. */
function allRoles(readings: readonly SourceReading[]): Fleet['roles'] {
  return new Map(readings.toReversed().flatMap(({ content }) => [...content.roles]));
}

/** Rules come from the strongest file that has any, unless another's restrictions could not be understood. */
function firstPolicy(readings: readonly SourceReading[]): Fleet['policy'] {
  const policies = readings.flatMap(({ content }) => content.policy ?? []);
  return policies.find(deniesEverything) ?? policies[0];
}

function findUnknown(file: string, mentions: readonly Mention[], known: Pick<Fleet, 'servers' | 'agents'>): Problem[] {
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

/** A role that is not there restricts nothing, which is seldom what was meant. */
function missingRole({ text: role, line, field, subject }: Mention, agents: readonly string[]): Finding {
  const near = didYouMean(role, agents);
  return {
    severity: 'warning',
    line,
    field,
    message: `${subject}: its role ${quote(role)} has no entry of its own, and says nothing.`,
    fix: near === undefined ? `Write an entry ${quote(role)} under agents:.` : `Did you mean "${near}"?`,
  };
}

/** A wildcard before the first dot may stand for any server, also one of tomorrow. */
function mayMatch(pattern: string, servers: ReadonlyMap<string, unknown>): boolean {
  const star = pattern.indexOf('*');
  const dot = pattern.indexOf('.');
  if (pattern === '*' || (star >= 0 && star < dot)) return true;
  for (let end = dot; end >= 0; end = pattern.indexOf('.', end + 1)) {
    if (servers.has(pattern.slice(0, end))) return true;
  }
  return false;
}

function noConfiguration(workspace: string): Problem {
  return toProblem('quartermaster.yaml', {
    severity: 'warning',
    message: `No configuration found in ${workspace}.`,
    fix: 'Add a server with `qm add`, take a ready one from `qm bootstrap --list`, or write quartermaster.yaml, .mcp.json or another file that docs/configuration.md names.',
  });
}

/** In the order a person works through them: file by file, from top to bottom. */
function byPlace(readings: readonly SourceReading[]): (left: Problem, right: Problem) => number {
  const ranks = new Map(readings.map(({ file }, index) => [file, index]));
  const rank = (problem: Problem): number => ranks.get(problem.file) ?? -1;
  return (left, right) => rank(left) - rank(right) || (left.line ?? 0) - (right.line ?? 0);
}
