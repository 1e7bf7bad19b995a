// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Configuration } from '../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../workspace.fixture.ts';

function product(content: unknown, file = 'product.json'): Promise<Configuration> {
  const text = typeof content === 'string' ? content : JSON.stringify(content, undefined, 2);
  return load({ [file]: text }, { SEARCH_API_KEY: 'key-of-search' });
}

const search = {
  description: 'Looks things up',
  transport: 'stdio',
  command: 'npx',
  args: ['-y', 'search-server'],
  env: { SEARCH_API_KEY: '${SEARCH_API_KEY}' },
};
const events = {
  transport: 'sse',
  url: 'https://example.com/sse',
  headers: { Authorization: 'Bearer ${SEARCH_API_KEY}' },
};
const around = { name: 'research', version: '1.2.0', description: 'A product', agents: [{ name: 'x' }] };

test(verifies('config:manifests', 'servers of a product, as a list and as a map, under either file name'), async () => {
  for (const file of ['product.json', 'manifest.json']) {
    for (const servers of [
      [
        { name: 'search', ...search },
        { name: 'events', ...events },
      ],
      { search, events },
    ]) {
      const configuration = await product({ ...around, mcp: { servers } }, file);
      expect(configuration.problems).toEqual([]);
      expect(configuration.files).toEqual([file]);
      expect(ready(configuration, 'search')).toMatchObject({
        description: 'Looks things up',
        transport: { command: 'npx', args: ['-y', 'search-server'], env: { SEARCH_API_KEY: 'key-of-search' } },
      });
      expect(ready(configuration, 'events').transport).toEqual({
        type: 'sse',
        url: 'https://example.com/sse',
        headers: { Authorization: 'Bearer key-of-search' },
      });
    }
  }
});

test('the transport may stand under config, as products are stored, and be called type', async () => {
  const { command, args, env } = search;
  const configuration = await product({
    mcp: {
      servers: {
        search: { transport: 'stdio', config: { command, args, env } },
        events: { type: 'sse', url: 'https://example.com/sse', enabled: false },
        twice: { transport: 'stdio', command: 'x', config: { command: 'y' } },
      },
    },
  });
  expect(ready(configuration, 'search').transport).toMatchObject({
    command,
    args,
    env: { SEARCH_API_KEY: 'key-of-search' },
  });
  expect(ready(configuration, 'events')).toMatchObject({ enabled: false, transport: { type: 'sse' } });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', server: 'twice' });
});

test.each([
  ['a web page', '{"name":"App","icons":[{"src":"a.png"}],"start_url":"/"}'],
  ['a browser extension', '{"manifest_version":3,"name":"x","permissions":["tabs"]}'],
  ['a desktop extension', '{"manifest_version":"0.3","server":{"type":"node","mcp_config":{"command":"node"}}}'],
  ['an editor', '{"nameShort":"Code","extensionsGallery":{"serviceUrl":"x"}}'],
  ['something with mcp and no servers', '{"mcp":{"prompts":[]},"servers":{"a":{"command":"x"}}}'],
  ['a flag and a list elsewhere', '{"mcp":true,"servers":[]}'],
  ['servers that are a number', '{"mcp":{"servers":3}}'],
  ['broken, and not about MCP', '{"name": '],
  ['not even JSON', 'hello'],
])(verifies('config:manifests', 'the file of %s is somebody else’s'), async (_what, text) => {
  for (const file of ['product.json', 'manifest.json']) {
    const configuration = await load({ [file]: text, '.mcp.json': '{"mcpServers":{}}' });
    expect([configuration.problems, configuration.servers.size, configuration.files]).toEqual([[], 0, ['.mcp.json']]);
  }
});

test('a manifest that is ours by its words and cannot be parsed is told with its line', async () => {
  const configuration = await product('{\n"mcp": {"servers": [\n{"name": "a" "command": "x"}]}}');
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file: 'product.json', line: 3 });
  expect(onlyProblem(configuration).fix).toContain('line 3');
});

test.each([
  ['{"command":"x"}', 'mcp.servers.0.name', '"name" must be text', 'server-1'],
  ['{"name":"a","transport":"ws","url":"https://x"}', 'mcp.servers.0.transport', 'must be one of', 'a'],
  ['{"name":"a","transport":"sse","command":"x"}', 'mcp.servers.0.transport', 'transport "sse" does not go with', 'a'],
  ['{"name":"a","command":"x","tool":["b"]}', 'mcp.servers.0.tool', 'is unknown.', 'a'],
  ['{"name":"a"}', 'mcp.servers.0.command', '"command" or "url" is missing', 'a'],
  ['"x"', 'mcp.servers.0', 'must be a map', 'server-1'],
])('%s is invalid and alone', async (item, field, said, server) => {
  const configuration = await product(`{"mcp":{"servers":[\n${item},\n{"name":"good","command":"x"}]}}`);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file: 'product.json', line: 2, field, server });
  expect(onlyProblem(configuration).message).toContain(said);
  expect(invalid(configuration, server).problems).toEqual([onlyProblem(configuration)]);
  expect(ready(configuration, 'good').enabled).toBe(true);
});

test(verifies('config:unknown-keys', 'keys that are not read are told, where they belong to us'), async () => {
  const configuration = await product({
    ...around,
    mcp: { colours: ['red'], servers: { a: { command: 'x', colour: 1 } } },
  });
  expect(configuration.problems.map(({ severity, field }) => [severity, field])).toEqual([
    ['warning', 'mcp.colours'],
    ['warning', 'mcp.servers.a.colour'],
  ]);
});

test(
  verifies('config:restrictions', 'a filter that is not understood leaves no server of the file usable'),
  async () => {
    const configuration = await product({
      ...around,
      mcp: { tool_filter: ['search_*'], servers: { a: { command: 'x' } } },
    });
    expect(invalid(configuration, 'a').problems).toMatchObject([{ severity: 'error', field: 'mcp.tool_filter' }]);
  },
);

test(verifies('config:duplicate-name', 'a name twice in the list is invalid'), async () => {
  const configuration = await product(
    '{"mcp":{"servers":[\n{"name":"a","command":"x"},\n{"name":"a","command":"y"}]}}',
  );
  expect(onlyProblem(configuration)).toMatchObject({ line: 3, server: 'a' });
  expect(invalid(configuration, 'a').source.line).toBe(2);
});

test('secrets in the manifest are pointed out', async () => {
  const configuration = await product({
    mcp: { servers: [{ name: 'a', command: 'x', args: ['--token', 'abcd1234efgh'] }] },
  });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', field: 'mcp.servers.0.args.1' });
});
