// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Configuration } from '../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../workspace.fixture.ts';

const file = 'enabled-tools.json';
const env = { GITHUB_TOKEN: 'token-of-github', DATABASE_URL: 'postgres://app@127.0.0.1/app' };

function tools(content: unknown): Promise<Configuration> {
  return load({ [file]: typeof content === 'string' ? content : JSON.stringify(content, undefined, 2) }, env);
}

const documented = {
  mcp_servers: {
    github: {
      type: 'local',
      command: ['npx', '-y', '@modelcontextprotocol/server-github'],
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: '${GITHUB_TOKEN}' },
      enabled: true,
      description: 'GitHub issues, PRs, and repo management',
    },
    postgres: {
      type: 'local',
      command: ['npx', '-y', '@modelcontextprotocol/server-postgres', '${DATABASE_URL}'],
      enabled: true,
      description: 'Query and manage PostgreSQL databases',
    },
    'custom-api': {
      type: 'sse',
      url: 'https://mcp.example.com/sse',
      enabled: true,
      description: 'Internal API tools',
    },
  },
};

test(verifies('config:manifests', "the requirement document's stored value, as a file"), async () => {
  for (const content of [documented, { enabledTools: documented }]) {
    const configuration = await tools(content);
    expect(configuration.problems).toEqual([]);
    expect(ready(configuration, 'github')).toMatchObject({
      description: 'GitHub issues, PRs, and repo management',
      enabled: true,
      transport: {
        type: 'stdio',
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-github'],
        env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'token-of-github' },
      },
      tools: {},
    });
    expect(ready(configuration, 'postgres').transport).toMatchObject({
      args: ['-y', '@modelcontextprotocol/server-postgres', 'postgres://app@127.0.0.1/app'],
    });
    expect(ready(configuration, 'custom-api').transport).toEqual({
      type: 'sse',
      url: 'https://mcp.example.com/sse',
      headers: {},
    });
  }
});

test("switches, lists of tools, and the platform's own tools beside them", async () => {
  const configuration = await tools({
    slack_notify: { enabled: true, channelId: 'c' },
    create_linear_issue: {},
    email_user: {},
    create_session: {},
    other_tool: {},
    mcp_servers: {
      a: { type: 'local', command: ['x'], enabled: false },
      b: { type: 'local', command: ['x'], enabled: true, allowedTools: ['read', 'list'] },
      c: { type: 'local', command: ['x'], enabled: true, allowedTools: [] },
    },
  });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', field: 'other_tool' });
  expect([ready(configuration, 'a').enabled, ready(configuration, 'b').tools, ready(configuration, 'c').tools]).toEqual(
    [false, { include: ['read', 'list'] }, { include: [] }],
  );
});

test('tools without servers are no mistake', async () => {
  for (const content of [{}, { mcp_servers: {} }, { mcp_servers: null }, { slack_notify: {} }]) {
    const configuration = await tools(content);
    expect([configuration.problems, configuration.servers.size]).toEqual([[], 0]);
  }
});

test.each([
  ['{"command":"npx -y thing","enabled":true,"colour":1}', 'mcp_servers.s.colour', 'is unknown and ignored', 'warning'],
  ['{"command":["x"],"alowedTools":["a"]}', 'mcp_servers.s.alowedTools', 'is unknown.', 'error'],
  ['{"command":["x"],"enabled":"yes"}', 'mcp_servers.s.enabled', 'must be true or false', 'error'],
  ['{"command":[]}', 'mcp_servers.s.command', 'must not be empty', 'error'],
  ['{"command":["x",["y"]]}', 'mcp_servers.s.command', 'must be text or a list of texts', 'error'],
  ['{"type":"sse","command":["x"]}', 'mcp_servers.s.type', 'does not go with', 'error'],
  ['{"type":"sse"}', 'mcp_servers.s.url', '"url" is missing', 'error'],
])('%s', async (value, field, said, severity) => {
  const configuration = await tools(`{"mcp_servers":{\n"s":${value},\n"good":{"command":["x"]}}}`);
  const about = configuration.problems.filter((problem) => problem.field === field);
  expect(about).toMatchObject([{ severity, file, line: 2, server: 's' }]);
  expect(about[0]?.message).toContain(said);
  expect(configuration.servers.get('s')?.kind).toBe(severity === 'error' ? 'invalid' : 'ready');
  expect(ready(configuration, 'good').enabled).toBe(true);
});

test(verifies('config:duplicate-name', 'a server twice is invalid, the list twice is no list'), async () => {
  const configuration = await tools('{"mcp_servers":{"a":{"command":"x"},\n"a":{"command":"y"}}}');
  expect(onlyProblem(configuration)).toMatchObject({ line: 2, server: 'a' });
  expect(invalid(configuration, 'a').source.line).toBe(1);
  const twice = await tools('{"mcp_servers":{"a":{"command":"x"}},\n"mcp_servers":{}}');
  expect(onlyProblem(twice)).toMatchObject({ severity: 'error', file, line: 2 });
  expect(twice.servers.size).toBe(0);
});

test.each(['[]', '"x"', '{"mcp_servers":[]}', '{"mcp_servers":"x"}', '{"enabledTools":{"mcp_servers":[]}}'])(
  'nothing is used of %s, and what to write is said',
  async (text) => {
    const configuration = await tools(text);
    expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file, line: 1 });
    expect(onlyProblem(configuration).fix).toContain('mcp_servers');
  },
);

test('secrets in the command are pointed out', async () => {
  const configuration = await tools({
    mcp_servers: { a: { type: 'local', command: ['x', '--api-key=abcd1234efgh'] } },
  });
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'warning',
    field: 'mcp_servers.a.command.1',
    server: 'a',
  });
  expect(configuration.secrets).toEqual(['abcd1234efgh']);
});
