import { basename, dirname } from 'node:path';
import { shellGrammar } from '../interpolation.ts';
import { parseYaml } from '../parse-yaml.ts';
import { type Finding, hasError } from '../problems.ts';
import { type AgentName, readAgentFile } from '../read-agent-file.ts';
import { lockedAgent, lockNotice } from '../read-agents.ts';
import { slug } from '../slug.ts';
import { child, isNull, type SourceMap, type SourceNode } from '../source-tree.ts';
import { emptyContent, type Reader, type Reading } from './reader.ts';

const folder = 'catalog/agents';

/** One agent in each file, as MAGSAG describes it. Most of such a file is not about tools, and is left alone. */
export const agentFiles: Reader = {
  place: { tree: folder, names: ['agent.yaml', 'agent.yml'] },
  grammar: shellGrammar,
  workspaceNames: [],
  restricts: true,
  oneAgent: true,
  parse: parseYaml,
  read,
};

/** Whether the file, by its path in the workspace, is about one agent and takes no other's place. */
export function isAgentFile(file: string): boolean {
  return file.startsWith(`${folder}/`);
}

function read(root: SourceNode, file: string): Reading {
  if (root.kind !== 'map') {
    const message = isNull(root) ? `${file} is empty.` : `${file} must hold a map.`;
    const fix = 'Write slug, requires and policies, or remove the file.';
    return { kind: 'refused', finding: { severity: 'error', line: root.line, message, fix } };
  }
  const name = nameOf(root, file);
  const { agent, findings, mentions } = readAgentFile(root, name, file);
  const entry = hasError(findings) ? lockedAgent(agent.name, agent.source) : agent;
  const agents = new Map([[entry.name, entry]]);
  return { kind: 'read', content: { ...emptyContent, agents, findings: lockNotice(findings), mentions } };
}

/** What the file says it is, else what its folder is called. */
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
  const message = `"${key}" must be text, or it cannot be told whom the file is about.`;
  return { severity: 'error', line, field: key, message, fix: 'Write it in quotes.' };
}
