// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import type { Configuration } from '../../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

const qwen = (content: unknown, env?: Readonly<Record<string, string>>): Promise<Configuration> =>
  loadClient('.qwen/settings.json', content, env);

test('the examples in the documentation of Qwen Code', async () => {
  const configuration = await qwen(
    {
      mcpServers: {
        pythonTools: {
          command: 'python',
          args: ['-m', 'my_mcp_server', '--port', '8080'],
          cwd: './mcp-servers/python',
          env: { DATABASE_URL: '$DB_CONNECTION_STRING', API_KEY: '${EXTERNAL_API_KEY}' },
          timeout: 15_000,
        },
        httpServer: { httpUrl: 'http://localhost:3000/mcp', discoveryTimeoutMs: 10_000, timeout: 5_000 },
        sseServer: { url: 'http://localhost:8080/sse', trust: true },
        modern: { command: 'node', args: ['server.js'], versionNegotiation: 'auto', appResourceMaxBytes: 4_194_304 },
        filtered: { command: 'python', includeTools: ['safe_tool'], excludeTools: ['other'] },
      },
    },
    { DB_CONNECTION_STRING: 'postgres://db', EXTERNAL_API_KEY: 'key-of-qwen' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'pythonTools')).toMatchObject({
    transport: { env: { DATABASE_URL: 'postgres://db', API_KEY: 'key-of-qwen' } },
    limits: { timeoutMs: 15_000 },
  });
  expect(ready(configuration, 'httpServer').transport.type).toBe('http');
  expect(ready(configuration, 'sseServer').transport.type).toBe('sse');
  expect(ready(configuration, 'filtered').tools).toEqual({ include: ['safe_tool'], exclude: ['other'] });
});

test.each([
  [{ allowed: ['my-server', '*-internal'] }, ['my-server', 'a-internal']],
  [{ excluded: ['*puppeteer*'] }, ['my-server', 'a-internal']],
  [{ excluded: ['my-serve?'] }, ['a-internal', 'x-puppeteer-y']],
  [{ allowed: ['my-serve?', 'a-*'] }, ['a-internal']],
  [{ allowed: ['*'], excluded: ['a-internal'] }, ['my-server', 'x-puppeteer-y']],
])('lists of servers may hold patterns: %j', async (mcp, on) => {
  const server = { command: 'x' };
  const configuration = await qwen({
    mcp,
    mcpServers: { 'my-server': server, 'a-internal': server, 'x-puppeteer-y': server },
  });
  expect(configuration.problems).toEqual([]);
  expect([...configuration.servers.keys()].filter((name) => ready(configuration, name).enabled)).toEqual(on);
});

test('a pattern disables servers of other files too', async () => {
  const configuration = await load({
    '.mcp.json': '{"mcpServers":{"x-puppeteer":{"command":"x"},"docs":{"command":"x"}}}',
    '.qwen/settings.json': '{"mcp":{"excluded":["*puppeteer*"]}}',
  });
  expect(ready(configuration, 'x-puppeteer')).toMatchObject({
    enabled: false,
    disabledBy: { file: '.qwen/settings.json' },
  });
  expect(ready(configuration, 'docs').enabled).toBe(true);
});

test('rules on tools hold here too', async () => {
  const configuration = await qwen({
    permissions: {
      allow: ['mcp__a__write'],
      ask: ['mcp__a__push', 'Bash(git *)'],
      deny: ['mcp__b', 'mcp__a__drop(x)', 'Bash'],
    },
    mcpServers: { a: { command: 'x' }, b: { command: 'x' }, c: { command: 'x' } },
  });
  expect(configuration.problems).toEqual([]);
  const rulesOf = (name: string) =>
    ready(configuration, name).restrictedBy.flatMap(({ rules }) =>
      (rules?.rules ?? []).map(({ pattern, effect }) => `${pattern} ${effect}`),
    );
  expect(rulesOf('a')).toEqual(expect.arrayContaining(['mcp__a__push require-approval', 'mcp__a__drop deny']));
  expect(rulesOf('b')).toContain('mcp__b__* deny');
  expect(rulesOf('c')).toEqual([]);
});

test.each([
  [{ mcp: { excluded: 'a' } }, 'mcp.excluded'],
  [{ mcp: { allowed: Array.from({ length: 1_001 }, (_, index) => `s${index}`) } }, 'mcp.allowed'],
  [{ permissions: { deny: [{ tool: 'x' }] } }, 'permissions.deny'],
])('a list that cannot be read leaves no server', async (lists, field) => {
  const configuration = await qwen({ mcpServers: { a: { command: 'x' } }, ...lists });
  expect(configuration.servers.size).toBe(0);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', field });
});

test('a restriction that is not understood makes its server invalid', async () => {
  const configuration = await qwen({ mcpServers: { a: { command: 'x', denyTools: 5 } } });
  expect(invalid(configuration, 'a').problems[0]?.field).toBe('mcpServers.a.denyTools');
});
