import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fileSchema, serverSchema } from './schema.ts';
import { load, ready } from './workspace.fixture.ts';

/** The code blocks that follow a heading. */
async function examples(heading: string, name = 'configuration.md'): Promise<string[]> {
  const page = await readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
  const section = page.split(`\n${heading}\n`)[1];
  const blocks = [...(section ?? '').matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
  if (blocks.length === 0) throw new Error(`no example under ${heading} in docs/${name}`);
  return blocks;
}

test('the examples of the documentation load without a problem', async () => {
  const [flat, full, postgres] = await examples('## .mcp/servers and ops/adk/servers');
  const configuration = await load(
    {
      'quartermaster.yaml': await first('## quartermaster.yaml'),
      '.mcp.json': await first('## .mcp.json'),
      '.mcp/servers/files.yaml': flat ?? '',
      'ops/adk/servers/supabase.yaml': full ?? '',
      '.mcp/servers/warehouse.yaml': postgres ?? '',
      'enabled-tools.json': await first('## enabled-tools.json'),
      'product.json': await first('## product.json and manifest.json'),
      'catalog/agents/main/writer/agent.yaml': await first('## catalog/agents'),
      'catalog/policies/mcp_permissions.yaml': await first('## mcp_permissions.yaml'),
      '.squad/team.md': await first('## .squad/team.md'),
      '.env': await first('### .env'),
    },
    { DOCS_KEY: 'key-of-docs', GITHUB_TOKEN: 'weaker', WAREHOUSE_URL: 'postgres://reader@db.example/shop' },
  );
  expect(configuration.problems.map(({ file, server }) => [file, server])).toEqual([
    // It can read the .env of the example.
    ['quartermaster.yaml', 'files'],
    ['.mcp/servers/files.yaml', 'files'],
  ]);
  expect([...configuration.servers.keys()]).toEqual([
    ...[
      'files',
      'github',
      'history',
      'clock',
      'warehouse',
      'supabase',
      'memory',
      'docs',
      'issues',
      'internal',
      'search',
    ],
  ]);
  expect(configuration.permissions).toMatchObject({ environment: 'production', rules: [{}, {}] });
  expect([...configuration.agents.keys()]).toEqual(['developer', 'reviewer', 'writer']);
  expect(configuration.agents.get('writer')?.servers).toEqual(['github', 'files']);
  expect(ready(configuration, 'github').transport).toMatchObject({ headers: { Authorization: 'Bearer the-token' } });
  expect(ready(configuration, 'supabase')).toMatchObject({
    transport: { url: 'https://mcp.supabase.com/mcp?read_only=true', headers: {} },
    access: { readOnly: true, writeRequiresApproval: true },
  });
});

test("the examples of Squad's files go together as the page says", async () => {
  const configuration = await load({
    '.squad/mcp-config.json': await first('## .squad/mcp-config.json'),
    '.squad/team.md': await first('## .squad/team.md'),
    '.env': 'GITHUB_TOKEN=the-token',
  });
  expect(configuration.problems).toEqual([]);
  expect(configuration.roles.get('ada')).toBe('backend-dev');
  expect(configuration.agents.get('backend-dev')?.servers).toEqual(['github', 'database']);
  expect(ready(configuration, 'database').limits.timeoutMs).toBe(30_000);
});

test('the examples of the pages on protocol and servers load without a problem', async () => {
  const [isolated = ''] = await examples('## Isolation', 'protocol.md');
  const configuration = await load({ 'quartermaster.yaml': isolated });
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'assistant').isolation).toBe('per-session');
  const [chain = ''] = await examples('## When a transport does not work', 'servers.md');
  const other = await load({ 'quartermaster.yaml': chain });
  expect(other.problems).toEqual([]);
  expect(ready(other, 'shop').fallbacks).toHaveLength(2);
});

test('every key of a server is on the page', async () => {
  const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const table = page.split('\n### Servers\n')[1]?.split('\n### ')[0] ?? '';
  const told = table.split('\n').map((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? '');
  const keys = Object.keys(serverSchema.shape);
  expect(keys.filter((key) => !told.some((cell) => new RegExp(`\`${key}[\`.]`).test(cell)))).toEqual([]);
});

test('the example shows every section', async () => {
  const text = await first('## quartermaster.yaml');
  for (const section of Object.keys(fileSchema.shape)) expect(text).toMatch(new RegExp(`^${section}:`, 'm'));
});

async function first(heading: string): Promise<string> {
  const [block = ''] = await examples(heading);
  return block;
}
