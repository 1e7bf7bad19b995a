// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import type { Configuration } from '../../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../../workspace.fixture.ts';

const folder = '.amazonq/cli-agents';

function agents(files: Readonly<Record<string, unknown>>, others: Readonly<Record<string, string>> = {}) {
  const texts = Object.entries(files).map(([name, content]): [string, string] => [
    `${folder}/${name}.json`,
    typeof content === 'string' ? content : JSON.stringify(content, undefined, 2),
  ]);
  return load({ ...Object.fromEntries(texts), ...others }, { KEY: 'key-of-q' });
}

function rightsOf({ agents: known }: Configuration, name: string): unknown[] {
  const agent = known.get(name);
  return [agent?.servers, Object.fromEntries(agent?.tools ?? [])];
}

test(verifies('config:q-agents', 'the complete example in the documentation of Amazon Q'), async () => {
  const configuration = await agents({
    'aws-rust-agent': {
      name: 'aws-rust-agent',
      description: 'A specialized agent',
      mcpServers: {
        fetch: { command: 'fetch3.1', args: [] },
        git: { command: 'git-mcp', args: [], env: { A: '${KEY}' }, timeout: 120_000 },
      },
      tools: ['fs_read', 'execute_bash', '@builtin', '@git', '@fetch/fetch_url'],
      toolAliases: { '@git/git_status': 'status' },
      allowedTools: ['fs_read', '@git/git_status', '@fetch/*'],
      toolsSettings: { fs_write: { allowedPaths: ['src/**'] }, '@git/git_status': { git_user: '$GIT_USER' } },
      resources: ['file://README.md'],
      hooks: { agentSpawn: [{ command: 'git status' }] },
      useLegacyMcpJson: true,
      model: 'claude-sonnet-4',
    },
  });
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'git')).toMatchObject({
    transport: { command: 'git-mcp', env: { A: 'key-of-q' } },
    limits: { timeoutMs: 120_000 },
  });
  expect(rightsOf(configuration, 'aws-rust-agent')).toEqual([['git', 'fetch'], { fetch: { include: ['fetch_url'] } }]);
});

test('all tools are those of its own servers, and of the file of the client where it uses that', async () => {
  const server = { command: 'x' };
  const others = { '.amazonq/mcp.json': JSON.stringify({ mcpServers: { docs: server } }) };
  const configuration = await agents(
    {
      alone: { mcpServers: { git: server }, tools: ['*'] },
      both: { mcpServers: { git: server }, tools: ['*'], useLegacyMcpJson: true },
      none: { mcpServers: { git: server } },
      some: { tools: ['@docs/search', '@docs/read', '@git', '@git/log'] },
    },
    others,
  );
  expect(configuration.problems).toEqual([]);
  expect(rightsOf(configuration, 'alone')).toEqual([['git'], {}]);
  expect(rightsOf(configuration, 'both')).toEqual([['git', 'docs'], {}]);
  expect(rightsOf(configuration, 'none')).toEqual([[], {}]);
  expect(rightsOf(configuration, 'some')).toEqual([['docs', 'git'], { docs: { include: ['search', 'read'] } }]);
});

test('a name in a team page gets its rights from the file; a list of rights is the stronger one', async () => {
  const file = { tester: { mcpServers: { git: { command: 'x' } }, tools: ['@git/log'] } };
  const page = '## Members\n\n| Name | Role |\n|---|---|\n| Tester | QA |\n';
  expect(rightsOf(await agents(file, { '.squad/team.md': page }), 'tester')).toEqual([
    ['git'],
    { git: { include: ['log'] } },
  ]);
  const configuration = await agents(file, { 'quartermaster.yaml': 'agents: { tester: { servers: [] } }' });
  expect(rightsOf(configuration, 'tester')).toEqual([[], {}]);
  expect(onlyProblem(configuration).message).toContain('is overridden by the one in quartermaster.yaml');
});

test.each([
  [{ tools: '@git' }, 'tools'],
  [{ tools: ['@git'], disallowedTools: ['@git/push'] }, 'disallowedTools'],
  [{ tools: ['@git'], toolsSettings: { '@git/push': { allowedPaths: ['x'] } } }, 'toolsSettings.@git/push'],
])('a mistake costs the agent its tools, and nobody else: %j', async (content, field) => {
  const configuration = await agents({
    broken: content,
    sound: { mcpServers: { git: { command: 'x' } }, tools: ['@git'] },
  });
  const problem = onlyProblem(configuration);
  expect(problem).toMatchObject({ severity: 'error', field, agent: 'broken' });
  expect(problem.fatal).toBeUndefined();
  expect(rightsOf(configuration, 'broken')).toEqual([[], {}]);
  expect(configuration.agents.get('broken')?.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny' }]);
  expect([rightsOf(configuration, 'sound'), configuration.policy]).toEqual([[['git'], {}], undefined]);
});

test('a file that cannot be parsed denies everything, because it may name any agent', async () => {
  const configuration = await agents({ broken: '{ "tools": [' });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', fatal: true });
  expect(configuration.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny' }]);
});

test('a restriction of a server that is not understood; a file about something else; the folder of Kiro', async () => {
  const configuration = await agents({ a: { mcpServers: { s: { command: 'x', maxCalls: 5 } }, tools: ['@s'] } });
  expect(invalid(configuration, 's').problems[0]?.field).toBe('mcpServers.s.maxCalls');
  expect((await agents({ note: { prompt: 'x' } }, { '.mcp.json': '{"mcpServers":{}}' })).agents.size).toBe(0);
  const kiro = await load({ '.kiro/agents/dev.json': '{"mcpServers":{"s":{"command":"x"}},"tools":["@s/read"]}' });
  expect(rightsOf(kiro, 'dev')).toEqual([['s'], { s: { include: ['read'] } }]);
});
