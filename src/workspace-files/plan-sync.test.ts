// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { emitServer, emittedFrom, isEmitted } from './emit-server.ts';
import { planSync } from './plan-sync.ts';

const notes =
  'id: notes\nversion: "2"\ntransport:\n  type: http\n  url: https://${HOST}/mcp\npermissions:\n  scope: ["read:a"]\n  odd: 1\n';

function emitted(text: string, file = 'ops/adk/servers/notes.yaml'): string {
  const made = emitServer({ file, text });
  if (made.kind !== 'server') throw new Error(JSON.stringify(made));
  return made.text;
}

test('every key of the shape is there, sorted, with variables as they were written', () => {
  const text = emitted(notes);
  expect(JSON.parse(text)).toEqual({
    description: null,
    fallback: [],
    id: 'notes',
    limits: {},
    metadata: {
      registry_source: 'ops/adk/servers',
      source: 'ops/adk/servers/notes.yaml',
      source_digest: createHash('sha256').update(notes).digest('hex'),
      tags: [],
      title: 'notes',
    },
    notes: null,
    options: {},
    permissions: { extra: { odd: 1 }, scope: ['read:a'], tools: {} },
    scopes: ['read:a'],
    server_id: 'notes',
    transport: { args: [], command: null, env: {}, headers: {}, type: 'http', url: 'https://${HOST}/mcp' },
    type: 'mcp',
    version: '2',
  });
  const keys = Object.keys(JSON.parse(text));
  expect(keys).toEqual(keys.toSorted());
  expect(emitted(notes)).toBe(text);
});

test('the flat form of the first files becomes the same shape', () => {
  const flat =
    'server_id: files\ntype: mcp\ncommand: npx\nargs: [-y, 8080, 007, yes]\nenv: {A: 1}\nscopes: ["read:files"]\nlimits: {rate_per_min: 60}\n';
  expect(JSON.parse(emitted(flat))).toMatchObject({
    id: 'files',
    type: 'mcp',
    scopes: ['read:files'],
    permissions: { scope: ['read:files'] },
    limits: { rate_per_min: 60 },
    transport: { type: 'stdio', command: 'npx', args: ['-y', '8080', '007', 'yes'], env: { A: '1' } },
  });
});

test('the plan tells what is missing, stale, unchanged, orphaned, and what is not ours', () => {
  const sources = ['a', 'b', 'c'].map((id) => ({
    file: `ops/adk/servers/${id}.yaml`,
    text: `id: ${id}\ncommand: x\n`,
  }));
  const made = (id: string): string => emitted(`id: ${id}\ncommand: x\n`, `ops/adk/servers/${id}.yaml`);
  const plan = planSync(
    [...sources, { file: 'ops/adk/servers/pg.yaml', text: 'id: pg\ntype: postgres\n' }],
    [
      { file: '.mcp/servers/b.json', text: made('b').replace('"x"', '"y"') },
      { file: '.mcp/servers/c.json', text: made('c') },
      { file: '.mcp/servers/gone.json', text: made('gone') },
      { file: '.mcp/servers/theirs.json', text: '{"id":"theirs","command":"x"}' },
    ],
  );
  expect(plan.files.map(({ file, state }) => [file, state])).toEqual([
    ['.mcp/servers/a.json', 'missing'],
    ['.mcp/servers/b.json', 'stale'],
    ['.mcp/servers/c.json', 'unchanged'],
  ]);
  expect(plan.orphans).toEqual(['.mcp/servers/gone.json']);
  expect(plan.skipped).toEqual([{ file: 'ops/adk/servers/pg.yaml', type: 'postgres' }]);
  expect(plan.obstacles).toEqual([]);
});

test.each([
  ['id: [', /cannot be parsed/],
  ['- a', /must contain a map/],
  ['id: ../up\ncommand: x', /no usable "id"/],
  ['command: x', /no usable "id"/],
  ['id: a', /no "transport"/],
])('%j stands in the way', (text, says) => {
  const { obstacles, files } = planSync([{ file: 'ops/adk/servers/a.yaml', text }], []);
  expect(obstacles[0]?.message).toMatch(says);
  expect(files).toEqual([]);
});

test('a file that somebody wrote, and a second source of the same id, stand in the way', () => {
  const source = { file: 'ops/adk/servers/a.yaml', text: 'id: a\ncommand: x\n' };
  const own = planSync([source], [{ file: '.mcp/servers/a.yaml', text: 'id: a\ncommand: y\n' }]);
  expect(own.obstacles[0]).toMatchObject({ file: '.mcp/servers/a.yaml' });
  const twice = planSync([source, { ...source, file: 'ops/adk/servers/b.yaml' }], []);
  expect(twice.obstacles[0]?.message).toBe('ops/adk/servers/b.yaml and ops/adk/servers/a.yaml have the same id "a".');
});

test('a file made by sync names its source, and a path elsewhere is not believed', () => {
  expect(emittedFrom(emitted(notes))).toBe('ops/adk/servers/notes.yaml');
  expect(emittedFrom(emitted(notes, '../../etc/passwd'))).toBeUndefined();
  expect(isEmitted('{"metadata":{}}')).toBe(false);
  expect(isEmitted('not json')).toBe(false);
});
