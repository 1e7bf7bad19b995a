// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Configuration } from '../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../workspace.fixture.ts';

const file = '.squad/mcp-config.json';
const env = {
  GITHUB_TOKEN: 'token-of-github',
  DATABASE_URL: 'postgres://app@127.0.0.1/app',
  SLACK_MCP_URL: 'https://slack.example.com/mcp',
  SLACK_BOT_TOKEN: 'token-of-slack',
};

function squad(content: unknown, others: Readonly<Record<string, string>> = {}): Promise<Configuration> {
  const text = typeof content === 'string' ? content : JSON.stringify(content, undefined, 2);
  return load({ [file]: text, ...others }, env);
}

/** The configuration that Squad's requirement document gives as its example. */
const documented = {
  servers: {
    github: {
      type: 'http',
      url: 'https://api.githubcopilot.com/mcp/',
      headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
      tools: ['*'],
    },
    filesystem: {
      type: 'local',
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem', '${WORKSPACE_ROOT}'],
      tools: ['*'],
    },
    postgres: {
      type: 'local',
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-postgres'],
      env: { DATABASE_URL: '${DATABASE_URL}' },
      tools: ['query', 'list_tables', 'describe_table'],
    },
    slack: {
      type: 'http',
      url: '${SLACK_MCP_URL}',
      headers: { Authorization: 'Bearer ${SLACK_BOT_TOKEN}' },
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

test(verifies('config:squad', "the requirement document's configuration: servers"), async () => {
  const configuration = await squad(documented);
  expect(configuration.problems).toEqual([]);
  expect(configuration.files).toEqual([file]);
  expect(ready(configuration, 'github')).toMatchObject({
    transport: {
      type: 'http',
      url: 'https://api.githubcopilot.com/mcp/',
      headers: { Authorization: 'Bearer token-of-github' },
    },
    tools: { include: ['*'] },
    source: { file, line: 3 },
  });
  expect(ready(configuration, 'filesystem').transport).toEqual({
    type: 'stdio',
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem', configuration.workspace],
    env: {},
    cwd: configuration.workspace,
    guard: 'npm',
  });
  expect(ready(configuration, 'postgres')).toMatchObject({
    transport: { env: { DATABASE_URL: 'postgres://app@127.0.0.1/app' } },
    tools: { include: ['query', 'list_tables', 'describe_table'] },
  });
  expect(ready(configuration, 'slack').transport).toMatchObject({ url: 'https://slack.example.com/mcp' });
  expect([...configuration.secrets].sort()).toEqual(Object.values(env).sort());
});

test(verifies('config:squad', "per-agent isolation in the requirement document's configuration"), async () => {
  const { agents } = await squad(documented);
  expect(Object.fromEntries([...agents].map(([name, { servers }]) => [name, servers]))).toEqual(
    documented.agentServers,
  );
  const routed = (server: string): string[] =>
    [...agents.values()].filter(({ servers }) => servers?.includes(server)).map(({ name }) => name);
  expect(routed('postgres')).toEqual(['backend-dev']);
  expect(routed('slack')).toEqual(['designer']);
  expect(agents.get('scribe')?.tools).toEqual(
    new Map([['filesystem', { include: ['read_file', 'write_file', 'list_directory'], lines: { include: 96 } }]]),
  );
  expect(agents.get('tester')?.tools).toEqual(
    new Map([
      ['github', { exclude: ['create_pull_request', 'merge_pull_request'], lines: expect.anything() }],
      ['filesystem', { exclude: ['delete_file'], lines: expect.anything() }],
    ]),
  );
  expect(agents.get('lead')?.tools).toEqual(new Map());
});

test('the other examples of the document: patterns, a long timeout, the squad server itself', async () => {
  const configuration = await load(
    {
      [file]: JSON.stringify({
        servers: {
          trello: {
            type: 'http',
            url: '${TRELLO_MCP_URL}',
            headers: { Authorization: 'Bearer ${TRELLO_API_KEY}' },
            tools: ['list_boards', 'list_cards', 'create_card', 'move_card'],
          },
          slack: {
            type: 'http',
            url: '${SLACK_MCP_URL}',
            headers: { Authorization: 'Bearer ${SLACK_BOT_TOKEN}' },
            tools: ['send_message', 'list_channels', 'search_messages'],
          },
          notion: {
            type: 'http',
            url: '${NOTION_MCP_URL}',
            headers: { Authorization: 'Bearer ${NOTION_API_KEY}' },
            tools: ['search_pages', 'read_page', 'create_page', 'update_page'],
          },
          postgres: {
            type: 'local',
            command: 'npx',
            args: ['-y', '@modelcontextprotocol/server-postgres'],
            tools: ['*'],
            timeout: 30_000,
          },
          squad: {
            type: 'local',
            command: 'node',
            args: ['./node_modules/@bradygaster/squad/mcp-server.js'],
            cwd: '${SQUAD_ROOT}',
            tools: ['*'],
          },
          events: { type: 'sse', url: 'https://example.com/sse', tools: [] },
        },
      }),
    },
    {
      ...env,
      TRELLO_MCP_URL: 'https://trello.example.com/mcp',
      TRELLO_API_KEY: 'key-of-trello',
      NOTION_MCP_URL: 'https://notion.example.com/mcp',
      NOTION_API_KEY: 'key-of-notion',
    },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'trello').transport).toMatchObject({
    headers: { Authorization: 'Bearer key-of-trello' },
  });
  expect(ready(configuration, 'notion').tools.include).toContain('update_page');
  expect(ready(configuration, 'slack').tools.include).toContain('search_messages');
  expect(ready(configuration, 'postgres').limits.timeoutMs).toBe(30_000);
  expect(ready(configuration, 'squad').transport).toMatchObject({ cwd: configuration.workspace });
  expect(ready(configuration, 'events')).toMatchObject({ transport: { type: 'sse' }, tools: { include: [] } });
});

test('an agent that only restrictions name is not routed by that', async () => {
  const { agents, problems } = await squad({
    servers: { a: { command: 'x' } },
    toolRestrictions: { tester: { a: { include: [] } } },
  });
  expect(problems).toEqual([]);
  expect(agents.get('tester')).toMatchObject({
    servers: undefined,
    tools: new Map([['a', { include: [] }]]),
    source: { file, line: 8 },
  });
});

test(verifies('config:unknown-keys', 'unknown keys are warnings, comments are nothing, strays are named'), async () => {
  const configuration = await squad({
    $schema: 'x',
    _comment: 'y',
    version: 1,
    servers: { _note: 'z', a: { command: 'x', colour: 'red' } },
    agentServers: { lead: ['a', 'aa'] },
    toolRestrictions: { lead: { b: { exclude: [] } } },
  });
  expect(ready(configuration, 'a').enabled).toBe(true);
  expect(configuration.problems.map(({ severity, line, field }) => [severity, line, field])).toEqual([
    ['warning', 4, 'version'],
    ['warning', 9, 'servers.a.colour'],
    ['warning', 15, 'agentServers.lead.1'],
    ['warning', 20, 'toolRestrictions.lead.b'],
  ]);
  expect(configuration.problems[2]?.fix).toBe('Did you mean "a"?');
});

test.each([
  ['agentServer: a map under a mistyped name', '"agentServer": { "lead": [] }', 'Did you mean "agentServers"?'],
  ['a list for a map', '"agentServers": ["lead"]', 'Write a name'],
  ['a text for a map', '"toolRestrictions": "none"', 'Write a name'],
  ['a mistyped map', '"toolRestriction": {}', 'Did you mean "toolRestrictions"?'],
])('restrictions that cannot be understood deny everything: %s', async (_what, text, fix) => {
  const configuration = await squad(`{"servers":{"a":{"command":"x"}},\n${text}}`, {
    'quartermaster.yaml': 'servers: { b: { command: y } }\npolicies: { tools: { "b.x": allow } }\n',
  });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file, line: 2, fatal: true });
  expect(onlyProblem(configuration).message).toContain('every tool is denied');
  expect(onlyProblem(configuration).fix).toContain(fix);
  expect(configuration.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny', source: { file } }]);
  expect([ready(configuration, 'a').name, ready(configuration, 'b').name]).toEqual(['a', 'b']);
});

test.each([
  ['agentServers', '"a"', 'must be a list'],
  ['agentServers', '[1]', '"0" must be text'],
  ['agentServers', 'null', 'must be a list'],
  ['agentServers', '["a"], "tester": ["a"]', 'written twice'],
  ['toolRestrictions', '{"a":["x"]}', '"a" must be a map'],
  ['toolRestrictions', '{"a":{"includes":["x"]}}', 'the key "includes" in "a" is unknown'],
  ['toolRestrictions', '{"a":{"include":"x"}}', '"a.include" must be a list'],
  ['toolRestrictions', '{"a":{}}, "tester": {}', 'written twice'],
])('an agent with a mistake under %s gets nothing: %s', async (section, value, said) => {
  const configuration = await squad(
    `{"servers":{"a":{"command":"x"}},\n"${section}":{"lead":${section === 'agentServers' ? '["a"]' : '{}'},\n"tester":${value}}}`,
  );
  const problem = onlyProblem(configuration);
  expect(problem).toMatchObject({ severity: 'error', file, line: 3, agent: 'tester' });
  expect(problem.fatal).toBeUndefined();
  expect(problem.field).toMatch(new RegExp(`^${section}.tester`));
  expect(problem.message).toContain(said);
  expect(problem.message).toContain('gets no tools');
  expect(configuration.agents.get('tester')).toMatchObject({ servers: [], policy: { rules: [{ effect: 'deny' }] } });
  expect(configuration.agents.get('lead')?.policy).toBeUndefined();
  expect(configuration.policy).toBeUndefined();
});

test.each([
  ['{"comand":"x"}', 'the key "comand" is unknown'],
  ['{"command":"x","tool":["a"]}', 'the key "tool" is unknown'],
  ['{"command":"x","tools":"*"}', '"tools" must be a list'],
  ['{"command":"x","timeout":"30s"}', '"timeout" must be a number'],
  ['{"type":"http","command":"x"}', 'does not go with'],
  ['{"command":"x","command":"y"}', 'written twice'],
  ['"npx thing"', 'must be a map'],
])('a server that is %s is invalid and alone', async (value, said) => {
  const configuration = await squad(`{"servers":{\n"bad":${value},\n"good":{"command":"x"}}}`);
  const errors = invalid(configuration, 'bad').problems.filter(({ message }) => message.includes(said));
  expect(errors).toMatchObject([{ file, line: 2, server: 'bad' }]);
  expect(ready(configuration, 'good').enabled).toBe(true);
  expect(configuration.problems.every(({ server }) => server === 'bad')).toBe(true);
});

test(verifies('config:duplicate-name', 'a server twice in the file is invalid'), async () => {
  const configuration = await squad('{"servers":{\n"a":{"command":"x"},\n"a":{"command":"y"},\n"b":{"command":"z"}}}');
  expect(onlyProblem(configuration)).toMatchObject({ server: 'a', line: 3 });
  expect([invalid(configuration, 'a').source.line, ready(configuration, 'b').source.line]).toEqual([2, 4]);
});

test('secrets in the file are pointed out, and kept from view', async () => {
  const configuration = await squad({
    servers: { a: { command: 'x', args: ['--api-key', 'abcd1234efgh'], env: { B_TOKEN: 'zyxw9876vuts' } } },
  });
  expect(configuration.problems.map(({ field }) => field)).toEqual(['servers.a.args.1', 'servers.a.env.B_TOKEN']);
  expect(configuration.secrets).toEqual(expect.arrayContaining(['abcd1234efgh', 'zyxw9876vuts']));
  for (const { message, fix } of configuration.problems) expect(`${message}${fix}`).not.toMatch(/abcd1234|zyxw9876/);
});

test('a shared server is also for agents without a route', async () => {
  const configuration = await squad({
    servers: {
      a: { command: 'x', shared: true },
      b: { command: 'y', shared: false },
      c: { command: 'z', shared: 'yes' },
    },
    agentServers: { lead: ['b'] },
  });
  expect([ready(configuration, 'a').shared, ready(configuration, 'b').shared]).toEqual([true, false]);
  expect(invalid(configuration, 'c').problems[0]?.message).toContain('"shared" must be true or false');
});

test(verifies('config:squad', 'servers may be under mcpServers, with the same restrictions'), async () => {
  const { servers, ...restrictions } = documented;
  const configuration = await squad({ mcpServers: servers, ...restrictions });
  expect(configuration.problems).toEqual([]);
  expect([...configuration.servers.keys()]).toEqual(Object.keys(servers));
  expect(configuration.agents.get('scribe')?.servers).toEqual(['filesystem']);
  expect(configuration.agents.get('tester')?.tools.get('filesystem')).toMatchObject({ exclude: ['delete_file'] });
});

test('servers under both keys are an error, and the restrictions of the file stay', async () => {
  const configuration = await squad(
    '{"servers":{"a":{"command":"x"}},\n"mcpServers":{"a":{"command":"y"}},\n"agentServers":{"lead":[]}}',
    { 'quartermaster.yaml': 'servers: { b: { command: y } }\n' },
  );
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file, line: 2, field: 'mcpServers' });
  expect([...configuration.servers.keys()]).toEqual(['b']);
  expect(configuration.agents.get('lead')?.servers).toEqual([]);
});

test(verifies('config:samples', 'samples under both spellings are left out, with a note'), async () => {
  for (const key of ['servers', 'mcpServers']) {
    const sample = { command: 'npx', env: { K: '${GITHUB_TOKEN}' } };
    const configuration = await squad({ [key]: { 'EXAMPLE-github': sample, own: { command: 'x' } } });
    expect([...configuration.servers.keys()]).toEqual(['own']);
    expect(configuration.secrets).toEqual([]);
    expect(onlyProblem(configuration)).toMatchObject({ severity: 'note', field: `${key}.EXAMPLE-github` });
  }
});
