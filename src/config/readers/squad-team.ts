import type { AgentSpec } from '../../domain/index.ts';
import { parseRoster } from '../agents/parse-roster.ts';
import type { SourceNode } from '../files/source-tree.ts';
import { type Finding, quote } from '../findings.ts';
import { slug } from '../slug.ts';
import { textAt } from '../texts.ts';
import { shellGrammar } from '../variables/interpolation.ts';
import { emptyContent, type FileOutcome, type Reader } from './reader.ts';

const page = '.squad/team.md';

/** Squad's team page: the members and their roles. It does not route. */
export const squadTeam: Reader = createReader(page, read);

/** The same in the folder that Squad used before. A page that was left there gives nobody a role any more. */
export const formerSquadTeam: Reader = createReader('.ai-team/team.md', async (root, file, nearby) =>
  (await nearby(page)).kind === 'absent' ? read(root, file) : { kind: 'foreign' },
);

function createReader(file: string, readPage: Reader['read']): Reader {
  return {
    place: { file },
    grammar: shellGrammar,
    workspaceNames: [],
    restricts: false,
    parse: parseRoster,
    read: readPage,
  };
}

function read(root: SourceNode, file: string): FileOutcome {
  const members = new Map<string, Member>();
  const findings: Finding[] = [];
  const items = root.kind === 'list' ? root.items : [];
  for (const item of items) {
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
  const unread = items.find((item) => textAt(item, 'unread') !== undefined);
  if (members.size === 0 && unread !== undefined) findings.push(noMembers(unread));
  const roles = new Map([...members].flatMap(([agent, { role }]) => (isRole(agent, role) ? [[agent, role]] : [])));
  return { kind: 'read', content: { ...emptyContent, findings, roles, agents: knownAgents(members, file) } };
}

interface Member {
  readonly name: string;
  readonly line: number;
  /** Empty: no role. */
  readonly role: string;
}

/** Former members get nothing through a role. */
const formerly = /retired|inactive|alumn|removed|former|disabled/i;

function isRole(agent: string, role: string): boolean {
  return role !== '' && role !== agent;
}

/** Tokens may be issued for members and roles. Their rights are defined in other files. */
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

function noMembers(table: SourceNode): Finding {
  const heading = textAt(table, 'unread') ?? '';
  return {
    severity: 'warning',
    line: table.line,
    message: `The table ${heading === '' ? 'before the first heading' : `under ${quote(heading)}`} is not read as the team, so no agent is known from this page.`,
    fix: 'Put it under the heading "Members", "Team", "Roster" or "Agents".',
  };
}

function noName({ name, line }: Member): Finding {
  return {
    severity: 'warning',
    line,
    message: `Member ${quote(name)} cannot be an agent: its name has no letter or digit that an agent name can contain.`,
    fix: 'Write the name in Latin letters.',
  };
}

function twoRoles(agent: string, first: Member, second: Member): Finding {
  return {
    severity: 'warning',
    line: second.line,
    message: `Member ${quote(agent)} has different roles in lines ${first.line} and ${second.line}, and gets none.`,
    fix: 'Keep one of the two rows.',
  };
}
