import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Config, openStage, stdioServer } from './support/hub.ts';
import { eventually } from './support/within.ts';

const page = readFileSync(resolve(import.meta.dirname, '..', 'docs', 'guides', 'security-model.md'), 'utf8');

/** Enough tools to tell the cells of the table apart. */
const files = ['read_text_file', 'list_directory', 'write_file'];
const tools: Readonly<Record<string, readonly string[]>> = {
  github: [
    ...['get_issue', 'list_issues', 'create_issue', 'create_pull_request', 'list_pull_requests'],
    ...['merge_pull_request', 'delete_repository', 'push_files', 'add_issue_comment'],
  ],
  files,
  tests: files,
  assets: files,
  docs: files,
  database: ['list_tables', 'query', 'execute'],
  deploy: ['release', 'roll_back'],
};

test('each agent of docs/guides/security-model.md has the tools of the table, and an unnamed one has none', async () => {
  const stage = await openStage();
  const [, yaml = ''] = /```yaml\n(servers:[\s\S]*?)```/.exec(page) ?? [];
  const { agents } = parse(yaml) as Config; // as the page has it; the hub checks it
  const servers = Object.entries(tools).map(([name, of]) => [name, stdioServer('named-tools.mjs', of)]);
  await stage.start({ servers: Object.fromEntries(servers), agents });
  // The first lists start the servers.
  for (const agent of ['lead', 'reader']) await stage.names(agent);
  for (const name of Object.keys(tools)) await eventually(() => stage.status(name).state === 'connected', name, 60_000);
  const rows = rowsOf(page);
  expect(rows.map(([agent]) => agent)).toEqual([...Object.keys(agents as object), 'any other agent']);
  for (const [agent, cells] of rows) {
    const names = await stage.names(agent);
    const expected = Object.entries(tools).flatMap(([server, all]) =>
      all.filter((tool) => isIn(cells[server] ?? '', tool)).map((tool) => `${server}_${tool}`),
    );
    expect(names, agent).toEqual(expected.toSorted());
  }
});

function rowsOf(text: string): [agent: string, cells: Readonly<Record<string, string>>][] {
  const [, head = '', body = ''] = /^\| agent (\|.*)\n\|---.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const cellsOf = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const servers = cellsOf(head);
  return body
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [agent = '', ...cells] = cellsOf(line);
      return [agent.replace(/,.*/, ''), Object.fromEntries(servers.map((name, index) => [name, cells[index] ?? '']))];
    });
}

/** `all`, or patterns in backticks and those after `not`. */
function isIn(cell: string, tool: string): boolean {
  const [listed = '', excluded = ''] = cell.split(' not ');
  if (listed.startsWith('all')) return true;
  return matchesOne(listed, tool) && !matchesOne(excluded, tool);
}

function matchesOne(patterns: string, tool: string): boolean {
  return [...patterns.matchAll(/`([^`]+)`/g)].some(([, pattern = '']) =>
    new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(tool),
  );
}
