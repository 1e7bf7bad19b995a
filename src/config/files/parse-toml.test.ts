import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import { parseToml } from './parse-toml.ts';
import { lineAt, type ParsedSource, type SourceNode, toPlain } from './source-tree.ts';

function tree(parsed: ParsedSource): SourceNode {
  if (parsed.kind === 'broken') throw new Error(`${parsed.line}:${parsed.column} ${parsed.message}`);
  return parsed.root;
}

const sample = `# a comment with [brackets] and "quotes"
title = "one"   # [not.a.table]
dotted.key = 1.0

[servers.a]
args = [
  "x", # first
  'y]',

  """three
lines""",
]
env = { A = "1", B.C = true,
}
when = 1979-05-27 07:32:00

[servers.a.inner] # after
"quoted.key \\u00e9" = 0x10
'bare=' = '''
[servers.fake]
'''
last = """ends in quotes"""""

[[list]]
n = 9007199254740993
[[list]]
n = 2
  [list.sub]
  deep = [[1], [
    2]]

[servers]
late = true
`;

test('tables, dotted keys, lists and texts over several lines keep their lines', () => {
  const root = tree(parseToml(sample));
  const lines = (...path: readonly PropertyKey[]): number => lineAt(root, path);
  expect(lines('title')).toBe(2);
  expect(lines('dotted', 'key')).toBe(3);
  expect(lines('servers', 'a')).toBe(5);
  expect([0, 1, 2].map((index) => lines('servers', 'a', 'args', index))).toEqual([7, 8, 10]);
  expect(lines('servers', 'a', 'env', 'B', 'C')).toBe(13);
  expect(lines('servers', 'a', 'when')).toBe(15);
  expect(lines('servers', 'a', 'inner')).toBe(17);
  expect(lines('servers', 'a', 'inner', 'quoted.key é')).toBe(18);
  expect(lines('servers', 'a', 'inner', 'last')).toBe(22);
  expect([lines('list', 0, 'n'), lines('list', 1, 'n'), lines('list', 1, 'sub', 'deep', 1, 0)]).toEqual([25, 27, 30]);
  expect([lines('servers'), lines('servers', 'late')]).toEqual([32, 33]);
});

test('values are those of the library; what JavaScript cannot hold is the text that was written', () => {
  const root = tree(parseToml(sample));
  expect(toPlain(root)).toMatchObject({
    dotted: { key: 1 },
    servers: {
      a: {
        args: ['x', 'y]', 'three\nlines'],
        env: { A: '1', B: { C: true } },
        when: '1979-05-27 07:32:00',
        inner: { 'quoted.key é': 16, 'bare=': '[servers.fake]\n', last: 'ends in quotes""' },
      },
    },
    list: [{ n: '9007199254740993' }, { n: 2, sub: { deep: [[1], [2]] } }],
  });
  const dotted = root.kind === 'map' ? root.index.get('dotted')?.value : undefined;
  expect(dotted?.kind === 'map' && dotted.index.get('key')?.value).toMatchObject({ value: 1, text: '1.0' });
});

const key = fc.oneof(fc.stringMatching(/^[a-z_-]{1,6}$/), fc.string({ minLength: 1, maxLength: 6 }));
const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const { table } = fc.letrec<{ value: unknown; table: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(leaf, { maxLength: 4 }), tie('table')),
  table: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
}));

test('whatever is written as TOML comes back with every key, in lines that grow', () => {
  fc.assert(
    fc.property(table, (value) => {
      const text = stringify(value);
      const root = tree(parseToml(text));
      expect(toPlain(root)).toEqual(parse(text));
      if (root.kind !== 'map') throw new Error('the root must be a map');
      const written = text.split('\n').length;
      for (const { line } of root.entries) expect(line).toBeGreaterThan(0);
      for (const { line } of root.entries) expect(line).toBeLessThanOrEqual(written);
    }),
  );
});

test.each([
  ['a = hunter2', 1, 5, 'not valid TOML'],
  ['\na = "hunter2', 2, 5, 'not closed'],
  ['a = 1\na = "hunter2"', 2, 1, 'defined twice'],
  ['[a]\n[a]', 2, 2, 'defined twice'],
  ['a = [1 "hunter2"]', 1, 8, 'expected here'],
  ['a = 1 b = "hunter2"', 1, 7, 'follows the end'],
  ['hunter2', 1, 1, '"="'],
  [`a = ${'['.repeat(200)}`, 1, 69, 'nested'],
])('%s is broken at %i:%i, and the message quotes nothing', (text, line, column, said) => {
  const parsed = parseToml(text);
  expect(parsed).toMatchObject({ kind: 'broken', line, column });
  expect(parsed.kind === 'broken' && parsed.message).toContain(said);
  expect(JSON.stringify(parsed)).not.toContain('hunter2');
});

test('depth by dotted names and sheer number end in a message', () => {
  expect(parseToml(`x = 1\n[${Array.from({ length: 100 }, () => 'a').join('.')}]`)).toMatchObject({
    kind: 'broken',
    line: 2,
    message: 'nested more than 64 levels',
  });
  expect(parseToml(`a = [${'1,'.repeat(60_000)}]`)).toMatchObject({ kind: 'broken', line: 1 });
});

test('no text makes the parser throw', () => {
  const pieces = fc.array(
    fc.constantFrom(
      'a',
      '=',
      '.',
      '[',
      ']',
      '[[',
      ']]',
      '{',
      '}',
      ',',
      '"',
      "'",
      '"""',
      '\\',
      '1',
      '\n',
      '#',
      ' ',
      '-',
    ),
  );
  fc.assert(
    fc.property(fc.oneof(pieces, fc.array(fc.string())), (parts) => {
      expect(['tree', 'broken']).toContain(parseToml(parts.join('')).kind);
    }),
    { numRuns: 2_000 },
  );
});

test('keys that are special to JavaScript are keys', () => {
  const root = tree(parseToml('__proto__ = 1\nconstructor.x = 2\n10 = "b"\n2 = "a"'));
  expect(root.kind === 'map' && root.entries.map((entry) => entry.key)).toEqual([
    '__proto__',
    'constructor',
    '10',
    '2',
  ]);
});
