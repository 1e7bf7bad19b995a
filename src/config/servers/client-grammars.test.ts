// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SourceText } from '../files/source-file.ts';
import { type Expansion, expand, type Grammar, type Lookup } from '../variables/interpolation.ts';
import { createEditorGrammar, createLenientGrammar, createOpencodeGrammar, filesNamedIn } from './client-grammars.ts';

const values: Record<string, string> = {
  SET: 'yes',
  HOME: '/home/me',
  workspaceFolder: '/srv/work',
  workspaceFolderBasename: 'work',
  API_KEY: 'of-the-environment',
};
const lookup: Lookup = (name, from) => {
  if (from === 'store') return name === 'api-key' ? 'key-of-input' : undefined;
  return Object.hasOwn(values, name) ? values[name] : undefined;
};

function fill(grammar: Grammar, text: string): Expansion {
  const parsed = grammar(text);
  if (parsed.kind === 'fault') throw new Error(parsed.message);
  return expand(parsed.parts, lookup);
}

const editor = createEditorGrammar(new Map([['region', 'eu-1']]));
const files = new Map<string, SourceText>([
  ['./key.txt', { kind: 'text', text: '  hunter2\n' }],
  ['../key.txt', { kind: 'unreadable', message: 'lies outside', fix: 'Put it inside.' }],
]);
const opencode = createOpencodeGrammar(files);

test.each([
  ['${env:SET}', 'yes'],
  ['a${env:SET}b${env:SET}', 'ayesbyes'],
  ['${workspaceFolder}/dist', '/srv/work/dist'],
  ['${workspaceFolderBasename}', 'work'],
  ['${userHome}${/}x${pathSeparator}y', '/home/me/x/y'],
  ['Bearer ${input:api-key}', 'Bearer key-of-input'],
  ['${input:region}', 'eu-1'],
  ['$SET $(SET) {env:SET} $', '$SET $(SET) {env:SET} $'],
  ['Bearer ${SET}', 'Bearer yes'],
  ['${NONE:-none} ${SET:-none} ${SET:+set} ${NONE:+set}', 'none yes set '],
])('an editor reads %s as %s', (text, expected) => {
  expect(fill(editor, text)).toMatchObject({ value: expected, missing: [] });
});

test('an input is a secret of that name, and never a variable', () => {
  expect(fill(editor, '${input:my.token-2} ${env:NONE}').missing).toEqual([
    { kind: 'required', name: 'my.token-2', from: 'store' },
    { kind: 'required', name: 'NONE' },
  ]);
});

test.each([
  ['${SET:-${SET}}', 'a "${…}" is not a variable', 'Write ${env:SET}.'],
  ['${SET%.*}', 'a "${…}" is not a variable', 'Write ${env:SET}.'],
  ['${relativeFile}', '"${relativeFile}" is known to the editor only', 'the value itself'],
  ['${config:a.b}', '"${config:a.b}" is known to the editor only', 'the value itself'],
  ['${command:pick}', 'editor only', 'the value itself'],
  ['${workspaceFolder:api}', 'editor only', 'the value itself'],
  ['${env:}', 'editor only', 'the value itself'],
  ['${}', 'is not a variable', 'Write ${env:NAME}.'],
  ['${hunter2 hunter2}', 'a "${…}" is not a variable', 'Write ${env:hunter2}.'],
  ['${env:SET', 'not closed', 'Close it'],
  ['${input:1st}', 'an id that no secret can have', 'letters, digits'],
  ['${input:a/b}', 'an id that no secret can have', 'letters, digits'],
])('an editor does not know %s', (text, said, fix) => {
  const parsed = editor(text);
  if (parsed.kind !== 'fault') throw new Error('a fault expected');
  expect(parsed.message).toContain(said);
  expect(parsed.fix).toContain(fix);
});

test('where a program expands its own variables, only the forms of the editor and ours are read', () => {
  const lenient = createLenientGrammar(new Map([['region', 'eu-1']]), (name) => name === 'SET');
  const shell = 'export PATH="${PATH:-}:/x"; for f in ${all[@]}; do echo ${f%.*} ${f';
  expect(fill(lenient, shell)).toMatchObject({ value: shell, missing: [], used: [] });
  expect(fill(lenient, '${SET} ${env:SET} ${input:region} ${workspaceFolder} ${OTHER}')).toMatchObject({
    value: 'yes yes eu-1 /srv/work ${OTHER}',
    missing: [],
  });
});

test.each([
  ['{env:SET}', 'yes'],
  ['Bearer {env:SET}', 'Bearer yes'],
  ['${SET} $SET {SET} {env:} {env: } {file:}', '${SET} $SET {SET} {env:} {env: } {file:}'],
  ['{"a":{"b":"{env:SET}"}}', '{"a":{"b":"yes"}}'],
])('OpenCode reads %s as %s', (text, expected) => {
  expect(fill(opencode, text)).toMatchObject({ value: expected, missing: [] });
});

test('a file that OpenCode names is put in without its last line break, and is a secret', () => {
  expect(filesNamedIn('x {file:./key.txt} {env:A} {file:b}')).toEqual(['./key.txt', 'b']);
  expect(fill(opencode, 'Bearer {file:./key.txt}')).toMatchObject({ value: 'Bearer hunter2', secrets: ['hunter2'] });
});

test.each([
  ['{file:../key.txt}', 'the file ../key.txt lies outside'],
  ['{file:none}', 'the file none does not exist'],
  ['{file:a b?c}', 'a file it names does not exist'],
])('a file that cannot be had is a fault: %s', (text, said) => {
  expect(opencode(text)).toMatchObject({ kind: 'fault', message: said });
});

const pieces = fc.array(
  fc.constantFrom('${', '}', '{', 'env:', 'input:', 'file:', 'SET', ':', '-', '$', ' ', '/', 'workspaceFolder'),
);

test('no text makes a grammar throw, and text without braces is unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(pieces, fc.array(fc.string())), (parts) => {
      const text = parts.join('');
      const plain = text.replaceAll('{', '');
      for (const grammar of [editor, opencode]) {
        expect(['template', 'fault']).toContain(grammar(text).kind);
        expect(fill(grammar, plain)).toMatchObject({ value: plain, used: [] });
      }
    }),
    { numRuns: 1_000 },
  );
});

test('long texts of open braces come to an end', () => {
  expect(editor('${env:'.repeat(200_000)).kind).toBe('fault');
  expect(opencode('{env:'.repeat(200_000)).kind).toBe('template');
  expect(opencode(`{env:${'a '.repeat(200_000)}`).kind).toBe('template');
});
