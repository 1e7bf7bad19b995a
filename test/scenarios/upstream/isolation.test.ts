import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { stdioServer } from '../../support/hub.ts';
import { legacyClient } from '../../support/mcp-clients.ts';
import { verifies } from '../../support/verifies.ts';

const offered = {
  github: ['list_issues', 'create_pull_request', 'merge_pull_request'],
  filesystem: ['read_file', 'write_file', 'list_directory', 'move_file', 'delete_file'],
  postgres: ['query', 'list_tables', 'describe_table', 'drop_table'],
  slack: ['send_message', 'list_channels', 'search_messages'],
};

/** The team's file, with real servers that offer what the team's servers would. */
const config = {
  servers: {
    github: { type: 'local', ...stdioServer('named-tools.mjs', offered.github), tools: ['*'] },
    filesystem: { type: 'local', ...stdioServer('named-tools.mjs', offered.filesystem), tools: ['*'] },
    postgres: {
      type: 'local',
      ...stdioServer('named-tools.mjs', offered.postgres),
      tools: ['query', 'list_tables', 'describe_table'],
    },
    slack: {
      type: 'local',
      ...stdioServer('named-tools.mjs', offered.slack),
      tools: ['send_message', 'list_channels'],
    },
  },
  agentServers: {
    lead: ['github', 'filesystem'],
    'backend-dev': ['github', 'filesystem', 'postgres'],
    'frontend-dev': ['github', 'filesystem'],
    tester: ['github', 'filesystem'],
    designer: ['github', 'filesystem', 'slack'],
    scribe: ['filesystem'],
  },
  toolRestrictions: {
    tester: {
      github: { exclude: ['create_pull_request', 'merge_pull_request'] },
      filesystem: { exclude: ['delete_file'] },
    },
    scribe: { filesystem: { include: ['read_file', 'write_file', 'list_directory'] } },
  },
};

const team = `# The Team

## Members

| Name | Role | Charter | Status |
|------|------|---------|--------|
| Basher | Backend Dev | \`.squad/agents/basher/charter.md\` | ✅ Active |
| Linus | Designer | \`.squad/agents/linus/charter.md\` | ✅ Active |
| Tess | Tester | \`.squad/agents/tess/charter.md\` | ✅ Active |
`;

const all = [...named('filesystem', offered.filesystem), ...named('github', offered.github)];

test(
  verifies('view:least-privilege', 'in a team with one file, each agent lists exactly the tools of its role'),
  async () => {
    const gateway = await teamGateway();
    expect(await listed(gateway, 'backend-dev')).toEqual([
      ...all,
      ...named('postgres', ['query', 'list_tables', 'describe_table']),
    ]);
    expect(await listed(gateway, 'designer')).toEqual([...all, ...named('slack', ['send_message', 'list_channels'])]);
    expect(await listed(gateway, 'lead')).toEqual(all);
    expect(await listed(gateway, 'tester')).toEqual([
      ...named('filesystem', ['read_file', 'write_file', 'list_directory', 'move_file']),
      'github_list_issues',
    ]);
    expect(await listed(gateway, 'scribe')).toEqual(named('filesystem', ['read_file', 'write_file', 'list_directory']));
    expect(await listed(gateway, 'stranger')).toEqual([]);
  },
);

test(verifies('view:hidden-is-unknown', 'a tool that a role may not use looks unknown'), async () => {
  const gateway = await teamGateway();
  const tester = await legacyClient(gateway.url, await gateway.token('tester'));
  expect((await tester.call('github_list_issues')).message.result?.content?.[0]?.text).toBe('list_issues');
  const hidden = (await tester.call('github_create_pull_request')).message.error;
  const unknown = (await tester.call('github_create_pull_reqeust')).message.error;
  expect(hidden?.message.replace('create_pull_request', 'X')).toBe(
    unknown?.message.replace('create_pull_reqeust', 'X'),
  );
  expect(hidden?.code).toBe(unknown?.code);
  expect(hidden?.message).toMatch(/^Unknown tool/);

  const designer = await legacyClient(gateway.url, await gateway.token('designer'));
  const other = (await designer.call('postgres_query', { sql: 'select 1' })).message.error;
  expect(other?.message.replace('postgres_query', 'X')).toBe(
    hidden?.message.replace('github_create_pull_request', 'X'),
  );
  expect(gateway.hub.explain(['tester'], 'github', 'create_pull_request')).toMatchObject({
    effect: 'deny',
    reason: { kind: 'excluded', source: { file: '.squad/mcp-config.json' } },
  });
});

test(verifies('routing:role', 'a member of the team has the tools of the role that the team page gives'), async () => {
  const gateway = await teamGateway({ 'team.md': team });
  for (const [member, role] of [
    ['basher', 'backend-dev'],
    ['linus', 'designer'],
    ['tess', 'tester'],
  ] as const) {
    expect([member, await listed(gateway, member)]).toEqual([member, await listed(gateway, role)]);
  }
  const tess = await legacyClient(gateway.url, await gateway.token('tess'));
  expect((await tess.call('github_merge_pull_request')).message.error).toBeDefined();
  expect(gateway.hub.explain(['tess'], 'github', 'merge_pull_request').reason).toMatchObject({ by: 'role tester' });
});

async function teamGateway(files: Readonly<Record<string, string>> = {}): Promise<RunningGateway> {
  const gateway = await gatewayForTest({ servers: {} }, { cold: true });
  const folder = join(gateway.workspace, '.squad');
  await mkdir(folder);
  await writeFile(join(folder, 'mcp-config.json'), JSON.stringify(config, undefined, 2));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await gateway.hub.reload();
  expect(gateway.hub.configuration.problems).toEqual([]);
  await gateway.hub.discover();
  return gateway;
}

async function listed(gateway: RunningGateway, agent: string): Promise<string[]> {
  const client = await legacyClient(gateway.url, await gateway.token(agent));
  const { result } = (await client.request('tools/list')).message;
  return (result?.tools ?? []).map(({ name }) => name).sort(byServer);
}

function named(server: string, tools: readonly string[]): string[] {
  return tools.map((tool) => `${server}_${tool}`);
}

/** The order of `offered`. */
function byServer(a: string, b: string): number {
  return order.indexOf(a) - order.indexOf(b);
}

const order = ['filesystem', 'github', 'postgres', 'slack'].flatMap(
  (server) => named(server, offered[server as keyof typeof offered]), // the keys of `offered`
);
