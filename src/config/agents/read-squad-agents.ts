import { z } from 'zod';
import { checkNode } from '../check-node.ts';
import { child, type SourceEntry, type SourceMap, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, hasError, quote } from '../findings.ts';
import { mustBeMap, nothingAllowed } from '../read-sections.ts';
import type { Mention } from '../readers/reader.ts';
import { toolFilterSchema } from '../schema.ts';
import { checkName } from '../servers/server-draft.ts';
import { agentTwice, lockedAgent, lockNotice, mentionedServers, type ReadAgents, readFilters } from './read-agents.ts';

/** Squad assigns rights in two maps: servers by agent or role, and tools by agent and server. */
export const squadAgentSections = ['agentServers', 'toolRestrictions'] as const;

/** Undefined if a whole map cannot be understood: then all restrictions are unknown. */
export function readSquadAgents(root: SourceMap, file: string, findings: Finding[]): ReadAgents | undefined {
  const entries = new Map<string, AgentEntries>();
  const mentions: Mention[] = [];
  for (const section of squadAgentSections) {
    const node = child(root, section);
    if (node === undefined) continue;
    if (node.kind !== 'map') {
      findings.push(mustBeMap(root, section, nothingAllowed));
      return undefined;
    }
    for (const entry of node.entries) {
      const agent = entries.get(entry.key) ?? { line: entry.line, findings: nameFindings(entry, section) };
      entries.set(entry.key, agent);
      agent.findings.push(...checkEntry(entry, section, agent[section]));
      agent[section] ??= entry;
      mentions.push(...mentionedServers(entry.value, dotted(section, entry.key), subjectOf(entry.key)));
    }
  }
  const agents = new Map([...entries].map(([name, agent]) => [name, toAgent(name, agent, file)]));
  for (const [name, agent] of entries) {
    findings.push(...lockNotice(agent.findings).map((finding) => ({ ...finding, agent: name })));
  }
  return { agents, roles: new Map(), findings: [], mentions };
}

type Section = (typeof squadAgentSections)[number];

interface AgentEntries extends Partial<Record<Section, SourceEntry>> {
  readonly line: number;
  readonly findings: Finding[];
}

const schemas: Readonly<Record<Section, z.ZodType>> = {
  agentServers: z.array(z.string()),
  toolRestrictions: z.record(z.string(), toolFilterSchema),
};

function nameFindings({ key, line }: SourceEntry, section: Section): Finding[] {
  const badName = checkName('Agent', key);
  return badName === undefined ? [] : [{ severity: 'error', line, field: dotted(section, key), ...badName }];
}

/** Strict, although the format is not our own: an ignored key could be the one that denies. */
function checkEntry(entry: SourceEntry, section: Section, before: SourceEntry | undefined): Finding[] {
  const subject = `${subjectOf(entry.key)}, ${section}`;
  const field = dotted(section, entry.key);
  const own = checkNode(schemas[section], entry.value, { field, subject, unknownKeys: 'error' });
  return before === undefined ? own : [...own, agentTwice(entry, before.line, section)];
}

function toAgent(name: string, agent: AgentEntries, file: string): ReturnType<typeof lockedAgent> {
  const source = { file, line: agent.line };
  if (hasError(agent.findings)) return lockedAgent(name, source);
  const { agentServers, toolRestrictions } = agent;
  const servers = agentServers === undefined ? undefined : texts(agentServers.value);
  return { name, source, servers, tools: readFilters(toolRestrictions?.value), policy: undefined };
}

function texts(node: SourceNode): string[] {
  return node.kind === 'list' ? node.items.flatMap((item) => (item.kind === 'scalar' ? [item.text] : [])) : [];
}

function subjectOf(name: string): string {
  return `Agent ${quote(name)}`;
}
