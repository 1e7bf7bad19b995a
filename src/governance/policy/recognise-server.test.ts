import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { TransportSpec } from '../../domain/index.ts';
import { knownServers } from './known-servers.ts';
import { recogniseServer } from './recognise-server.ts';

const stdio = (command: string, ...args: string[]): TransportSpec => ({
  type: 'stdio',
  command,
  args,
  env: {},
  cwd: '/',
});
const http = (url: string): TransportSpec => ({ type: 'http', url, headers: {} });

/** A tool that only the server in question reads with. */
function reads(transport: TransportSpec, fallbacks: readonly TransportSpec[] = []): string | undefined {
  const known = recogniseServer({ transport, fallbacks });
  return ['read_file', 'git_log', 'read_graph', 'fetch', 'get_issue', 'sql_select', 'search_pages', 'execute_query']
    .concat('query_table', 'get_file_contents')
    .find((tool) => known?.reads.has(tool));
}

test.each([
  ['npx', stdio('npx', '-y', '@modelcontextprotocol/server-filesystem', '.'), 'read_file'],
  ['a version', stdio('npx', '-y', '@modelcontextprotocol/server-filesystem@2025.8.21', '.'), 'read_file'],
  ['a tag', stdio('npx', '--yes', '@modelcontextprotocol/server-memory@latest'), 'read_graph'],
  ['a path to npx', stdio('/usr/local/bin/npx', '@modelcontextprotocol/server-git', '--repository', '.'), 'git_log'],
  ['npm exec', stdio('npm', 'exec', '-y', '--', '@modelcontextprotocol/server-memory'), 'read_graph'],
  ['pnpm dlx', stdio('pnpm', 'dlx', '@supabase/mcp-server-supabase@0.5.0'), 'sql_select'],
  ['uvx', stdio('uvx', 'mcp-server-git'), 'git_log'],
  ['uvx with a version', stdio('uvx', 'mcp-obsidian==0.2.1'), 'get_file_contents'],
  ['uvx with a tag', stdio('uvx', 'mcp-server-fetch@latest'), 'fetch'],
  ['uv tool run', stdio('uv', 'tool', 'run', 'mcp-server-fetch'), 'fetch'],
  ['a python module', stdio('python3', '-m', 'mcp_server_git'), 'git_log'],
  ['an installed program', stdio('/opt/bin/mcp-server-git', '--repository', '.'), 'git_log'],
  [
    'a file of an installed package',
    stdio('node', '/w/node_modules/@modelcontextprotocol/server-memory/dist/index.js'),
    'read_graph',
  ],
  ['a file by its relative path', stdio('node', 'node_modules/mcp-fetch-server/dist/index.js'), 'fetch'],
  ['an image', stdio('docker', 'run', '-i', '--rm', '-e', 'T', 'ghcr.io/github/github-mcp-server:v1'), 'get_issue'],
  ['a built-in server', stdio('qm', 'builtin', 'pg-readonly', '--url', 'x'), 'execute_query'],
  ['a built-in server by its file', stdio('node', '/w/bin/qm', 'builtin', 'git'), 'git_log'],
  ['a host', http('https://api.githubcopilot.com/mcp/'), 'get_issue'],
  ['a host with a query', http('https://mcp.supabase.com/mcp?project_ref=x'), 'sql_select'],
  ['a host over SSE', { type: 'sse', url: 'https://mcp.notion.com/sse', headers: {} }, 'fetch'],
  ['a host behind mcp-remote', stdio('npx', '-y', 'mcp-remote', 'https://mcp.notion.com/mcp'), 'fetch'],
] satisfies [string, TransportSpec, string][])('%s', (_what, transport, tool) => {
  expect(reads(transport)).toBe(tool);
});

