// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import type { Configuration } from '../../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../../workspace.fixture.ts';
import { deniedTools, loadClient } from './client-file.fixture.ts';

const crush = (content: unknown, env?: Readonly<Record<string, string>>): Promise<Configuration> =>
  loadClient('crush.json', content, env);

test('the examples in the documentation of Crush', async () => {
  const configuration = await crush(
    {
      $schema: 'https://charm.land/crush.json',
      lsp: { go: { command: 'gopls' } },
      permissions: { allowed_tools: ['view', 'mcp_context7_get-library-doc'] },
      mcp: {
        filesystem: {
          type: 'stdio',
          command: 'node',
          args: ['/path/to/mcp-server.js'],
          timeout: 120,
          disabled: false,
          disabled_tools: ['some-tool-name'],
          env: { NODE_ENV: 'production', HOME_OF: '${DIR:-/srv}' },
        },
        github: {
          type: 'http',
          url: 'https://api.example.com/mcp/',
          headers: { Authorization: 'Bearer $GH_PAT' },
          enabled_tools: ['issue_read'],
        },
        stream: { type: 'sse', url: 'https://example.com/mcp/sse', headers: { 'API-Key': '$(echo $API_KEY)' } },
      },
    },
    { GH_PAT: 'pat-of-crush', API_KEY: 'key-of-crush' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'filesystem')).toMatchObject({
    transport: { env: { NODE_ENV: 'production', HOME_OF: '/srv' } },
    tools: { exclude: ['some-tool-name'] },
    limits: { timeoutMs: 60_000 },
  });
  expect(ready(configuration, 'github')).toMatchObject({
    transport: { headers: { Authorization: 'Bearer pat-of-crush' } },
    tools: { include: ['issue_read'] },
  });
  expect(ready(configuration, 'stream').transport).toMatchObject({
    type: 'sse',
    headers: { 'API-Key': 'key-of-crush' },
  });
});

test('tools that are disabled for all servers are hidden here', async () => {
  const configuration = await crush({
    options: { disabled_tools: ['bash', 'mcp_a_write'] },
    mcp: { a: { type: 'stdio', command: 'x', disabled_tools: ['drop'] }, b: { type: 'stdio', command: 'x' } },
  });
  expect(ready(configuration, 'a').tools).toEqual({ exclude: ['drop'] });
  expect(deniedTools(configuration, 'a')).toEqual(['bash', 'mcp_a_write', 'write']);
  expect(deniedTools(configuration, 'b')).toEqual(['bash', 'mcp_a_write']);
});

test('a command in a text is never run', async () => {
  for (const text of ['$(cat ~/.token)', '$(echo $(id))', 'a $(id)', '$(echo `id`)', "$(echo '$X')"]) {
    const configuration = await crush({ mcp: { s: { type: 'http', url: 'https://x.example', headers: { A: text } } } });
    expect(invalid(configuration, 's').problems[0]?.message).toContain('a command that only Crush runs');
  }
});

test.each([
  [{ options: { disabled_tools: [{ name: 'mcp_s_drop' }] }, mcp: { s: { type: 'stdio', command: 'x' } } }],
  [{ options: { disabled_tools: 'bash' }, mcp: { s: { type: 'stdio', command: 'x' } } }],
  [{ mcp: { s: { type: 'stdio', command: 'x', blocked: true } } }],
  [{ mcp: { s: { type: 'stdio', command: 'x', disabled_tools: { a: 'b' } } } }],
])('a restriction that is not understood makes its server invalid: %j', async (content) => {
  expect(invalid(await crush(content), 's').unclear).toBe(true);
});

test('the hidden file is the stronger one; a file without servers is another program’s; what is broken is told', async () => {
  const one = (command: string) => JSON.stringify({ mcp: { s: { type: 'stdio', command } } });
  const both = await load({ '.crush.json': one('a'), 'crush.json': one('b') });
  expect(ready(both, 's').transport).toMatchObject({ command: 'a' });
  expect((await load({ 'crush.json': '{ "images": ', '.mcp.json': '{"mcpServers":{}}' })).problems).toEqual([]);
  expect(onlyProblem(await crush('{ "mcp": { ')).severity).toBe('error');
});
