import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fileSchema } from './schema.ts';
import { load, ready } from './workspace.fixture.ts';

async function example(language: string): Promise<string> {
  const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const block = page.split(`\`\`\`${language}\n`)[1]?.split('```')[0];
  if (block === undefined) throw new Error(`no ${language} example in docs/configuration.md`);
  return block;
}

test('the examples of the documentation load without a problem', async () => {
  const fleet = await load(
    { 'quartermaster.yaml': await example('yaml'), '.mcp.json': await example('json') },
    { GITHUB_TOKEN: 'token-of-github', DOCS_KEY: 'key-of-docs' },
  );
  expect(fleet.problems).toEqual([]);
  expect([...fleet.servers.keys()]).toEqual(['files', 'github', 'clock', 'memory', 'docs']);
  expect([...fleet.agents.keys()]).toEqual(['developer', 'reviewer']);
  expect(ready(fleet, 'github').transport).toMatchObject({ headers: { Authorization: 'Bearer token-of-github' } });
});

test('the example shows every section', async () => {
  const text = await example('yaml');
  for (const section of Object.keys(fileSchema.shape)) expect(text).toMatch(new RegExp(`^${section}:`, 'm'));
});
