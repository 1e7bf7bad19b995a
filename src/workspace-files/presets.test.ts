import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { planPresets } from './plan-presets.ts';
import { presetServer } from './preset-server.ts';
import { defaultPresets, presets } from './presets.ts';

test.each(presets)('$id: the file says what the list says', ({ id, text, variables }) => {
  const server = parse(text);
  expect(server).toMatchObject({ id, version: '1' });
  expect(text.endsWith('\n')).toBe(true);
  const used = [...text.matchAll(/\$\{(\w+)/g)].map((match) => match[1]).filter((name) => name !== 'WORKSPACE_ROOT');
  expect(new Set(used)).toEqual(new Set(variables.map(({ name }) => name)));
  const required = [...text.matchAll(/"\$\{(\w+)\}"/g)].map((match) => match[1]);
  expect(variables.filter((each) => each.required).map(({ name }) => name)).toEqual(required);
});

test('a program from a registry is pinned to a version', () => {
  const packages = presets.flatMap(({ text }) => [...text.matchAll(/\[-y, "?([^",\]]+)/g)].map((match) => match[1]));
  expect(packages).toHaveLength(3);
  for (const name of packages) expect(name).toMatch(/.@\d+\.\d+\.\d+$/);
});

test('those that are written unasked exist', () => {
  expect(presets.map(({ id }) => id)).toEqual(expect.arrayContaining([...defaultPresets]));
});

test('a file is new, the same, different or a link', () => {
  const chosen = presets.filter(({ id }) => id === 'github');
  const state = (text: string | undefined, isLink = false): string | undefined =>
    planPresets(chosen, text === undefined ? [] : [{ file: 'ops/adk/servers/github.yaml', text, isLink }])[0]?.state;
  const text = chosen[0]?.text ?? '';
  expect(state(undefined)).toBe('new');
  expect(state(text)).toBe('unchanged');
  expect(state(text.replaceAll('\n', '\r\n'))).toBe('unchanged');
  expect(state(`${text}x: 1\n`)).toBe('differs');
  expect(state(`${text}x: 1\n`, true)).toBe('link');
});

test('in our own words a preset keeps its limits and its guards', () => {
  const server = (id: string): unknown => presets.filter((each) => each.id === id).map(presetServer)[0];
  expect(server('supabase')).toMatchObject({ readOnly: true, scopes: ['db:select', 'db:describe'] });
  expect(server('github')).toMatchObject({ writeRequiresApproval: true });
  expect(server('memory')).toMatchObject({ limits: { rate_per_min: 120, timeout_s: 20 } });
  expect(server('notion')).toMatchObject({ fallback: [{ type: 'sse' }, { type: 'stdio' }] });
});
