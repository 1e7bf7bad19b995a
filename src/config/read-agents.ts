import type { AgentSpec, ToolFilter } from '../domain/index.ts';
import { checkNode, repeated } from './check-node.ts';
import { dotted, type Finding, hasError, quote } from './problems.ts';
import { denyEverything, readPolicy } from './read-policy.ts';
import type { Mention } from './readers/reader.ts';
import { agentSchema } from './schema.ts';
import { checkName } from './server-draft.ts';
import { child, isNull, type SourceEntry, type SourceNode } from './source-tree.ts';
import { textAt, textsAt } from './texts.ts';

export interface ReadAgents {
  readonly agents: ReadonlyMap<string, AgentSpec>;
  readonly roles: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
  readonly mentions: readonly Mention[];
}

/** An agent with a mistake in it gets nothing: what was meant to be kept from it cannot be told. */
export function readAgents(section: SourceNode, file: string): ReadAgents {
  const agents = new Map<string, AgentSpec>();
  const roles = new Map<string, string>();
  const findings: Finding[] = [];
  const mentions: Mention[] = [];
  for (const entry of section.kind === 'map' ? section.entries : []) {
    const before = agents.get(entry.key)?.source.line;
    const read = readAgent(entry, file);
    const own = before === undefined ? read.findings : [...read.findings, writtenTwice(entry, before)];
    const source = { file, line: before ?? entry.line };
    agents.set(entry.key, hasError(own) ? lockedAgent(entry.key, source) : read.agent);
    const role = textAt(entry.value, 'role');
    if (role !== undefined) roles.set(entry.key, role);
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
  const policies = child(node, 'policies');
  const rules =
    policies === undefined
      ? undefined
      : readPolicy(policies, { file, field: dotted(field, 'policies'), subject: `${subject}, policies` });
  const agent: AgentSpec = {
    name,
    source: { file, line },
    servers: textsAt(node, 'servers'),
    tools: readFilters(node),
    policy: rules?.policy,
  };
  return {
    agent,
    findings: lockNotice([...findings, ...(rules?.findings ?? [])]),
    mentions: [...mentionedServers(node, field, subject), ...(rules?.mentions ?? [])],
  };
}

function readFilters(node: SourceNode): Map<string, ToolFilter> {
  const filters = new Map<string, ToolFilter>();
  const tools = child(node, 'tools');
  for (const { key, value } of tools?.kind === 'map' ? tools.entries : []) {
    const include = textsAt(value, 'include');
    const exclude = textsAt(value, 'exclude');
    filters.set(key, { ...(include === undefined ? {} : { include }), ...(exclude === undefined ? {} : { exclude }) });
  }
  return filters;
}

function mentionedServers(node: SourceNode, field: string, subject: string): Mention[] {
  const servers = child(node, 'servers');
  const tools = child(node, 'tools');
  const routed = (servers?.kind === 'list' ? servers.items : []).flatMap((item, index): Mention[] =>
    item.kind === 'scalar'
      ? [{ kind: 'name', text: item.text, line: item.line, field: dotted(field, 'servers', index), subject }]
      : [],
  );
  const filtered = (tools?.kind === 'map' ? tools.entries : []).map(
    ({ key, line }): Mention => ({ kind: 'name', text: key, line, field: dotted(field, 'tools', key), subject }),
  );
  return [...routed, ...filtered];
}

function lockedAgent(name: string, source: AgentSpec['source']): AgentSpec {
  return { name, source, servers: [], tools: new Map(), policy: denyEverything(source) };
}

function lockNotice(findings: readonly Finding[]): readonly Finding[] {
  return findings.map((finding) =>
    finding.severity === 'error' ? { ...finding, message: `${finding.message} ${gotNothing}` } : finding,
  );
}

const gotNothing = 'Until this is corrected the agent gets no tools.';

function writtenTwice(entry: SourceEntry, before: number): Finding {
  const said = repeated('Agents', entry.key, before, entry.line);
  return {
    severity: 'error',
    line: entry.line,
    field: dotted('agents', entry.key),
    ...said,
    message: `${said.message} ${gotNothing}`,
  };
}
