import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJsonc } from './parse-jsonc.ts';
import { parseYaml } from './parse-yaml.ts';
import { lineAt, type ParsedSource, type SourceNode, toPlain } from './source-tree.ts';

function tree(parsed: ParsedSource): SourceNode {
  if (parsed.kind === 'broken') throw new Error(`${parsed.line}:${parsed.column} ${parsed.message}`);
  return parsed.root;
}

test('JSON means what JSON.parse makes of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(toPlain(tree(parseJsonc(text)))).toEqual(JSON.parse(text));
    }),
  );
});

test('what JSON.parse refuses is refused, comments and trailing commas aside', () => {
  const pieces = fc.array(
    fc.constantFrom('{', '}', '[', ']', ':', '"a"', '1', '-', '01', '.5', 'true', 'nul', '"\\x"', '\n'),
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      const text = parts.join('');
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      expect(parseJsonc(text).kind).toBe(valid ? 'tree' : 'broken');
    }),
    { numRuns: 2_000 },
  );
});

test('JSON with comments, trailing commas and lines', () => {
  const root = tree(
    parseJsonc('// first\n{\n  "a": [1, /* two\nlines */ 2,], // "b": 0\n  "http://x": "// no comment",\n}\n'),
  );
  expect(toPlain(root)).toEqual({ a: [1, 2], 'http://x': '// no comment' });
  expect([lineAt(root, ['a']), lineAt(root, ['a', 1]), lineAt(root, ['http://x'])]).toEqual([3, 4, 5]);
});

test.each([
  ['{"a": 1,, "b": 2}', 1, 9],
  ['{\n  "a": hunter2\n}', 2, 8],
  ['{\n  "a": "hunter2\n}', 2, 8],
  ['{"a": 1} x', 1, 10],
  ['{"a": 1 "b": 2}', 1, 9],
  ['/* hunter2', 1, 1],
  ["{'a': 1}", 1, 2],
  ['{"a": 1', 1, 8],
])('%s is broken at %i:%i, and the message quotes nothing', (text, line, column) => {
  const parsed = parseJsonc(text);
  expect(parsed).toMatchObject({ kind: 'broken', line, column });
  expect(JSON.stringify(parsed)).not.toContain('hunter2');
});

test('YAML with aliases keeps lines, and scalars keep their spelling', () => {
  const root = tree(parseYaml('a: &x\n  v: 1.0\nb: *x\nc:\n  - 007\n  - yes\n  - true\n1: one\n'));
  expect(toPlain(root)).toEqual({ a: { v: 1 }, b: { v: 1 }, c: [7, 'yes', true], 1: 'one' });
  expect([lineAt(root, ['b']), lineAt(root, ['c', 1])]).toEqual([3, 6]);
  const list = root.kind === 'map' ? root.index.get('c')?.value : undefined;
  expect(list?.kind === 'list' && list.items.map((item) => item.kind === 'scalar' && item.text)).toEqual([
    '007',
    'yes',
    'true',
  ]);
});

test.each([
  'a: "hunter2',
  'a: [hunter2',
  'a: b: hunter2',
  'a: *hunter2',
  'a: |hunter2\n',
  'a: "\\qhunter2"',
  '%hunter2\n---\na: !<hunter2 x\n}',
  '? [hunter2]\n: 1',
])('broken YAML is not quoted: %s', (text) => {
  const parsed = parseYaml(text);
  expect(parsed.kind).toBe('broken');
  expect(JSON.stringify(parsed)).not.toContain('hunter2');
});

test('no text makes a parser throw', () => {
  const pieces = fc.array(
    fc.constantFrom('a', ': ', '- ', '? ', '\n', '  ', '{', '}', '[', ']', '&a ', '*a', '"', '!t ', '#', '|', '---\n'),
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      expect(['tree', 'broken']).toContain(parseYaml(parts.join('')).kind);
      expect(['tree', 'broken']).toContain(parseJsonc(parts.join('')).kind);
    }),
    { numRuns: 1_000 },
  );
});
