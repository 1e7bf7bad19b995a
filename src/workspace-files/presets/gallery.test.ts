import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { choosePresets, planPresets } from '../plan-presets.ts';
import { defaultPresets, presetBehind, presets, programOf } from './gallery.ts';
import { presetRoles } from './preset.ts';
import { presetServer, presetText } from './preset-file.ts';
import { suggestRoutes } from './suggest-routes.ts';

test('the gallery is plain data under names that are there once', () => {
  expect(JSON.parse(JSON.stringify(presets))).toEqual(presets);
  const ids = presets.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining([...defaultPresets]));
  expect(presets.filter(({ kind }) => kind === 'preset')).toHaveLength(9);
});

test.each(presets)('$id: the file needs the variables of the entry and no others', (preset) => {
  const text = presetText(preset);
  const used = [...text.matchAll(/\$\{(\w+)/g)].map((match) => match[1]).filter((name) => name !== 'WORKSPACE_ROOT');
  expect(new Set(used)).toEqual(new Set(preset.variables.map(({ name }) => name)));
  // One that has neither a default nor an alternative around it.
  const bare = [...text.replaceAll(/\$\{\w+:.*?\}\}?/g, '').matchAll(/\$\{(\w+)\}/g)].map((match) => match[1]);
  const needed = new Set(bare.filter((name) => name !== 'WORKSPACE_ROOT'));
  expect(new Set(preset.variables.filter((each) => each.required).map(({ name }) => name))).toEqual(needed);
  expect(preset.login.variable === null).toBe(preset.login.kind === 'none');
  if (preset.login.variable !== null) expect(used).toContain(preset.login.variable);
});

test.each(presets)('$id: each role has a route, and a list names what the server may offer', ({ routes, tools }) => {
  expect(Object.keys(routes)).toEqual([...presetRoles]);
  expect(Object.values(routes).some((route) => route === 'all')).toBe(true);
  for (const route of Object.values(routes)) {
    if (typeof route === 'string') continue;
    expect(route.length).toBeGreaterThan(0);
    expect(new Set(route).size).toBe(route.length);
    if (tools !== undefined) expect(tools).toEqual(expect.arrayContaining([...route]));
  }
});

test('a program from npm is pinned to a version', () => {
  const packages = presets
    .flatMap(({ transport, fallback }) => [transport, ...fallback])
    .flatMap((transport) => (transport.type === 'stdio' && transport.command === 'npx' ? [transport.args] : []));
  expect(packages.map(([flag, name = '']) => [flag, name.replace(/(?<=.)@.*$/, '')])).toEqual([
    ['-y', '@modelcontextprotocol/server-filesystem'],
    ['-y', '@modelcontextprotocol/server-memory'],
    ['-y', 'mcp-remote'],
    ['-y', '@azure-devops/mcp'],
    ['-y', 'mongodb-mcp-server'],
    ['-y', '@playwright/mcp'],
  ]);
  for (const [, name] of packages) expect(name).toMatch(/.@\d+\.\d+\.\d+$/);
});

test('a file is new, the same, different or a link', () => {
  const chosen = presets.filter(({ id }) => id === 'github');
  const state = (text: string | undefined, isLink = false): string | undefined =>
    planPresets(chosen, text === undefined ? [] : [{ file: 'ops/adk/servers/github.yaml', text, isLink }])[0]?.state;
  const text = chosen.map(presetText)[0] ?? '';
  expect(state(undefined)).toBe('new');
  expect(state(text)).toBe('unchanged');
  expect(state(text.replaceAll('\n', '\r\n'))).toBe('unchanged');
  expect(state(`${text}x: 1\n`)).toBe('differs');
  expect(state(`${text}x: 1\n`, true)).toBe('link');
});

test('in our own words a preset keeps its limits and its guards', () => {
  const server = (id: string): unknown => presets.filter((each) => each.id === id).map(presetServer)[0];
  expect(server('supabase')).toMatchObject({ readOnly: true, scopes: ['db:select', 'db:describe'] });
  expect(server('github')).toMatchObject({ writeRequiresApproval: true, instead: 'Use the gh command line.' });
  expect(server('memory')).toMatchObject({ limits: { rate_per_min: 120, timeout_s: 20 } });
  expect(server('notion')).toMatchObject({ fallback: [{ type: 'sse' }, { type: 'stdio' }] });
  expect(server('git')).toMatchObject({ builtin: 'git', args: ['--repository', '.'] });
  expect(server('trello')).toMatchObject({ tools: ['list_boards', 'list_cards', 'create_card', 'move_card'] });
});

test('a server is known as a preset by the file it stands in', () => {
  expect(presetBehind('github', 'ops/adk/servers/github.yaml')?.id).toBe('github');
  expect(presetBehind('github', '.mcp/servers/github.json')?.id).toBe('github');
  expect(presetBehind('github', 'quartermaster.yaml')).toBeUndefined();
  expect(presetBehind('mine', 'ops/adk/servers/mine.yaml')).toBeUndefined();
});

test('what has to be on the machine is the program of the first way', () => {
  const program = (id: string): unknown => presets.filter((each) => each.id === id).map(programOf)[0];
  expect(['obsidian', 'memory', 'notion', 'git'].map(program)).toEqual(['uvx', 'npx', undefined, undefined]);
});

test('routes of several presets are one map of agents; who gets nothing is not in it', () => {
  const chosen = choosePresets(['trello', 'slack']);
  if (chosen.kind !== 'chosen') throw new Error('both exist');
  expect(parse(suggestRoutes(chosen.presets))).toEqual({
    agents: {
      lead: { servers: ['trello', 'slack'] },
      scribe: { servers: ['trello', 'slack'], tools: { trello: { include: ['list_boards', 'list_cards'] } } },
    },
  });
});

test('what deletes is left out, asks first or is kept to those who keep order', () => {
  const deletes = /delete|remove|drop|purge/;
  expect(presets.flatMap(({ tools = [] }) => tools).filter((tool) => deletes.test(tool))).toEqual([]);
  // These have no list of tools: their servers have none that deletes, or writing is guarded or not in their scopes.
  const open = presets.filter(({ tools }) => tools === undefined).map(({ id }) => id);
  expect(open.sort()).toEqual([
    'azure-devops',
    'fetch',
    'filesystem',
    'git',
    'github',
    'memory',
    'notion',
    'pg-readonly',
    'playwright',
    'supabase',
  ]);
  const memory = presets.find(({ id }) => id === 'memory');
  const keepers = Object.entries(memory?.routes ?? {}).filter(([, route]) => route === 'all');
  expect(keepers.map(([role]) => role)).toEqual(['lead', 'scribe']);
});
