import type { Plain } from './text/render-member.ts';

/** The roles of a team with their rights, as entries for `agents` in quartermaster.yaml. */
export interface RoleEntry {
  readonly name: string;
  readonly entry: Plain;
}

const readOnly: Plain = [{ effect: 'allow', kind: 'read' }, { effect: 'deny' }];

const issuesAndPulls: Plain = {
  include: [
    '*issue*',
    '*pull_request*',
    'get_file_contents',
    'get_me',
    'create_branch',
    'search_code',
    'list_branches',
  ],
};

const issuesToRead: Plain = {
  include: ['issue_read', 'get_issue', 'get_issue_comments', 'list_issues', 'list_issue_types', 'search_issues'],
};

/**
 * Reads everything and writes in one folder. Each tool is named: under a pattern, an agent could pass a path that the tool
 * ignores beside the one that it uses.
 */
function writesOnlyIn(folder: string): Readonly<Record<string, Plain>> {
  const inside: Plain = { inside: folder };
  const message = `This role writes only in ${folder}.`;
  const where = (...paths: readonly string[]): Plain => [
    { effect: 'allow', when: Object.fromEntries(paths.map((path) => [path, inside])) },
    { effect: 'deny', message },
  ];
  return {
    'filesystem.*': [
      { effect: 'allow', kind: 'read' },
      { effect: 'deny', message },
    ],
    'filesystem.write_file': where('path'),
    'filesystem.edit_file': where('path'),
    'filesystem.create_directory': where('path'),
    'filesystem.move_file': where('source', 'destination'),
  };
}

/** Servers: `github`, `filesystem`, `postgres` and `deploy`. A role gets no server that its entry does not list. */
export const roleTable: readonly RoleEntry[] = [
  {
    name: 'lead',
    entry: {
      servers: ['github', 'filesystem', 'postgres', 'deploy'],
      policies: { tools: { 'postgres.*': readOnly, 'deploy.*': 'require-approval' } },
    },
  },
  {
    name: 'backend-dev',
    entry: { servers: ['github', 'filesystem', 'postgres'], tools: { github: issuesAndPulls } },
  },
  { name: 'frontend-dev', entry: { servers: ['github', 'filesystem'], tools: { github: issuesAndPulls } } },
  {
    name: 'tester',
    entry: {
      servers: ['github', 'filesystem', 'postgres'],
      tools: { github: issuesToRead },
      policies: { tools: { ...writesOnlyIn('tests'), 'postgres.*': readOnly } },
    },
  },
  {
    name: 'designer',
    entry: {
      servers: ['github', 'filesystem'],
      tools: { github: issuesToRead },
      policies: { tools: writesOnlyIn('assets') },
    },
  },
  {
    name: 'scribe',
    entry: {
      servers: ['github', 'filesystem'],
      tools: { github: issuesToRead },
      policies: { tools: writesOnlyIn('docs') },
    },
  },
];
