import type { AgentSpec, ToolFilter } from '../../domain/index.ts';
import { checkNode, repeated } from '../check-node.ts';
import { child, entryOf, isNull, lineAt, type SourceEntry, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, hasError, quote } from '../findings.ts';
import type { Mention } from '../readers/reader.ts';
import { denyEverything, readPolicy } from '../restrictions/read-policy.ts';
import { agentSchema } from '../schema.ts';
import { checkName } from '../servers/server-draft.ts';
import { numberAt, textAt, textsAt } from '../texts.ts';

export interface ReadAgents {
  readonly agents: ReadonlyMap<string, AgentSpec>;
  readonly roles: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
  readonly mentions: readonly Mention[];
}

/** An agent with a mistake in its entry gets nothing, because its restrictions are unknown. */
export function readAgents(section: SourceNode, file: string): ReadAgents {
  const agents = new Map<string, AgentSpec>();
  const roles = new Map<string, string>();
  const findings: Finding[] = [];
  const mentions: Mention[] = [];
  for (const entry of section.kind === 'map' ? section.entries : []) {
    const before = agents.get(entry.key)?.source.line;
    const read = readAgent(entry, file);
    const own = before === undefined ? read.findings : [...read.findings, agentTwice(entry, before, 'agents')];
    const source = { file, line: before ?? entry.line };
    agents.set(entry.key, hasError(own) ? lockedAgent(entry.key, source) : read.agent);
    const role = textAt(entry.value, 'role');
    if (role !== undefined) {
      const line = lineAt(entry.value, ['role']);
      const place = { line, field: dotted('agents', entry.key, 'role'), subject: `Agent ${quote(entry.key)}` };
      roles.set(entry.key, role);
      mentions.push({ kind: 'role', text: role, ...place });
    }
    findings.push(...own);
    mentions.push(...read.mentions);
  }
  return { agents, roles, findings, mentions };
}

function readAgent(
  entry: SourceEntry,
  file: string,
): { agent: AgentSpec; findings: readonly Finding[]; mentions: readonly Mention[] } {
  const { key: name, line, value: node } = entry;
  const field = dotted('agents', name);
  const subject = `Agent ${quote(name)}`;
  const findings: Finding[] = [];
  const badName = checkName('Agent', name);
  if (badName !== undefined) findings.push({ severity: 'error', line, field, ...badName });
  if (!isNull(node)) findings.push(...checkNode(agentSchema, node, { field, subject, unknownKeys: 'error' }));
  findings.push(...bothLists(node, field, subject));
  const policies = child(node, 'policies');
  const rules =
    policies === undefined
      ? undefined
      : readPolicy(policies, { file, field: dotted(field, 'policies'), subject: `${subject}, policies` });
  const agent: AgentSpec = {
    name,
    source: { file, line },
    servers: textsAt(node, 'servers') ?? textsAt(child(node, 'requires'), 'mcp'),
    tools: readFilters(child(node, 'tools')),
    policy: rules?.policy,
    ...(rules?.shadow === undefined ? {} : { shadow: rules.shadow }),
    ...readBudget(child(node, 'budget')),
  };
  return {
    agent,
    findings: lockNotice([...findings, ...(rules?.findings ?? [])]),
    mentions: [
      ...mentionedServers(child(node, 'servers'), dotted(field, 'servers'), subject),
      ...mentionedServers(child(child(node, 'requires'), 'mcp'), dotted(field, 'requires.mcp'), subject),
      ...mentionedServers(child(node, 'tools'), dotted(field, 'tools'), subject),
      ...(rules?.mentions ?? []),
    ],
  };
}

function readBudget(node: SourceNode | undefined): Pick<AgentSpec, 'budget'> {
  if (node === undefined) return {};
  return {
    budget: {
      callsPerMinute: numberAt(node, 'calls_per_minute'),
      callsPerHour: numberAt(node, 'calls_per_hour'),
      callsPerRun: numberAt(node, 'calls_per_run'),
      bytesPerRun: numberAt(node, 'bytes_per_run'),
    },
  };
}

/** Two different lists of servers cannot both be meant, and two equal ones will not stay equal. */
function bothLists(node: SourceNode, field: string, subject: string): Finding[] {
  const second = entryOf(node, 'requires');
  if (second === undefined || entryOf(node, 'servers') === undefined) return [];
  const message = `${subject}: "servers" and "requires" mean the same, and both are set.`;
  return [
    { severity: 'error', line: second.line, field: dotted(field, 'requires'), message, fix: 'Keep one of the two.' },
  ];
}

/** The agent's tools, per server. */
export function readFilters(section: SourceNode | undefined): Map<string, ToolFilter> {
  const filters = new Map<string, ToolFilter>();
  for (const { key, value } of section?.kind === 'map' ? section.entries : []) {
    const include = textsAt(value, 'include');
    const exclude = textsAt(value, 'exclude');
    const lines = {
      ...(include === undefined ? {} : { include: lineAt(value, ['include']) }),
      ...(exclude === undefined ? {} : { exclude: lineAt(value, ['exclude']) }),
    };
    filters.set(key, {
      ...(include === undefined ? {} : { include }),
      ...(exclude === undefined ? {} : { exclude }),
      lines,
    });
  }
  return filters;
}

/** The servers named in a list, or in the keys of a map. */
export function mentionedServers(node: SourceNode | undefined, field: string, subject: string): Mention[] {
  if (node?.kind === 'map') {
    return node.entries.map(({ key, line }) => ({ kind: 'name', text: key, line, field: dotted(field, key), subject }));
  }
  return (node?.kind === 'list' ? node.items : []).flatMap((item, index): Mention[] =>
    item.kind === 'scalar' && typeof item.value === 'string'
      ? [{ kind: 'name', text: item.text, line: item.line, field: dotted(field, index), subject }]
      : [],
  );
}

/** Gets nothing, whatever other rules allow. */
export function lockedAgent(name: string, source: AgentSpec['source']): AgentSpec {
  return { name, source, servers: [], tools: new Map(), policy: denyEverything(source) };
}

export function lockNotice(findings: readonly Finding[]): readonly Finding[] {
  return findings.map((finding) =>
    finding.severity === 'error' ? { ...finding, message: `${finding.message} ${gotNothing}` } : finding,
  );
}

export const gotNothing = 'Until this is corrected the agent gets no tools.';

export function agentTwice(entry: SourceEntry, before: number, section: string): Finding {
  const said = repeated('Agents', entry.key, before, entry.line);
  return {
    severity: 'error',
    line: entry.line,
    field: dotted(section, entry.key),
    ...said,
    message: `${said.message} ${gotNothing}`,
  };
}
