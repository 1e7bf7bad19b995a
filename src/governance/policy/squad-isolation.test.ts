import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { compilePolicy } from './compile-policy.ts';
import { draftConfiguration } from './configuration.fixture.ts';

/** A team with four servers, as `.squad/mcp-config.json` writes it. */
const configuration = draftConfiguration({
  servers: {
    github: { tools: { include: ['*'] } },
    filesystem: { tools: { include: ['*'] } },
    postgres: { tools: { include: ['query', 'list_tables', 'describe_table'] } },
    slack: { tools: { include: ['send_message', 'list_channels'] } },
  },
  agents: {
    lead: { servers: ['github', 'filesystem'] },
    'backend-dev': { servers: ['github', 'filesystem', 'postgres'] },
    'frontend-dev': { servers: ['github', 'filesystem'] },
    tester: {
      servers: ['github', 'filesystem'],
      tools: {
        github: { exclude: ['create_pull_request', 'merge_pull_request'] },
        filesystem: { exclude: ['delete_file'] },
      },
    },
    designer: { servers: ['github', 'filesystem', 'slack'] },
    scribe: {
      servers: ['filesystem'],
      tools: { filesystem: { include: ['read_file', 'write_file', 'list_directory'] } },
    },
  },
  roles: { basher: 'backend-dev', linus: 'designer', tess: 'tester', rusty: 'lead' },
});

const offered = {
  github: ['list_issues', 'create_pull_request', 'merge_pull_request'],
  filesystem: ['read_file', 'write_file', 'list_directory', 'delete_file'],
  postgres: ['query', 'list_tables', 'describe_table', 'drop_table'],
  slack: ['send_message', 'list_channels', 'search_messages'],
};

function toolsOf(...chain: string[]): Readonly<Record<string, readonly string[]>> {
  const policy = compilePolicy(configuration, chain);
  const seen = Object.entries(offered).map(([server, tools]) => {
    const visible = tools.filter((tool) => policy.decide(server, tool, `${server}_${tool}`, null).effect !== 'deny');
    return [server, visible] as const;
  });
  return Object.fromEntries(seen.filter(([, tools]) => tools.length > 0));
}

const everywhere = { github: offered.github, filesystem: offered.filesystem };

test(verifies('view:least-privilege', 'each role of a team sees its own tools'), () => {
  expect(toolsOf('backend-dev')).toEqual({ ...everywhere, postgres: ['query', 'list_tables', 'describe_table'] });
  expect(toolsOf('designer')).toEqual({ ...everywhere, slack: ['send_message', 'list_channels'] });
  expect(toolsOf('lead')).toEqual(everywhere);
  expect(toolsOf('frontend-dev')).toEqual(everywhere);
  expect(toolsOf('tester')).toEqual({
    github: ['list_issues'],
    filesystem: ['read_file', 'write_file', 'list_directory'],
  });
  expect(toolsOf('scribe')).toEqual({ filesystem: ['read_file', 'write_file', 'list_directory'] });
  expect(toolsOf('stranger')).toEqual({});
});

test(verifies('routing:role', 'members of the team have exactly what their role has'), () => {
  for (const [member, role] of configuration.roles) expect([member, toolsOf(member)]).toEqual([member, toolsOf(role)]);
  expect(toolsOf('basher', 'linus')).toEqual(everywhere);
});
