import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { createHub } from '../src/index.ts';
import { readScenes } from './support/doc-blocks.ts';
import { stdioServer } from './support/hub.ts';
import { verifies } from './support/verifies.ts';

const guides = resolve(import.meta.dirname, '..', 'docs', 'guides');
const read = (page: string): string => readFileSync(join(guides, page), 'utf8');

/** What the servers of the pages offer, and a little more that nobody was promised. */
const offered: Readonly<Record<string, readonly string[]>> = {
  trello: ['list_boards', 'list_cards', 'create_card', 'move_card', 'delete_board'],
  slack: ['send_message', 'list_channels', 'search_messages', 'delete_channel'],
  notion: ['search_pages', 'read_page', 'create_page', 'update_page', 'delete_page'],
  github: [
    'get_issue',
    'list_issues',
    'create_issue',
    'create_pull_request',
    'merge_pull_request',
    'delete_repository',
    'push_files',
  ],
  database: ['list_tables', 'describe_table', 'query_table', 'execute_query', 'query', 'execute'],
  deploy: ['start', 'roll_back'],
};
const files = ['read_text_file', 'list_directory', 'write_file', 'move_file'];

interface Config {
  readonly servers: Readonly<Record<string, object>>;
  readonly [section: string]: unknown;
}

type Tools = Readonly<Record<string, readonly string[]>>;

/** What an agent has of each server when the page's file is in force, with servers in the place of those it names. */
async function openHub(config: Config, own: Tools = {}): Promise<(agent: string) => Promise<Tools>> {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-routes-'));
  const servers = Object.entries(config.servers).map(([name, server]) => {
    const rest = Object.entries(server).filter(
      ([key]) => !['command', 'url', 'headers', 'builtin', 'env'].includes(key),
    );
    const names = own[name] ?? offered[name] ?? files;
    return [name, { ...Object.fromEntries(rest), ...stdioServer('named-tools.mjs', names) }];
  });
  await writeFile(
    join(workspace, 'quartermaster.yaml'),
    JSON.stringify({ ...config, servers: Object.fromEntries(servers) }),
  );
  const hub = await createHub({ workspace, env: { PATH: process.env.PATH } });
  onTestFinished(async () => {
    await hub.close();
    await rm(workspace, { recursive: true, force: true, maxRetries: 3 });
  });
  return async (agent) => {
    const tools = await hub.agent(agent).tools();
    const says = tools.map(({ server, tool, decision }) => [server, decision === 'ask' ? `${tool}?` : tool] as const);
    return Object.fromEntries(
      Object.keys(config.servers).map((name) => [
        name,
        says.flatMap(([from, tool]) => (from === name ? [tool] : [])).sort(),
      ]),
    );
  };
}

const patterns = readScenes('patterns.md', read('patterns.md')).map((scene, index) => {
  const section = read('patterns.md').split(/^## /m)[index + 1] ?? '';
  return [section.split('\n')[0] ?? '', parse(scene.blocks[0]?.text ?? '') as Config, rowsOf(section)] as const;
});

test('the page has the four patterns', () => {
  expect(patterns.map(([name]) => name.slice(0, 2))).toEqual(['A.', 'B.', 'C.', 'D.']);
});

test.each(patterns)(
  verifies('docs:routes', '%s: agents have exactly the tools of the table'),
  async (_name, config, rows) => {
    const has = await openHub(config, { database: offered.database?.slice(0, 4) ?? [] });
    const [server = ''] = Object.keys(config.servers);
    expect(rows.length).toBeGreaterThan(2);
    for (const [agent = '', cell = ''] of rows) {
      expect([agent, (await has(agent))[server]]).toEqual([agent, namesIn(cell).sort()]);
    }
    expect((await has('somebody-else'))[server]).toEqual([]);
  },
);

test(verifies('docs:routes', 'the table of the security model is what its configuration gives'), async () => {
  const page = read('security-model.md');
  const config = parse(readScenes('security-model.md', page)[0]?.blocks[0]?.text ?? '') as Config;
  const [section = ''] = page.split('\n## Paths');
  const servers = Object.keys(config.servers);
  const agents = Object.keys(config.agents as object); // as the page has it; the hub checks it
  expect(section).toContain(`| agent | ${servers.join(' | ')} |`);
  const has = await openHub(config, { database: ['list_tables', 'query', 'execute'] });
  const rows = rowsOf(section);
  expect(rows.map(([agent = '']) => agent.replace(/,.*/, ''))).toEqual([...agents, 'any other agent']);
  for (const [agent = '', ...cells] of rows) {
    const own: Tools = { ...offered, database: ['list_tables', 'query', 'execute'] };
    const expected = servers.map((name, index) => [name, toolsOf(cells[index] ?? '', own[name] ?? files)]);
    const name = agent.replace(/,.*/, '').replaceAll(' ', '-');
    expect([agent, await has(name)]).toEqual([agent, Object.fromEntries(expected)]);
  }
});

/** The tools that a cell names: all, or those of its patterns, without those after `not`. */
function toolsOf(cell: string, all: readonly string[]): string[] {
  const [listed = '', excluded = ''] = cell.split(', not ');
  const isIn = (patterns: string, tool: string): boolean =>
    namesIn(patterns).some((pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(tool));
  const left = all.filter((tool) => (listed.startsWith('all') || isIn(listed, tool)) && !isIn(excluded, tool));
  return left.map((tool) => (cell.endsWith('with approval') ? `${tool}?` : tool)).sort();
}

/** The rows of the first table, without its head. */
function rowsOf(section: string): string[][] {
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .slice(2, -2)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([\w*]+)`/g)].map(([, name = '']) => name);
}