test.each([
  ['the name among the arguments of another package', stdio('npx', 'x', '@modelcontextprotocol/server-memory')],
  ['another package under the name', stdio('npx', '@modelcontextprotocol/server-memory@npm:x')],
  ['another source of the package', stdio('npx', '@modelcontextprotocol/server-memory@file:./x')],
  ['an option that changes what runs', stdio('npx', '-p', 'x', '@modelcontextprotocol/server-memory')],
  ['a name of one registry in the other', stdio('npx', '-y', 'mcp-obsidian')],
  ['a name of one registry in the other, the other way round', stdio('uvx', '@modelcontextprotocol/server-git')],
  ['a longer name', stdio('npx', '@modelcontextprotocol/server-memory-x')],
  ['a shell', stdio('sh', '-c', 'npx @modelcontextprotocol/server-memory')],
  ['a folder that looks like the package', stdio('node', '/w/@modelcontextprotocol/server-memory/index.js')],
  ['a package inside the package', stdio('node', '/w/node_modules/mcp-fetch-server/node_modules/x/index.js')],
  ['an image with another entry', stdio('docker', 'run', '--entrypoint', 'x', 'ghcr.io/github/github-mcp-server')],
  ['an image of another registry', stdio('docker', 'run', 'x.test/github/github-mcp-server')],
  ['another command of ours', stdio('qm', 'stdio', 'git')],
  ['no command at all', stdio('npx')],
  ['a program named like a property', stdio('constructor')],
  ['a host without TLS', http('http://api.githubcopilot.com/mcp/')],
  ['a host below the host', http('https://x.api.githubcopilot.com/mcp/')],
  ['a host named in the path', http('https://x.test/api.githubcopilot.com')],
  ['a host named as the user', http('https://api.githubcopilot.com@x.test/')],
  ['no address', http('not a url')],
  ['another host behind mcp-remote', stdio('npx', 'mcp-remote', 'https://x.test/', 'https://mcp.notion.com/mcp')],
])('not recognised: %s', (_what, transport) => {
  expect(recogniseServer({ transport, fallbacks: [] })).toBeUndefined();
});

test('every way to reach a server must lead to the same one', () => {
  const notion = http('https://mcp.notion.com/mcp');
  const again = stdio('npx', '-y', 'mcp-remote', 'https://mcp.notion.com/mcp');
  expect(reads(notion, [{ type: 'sse', url: 'https://mcp.notion.com/sse', headers: {} }, again])).toBe('fetch');
  expect(reads(notion, [again, stdio('npx', 'some-notion')])).toBeUndefined();
});

test('no tool both reads and writes, and no way leads to two servers', () => {
  const ways = knownServers.flatMap(({ npm, pypi, programs, images, hosts, builtin }) => [
    ...(npm ?? []).map((name) => `npm ${name}`),
    ...(pypi ?? []).map((name) => `pypi ${name}`),
    ...(programs ?? []).map((name) => `program ${name}`),
    ...(images ?? []).map((name) => `image ${name}`),
    ...(hosts ?? []).map((name) => `host ${name}`),
    ...(builtin === undefined ? [] : [`builtin ${builtin}`]),
  ]);
  expect(ways).toEqual([...new Set(ways)]);
  for (const { reads, writes } of knownServers) expect([...reads].filter((tool) => writes.has(tool))).toEqual([]);
});

test('a tool that shows credentials does not count as reading, though it changes nothing', () => {
  const everything = recogniseServer({
    transport: stdio('npx', '-y', '@modelcontextprotocol/server-everything'),
    fallbacks: [],
  });
  expect(everything?.reads.has('get-sum')).toBe(true);
  expect(everything?.reads.has('get-env')).toBe(false);
  const github = recogniseServer({ transport: http('https://api.githubcopilot.com/mcp/'), fallbacks: [] });
  expect(github?.reads.has('get_secret_scanning_alert')).toBe(false);
  const telling = /env|secret|password|credential/;
  expect(knownServers.flatMap((server) => [...server.reads]).filter((tool) => telling.test(tool))).toEqual([]);
});

test('each entry of the list says when it was observed, and the version where the tests run the server', () => {
  const day = /^\d{4}-\d{2}-\d{2}$/;
  expect(knownServers.filter(({ observed }) => !day.test(observed.date)).map(({ name }) => name)).toEqual([]);
  const installed = knownServers.filter(({ observed }) => observed.version !== undefined);
  expect(installed.map(({ name }) => name)).toEqual(['filesystem', 'memory', 'everything']);
  const { resolve } = createRequire(import.meta.url);
  for (const { npm, observed } of installed) {
    const manifest: unknown = JSON.parse(readFileSync(resolve(`${npm?.[0] ?? ''}/package.json`), 'utf8'));
    expect(manifest).toMatchObject({ version: observed.version });
  }
});
