import type { AgentSpec } from '../../domain/index.ts';
import { shellGrammar } from '../interpolation.ts';
import { parseRoster } from '../parse-roster.ts';
import { type Finding, quote } from '../problems.ts';
import { slug } from '../slug.ts';
import type { SourceNode } from '../source-tree.ts';
import { textAt } from '../texts.ts';
import { emptyContent, type Reader, type Reading } from './reader.ts';

/** Squad's page about the team: who is in it, and in which role. It routes nothing. */
export const squadTeam: Reader = {
  place: { file: '.squad/team.md' },
  grammar: shellGrammar,
  workspaceNames: [],
  restricts: false,
  parse: parseRoster,
  read,
};

function read(root: SourceNode, file: string): Reading {
  const members = new Map<string, Member>();
  const findings: Finding[] = [];
  for (const item of root.kind === 'list' ? root.items : []) {
    const name = textAt(item, 'name') ?? '';
    if (name === '' || formerly.test(textAt(item, 'status') ?? '')) continue;
    const member = { name, line: item.line, role: slug(textAt(item, 'role') ?? '') };
    const agent = slug(name);
    const first = members.get(agent);
    if (agent === '') findings.push(noName(member));
    else if (first === undefined) members.set(agent, member);
    else if (first.role !== member.role) {
      findings.push(twoRoles(agent, first, member));
      members.set(agent, { ...first, role: '' });
    }
  }
  const roles = new Map([...members].flatMap(([agent, { role }]) => (isRole(agent, role) ? [[agent, role]] : [])));
  return { kind: 'read', content: { ...emptyContent, findings, roles, agents: knownAgents(members, file) } };
}

interface Member {
  readonly name: string;
  readonly line: number;
  /** Empty: none. */
  readonly role: string;
}

/** Who has left gets nothing through a role. */
const formerly = /retired|inactive|alumn|removed|former|disabled/i;

function isRole(agent: string, role: string): boolean {
  return role !== '' && role !== agent;
}

/** Members and their roles are names that tokens may be issued for; what they get is said elsewhere. */
function knownAgents(members: ReadonlyMap<string, Member>, file: string): Map<string, AgentSpec> {
  const agents = new Map<string, AgentSpec>();
  const add = (name: string, line: number): void => {
    if (name === '' || agents.has(name)) return;
    agents.set(name, { name, source: { file, line }, servers: undefined, tools: new Map(), policy: undefined });
  };
  for (const [agent, { line }] of members) add(agent, line);
  for (const { role, line } of members.values()) add(role, line);
  return agents;
}

function noName({ name, line }: Member): Finding {
  return {
    severity: 'warning',
    line,
    message: `Member ${quote(name)} cannot be an agent: no letter or digit of the name can stand in one.`,
    fix: 'Write the name in Latin letters.',
  };
}

function twoRoles(agent: string, first: Member, second: Member): Finding {
  return {
    severity: 'warning',
    line: second.line,
    message: `Member ${quote(agent)} has another role in line ${first.line} than in line ${second.line}, and gets none.`,
    fix: 'Keep one of the two rows.',
  };
}
