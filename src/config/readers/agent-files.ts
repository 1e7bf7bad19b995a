import { basename, dirname } from 'node:path';
import { type AgentName, readAgentFile } from '../agents/read-agent-file.ts';
import { lockedAgent, lockNotice } from '../agents/read-agents.ts';
import { parseYaml } from '../files/parse-yaml.ts';
import { child, isNull, type SourceMap, type SourceNode } from '../files/source-tree.ts';
import { type Finding, hasError } from '../findings.ts';
import { slug } from '../slug.ts';
import { shellGrammar } from '../variables/interpolation.ts';
import { emptyContent, type FileOutcome, type Reader } from './reader.ts';

const folder = 'catalog/agents';

/** Files that describe one agent each, in MAGSAG's format. Most of such a file is not about tools and is ignored. */
export const agentFiles: Reader = {
  place: { tree: folder, names: ['agent.yaml', 'agent.yml'] },
  grammar: shellGrammar,
  workspaceNames: [],
  restricts: true,
  oneAgent: true,
  parse: parseYaml,
  read,
};

/** Whether the file at this path describes one agent. */
export function isAgentFile(file: string): boolean {
  return file.startsWith(`${folder}/`);
}

function read(root: SourceNode, file: string): FileOutcome {
  if (root.kind !== 'map') {
    const message = isNull(root) ? `${file} is empty.` : `${file} must contain a map.`;
    const fix = 'Write slug, requires and policies, or remove the file.';
    return { kind: 'refused', finding: { severity: 'error', line: root.line, message, fix } };
  }
  const name = nameOf(root, file);
  const { agent, findings, mentions } = readAgentFile(root, name, file);
  const entry = hasError(findings) ? lockedAgent(agent.name, agent.source) : agent;
  const agents = new Map([[entry.name, entry]]);
  return { kind: 'read', content: { ...emptyContent, agents, findings: lockNotice(findings), mentions } };
}

/** The name in the file, else the name of its folder. */
function nameOf(root: SourceMap, file: string): AgentName {
  const called = basename(dirname(file));
  for (const key of ['slug', 'id', 'name']) {
    const value = child(root, key);
    if (value === undefined) continue;
    if (value.kind !== 'scalar') return { text: called, key, findings: [notText(key, value)] };
    const text = key === 'name' ? slug(value.text) : value.text;
    if (text !== '') return { text, key, findings: [] };
  }
  return { text: called, key: '', findings: [] };
}

function notText(key: string, { line }: SourceNode): Finding {
  const message = `"${key}" must be text, because it names the agent.`;
  return { severity: 'error', line, field: key, message, fix: 'Write it in quotes.' };
}
