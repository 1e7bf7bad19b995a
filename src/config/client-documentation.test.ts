import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readers } from './readers/precedence.ts';
import { placeText } from './readers/reader.ts';
import { load, ready } from './workspace.fixture.ts';

const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
const section = page.split('## Files of other clients\n')[1]?.split('\n## ')[0] ?? '';

function example(language: string): string {
  const block = section.split(`\`\`\`${language}\n`)[1]?.split('```')[0];
  if (block === undefined) throw new Error(`no ${language} example among the files of other clients`);
  return block;
}

test('the examples of the documentation load without a problem', async () => {
  const configuration = await load(
    { '.vscode/mcp.json': example('jsonc'), '.codex/config.toml': example('toml'), '.env.tools': 'LEVEL=debug\n' },
    { DOCS_TOKEN: 'token-of-docs' },
    { 'tracker-key': 'key-of-tracker' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'tracker').transport).toMatchObject({
    headers: { Authorization: 'Bearer key-of-tracker' },
  });
  expect(ready(configuration, 'local').transport).toMatchObject({
    args: [`${configuration.workspace}/tools/server.js`],
    env: { LEVEL: 'debug' },
  });
  expect(ready(configuration, 'docs')).toMatchObject({
    transport: { headers: { Authorization: 'Bearer token-of-docs' } },
    tools: { include: ['search', 'fetch'] },
    limits: { timeoutMs: 30_000 },
  });
});

test('the example of an agent of Amazon Q gives it these tools', async () => {
  const configuration = await load({ '.amazonq/cli-agents/dev.json': example('json') });
  expect(configuration.problems).toEqual([]);
  expect(configuration.agents.get('dev')).toMatchObject({
    servers: ['git', 'docs'],
    tools: new Map([['git', { include: ['git_status', 'git_log'] }]]),
  });
});

test('the table names the files in the order in which they are read', () => {
  const named = [...section.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
  const places = readers.map(({ place }) => `\`${placeText(place)}\``);
  expect(named).toEqual(places.slice(-named.length));
});
