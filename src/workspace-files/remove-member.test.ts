import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { blankComments } from './blank-comments.ts';
import { removeMember } from './remove-member.ts';
import { removeTomlTable } from './remove-toml-table.ts';
import type { Dialect } from './text-tree.ts';

const lines = (...all: string[]): string => `${all.join('\n')}\n`;

test.each<[what: string, dialect: Dialect, before: string, after: string | undefined]>([
  [
    'a block, with comments around it',
    'yaml',
    lines(
      '# ours',
      'servers: # all',
      '  # about a',
      '  a:',
      '    command: node # inside',
      '  # about b',
      '  b: {url: x}',
    ),
    lines('# ours', 'servers: # all', '  # about a', '  # about b', '  b: {url: x}'),
  ],
  [
    'the last one in a block',
    'yaml',
    lines('servers:', '  b: 1', '', '  a:', '    env:', '      - x', '# end'),
    lines('servers:', '  b: 1', '', '# end'),
  ],
  [
    'one between empty lines',
    'yaml',
    lines('servers:', '  b: 1', '', '  a:', '    x: 1', '', '  c: 2'),
    lines('servers:', '  b: 1', '', '  c: 2'),
  ],
  [
    'the only one, whose section stays',
    'yaml',
    lines('servers: # all', '  a:', '    x: |', '      text', 'agents: {}'),
    lines('servers: {} # all', 'agents: {}'),
  ],
  ['the last line without an end', 'yaml', 'servers:\n  b: 1\n  a: 2', 'servers:\n  b: 1\n'],
  ['an empty value', 'yaml', lines('servers:', '  a:', '  b: 1'), lines('servers:', '  b: 1')],
  ['carriage returns', 'yaml', 'servers:\r\n  a:\r\n    x: 1\r\n  b: 2\r\n', 'servers:\r\n  b: 2\r\n'],
  ['one line of YAML', 'yaml', 'servers: {a: {x: 1}, b: 2} # c\n', 'servers: {b: 2} # c\n'],
  ['the last of one line', 'yaml', 'servers: {b: 2, a: {x: 1}}\n', 'servers: {b: 2}\n'],
  ['the only one of one line', 'yaml', 'servers: { a: 1 }\n', 'servers: {}\n'],
  [
    'JSON with comments',
    'jsonc',
    lines('{', '  "servers": {', '    // about a', '    "a": { "x": 1 }, // why', '    "b": 2 // b', '  }', '}'),
    lines('{', '  "servers": {', '    // about a', '    "b": 2 // b', '  }', '}'),
  ],
  [
    'the last of JSON',
    'jsonc',
    lines('{ "servers": {', '    "b": 2, // b', '    "a": {', '      "x": 1', '    }', '} }'),
    lines('{ "servers": {', '    "b": 2 // b', '} }'),
  ],
  [
    'the last of JSON, after a comma that ends the list',
    'jsonc',
    lines('{ "servers": {', '    "b": 2,', '    "a": 1,', '} }'),
    lines('{ "servers": {', '    "b": 2,', '} }'),
  ],
  ['the only one of JSON', 'jsonc', lines('{ "servers": {', '  "a": 1', '} }'), lines('{ "servers": {} }')],
  ['an anchor that is used elsewhere', 'yaml', lines('servers:', '  a: &x {y: 1}', '  b: *x'), undefined],
  ['the same name twice', 'yaml', lines('servers:', '  a: 1', '  a: 2'), undefined],
  ['what is not there', 'yaml', lines('servers:', '  b: 1'), undefined],
  ['a text that cannot be parsed', 'yaml', 'servers: {', undefined],
])('removes %s', (_what, dialect, before, after) => {
  const edited = removeMember(before, dialect, ['servers', 'a']);
  expect(edited).toEqual(after === undefined ? { kind: 'unsupported' } : { kind: 'edited', text: after });
});

const name = fc.stringMatching(/^[a-z]{1,4}$/);
const value = fc.oneof(
  fc.integer(),
  fc.constantFrom('x', 'a: b # c', 'two\nlines\n'),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.dictionary(name, fc.oneof(fc.integer(), fc.constant('p\nq')), { maxKeys: 3 }),
);
const content = fc.record({ servers: fc.dictionary(name, value, { minKeys: 1, maxKeys: 5 }), more: value });

test('whatever the file says, it says the same without the member', () => {
  fc.assert(
    fc.property(content, fc.boolean(), fc.boolean(), fc.nat(), (whole, flow, json, pick) => {
      const names = Object.keys(whole.servers);
      const gone = names[pick % names.length] ?? '';
      const text = json
        ? JSON.stringify(whole, undefined, flow ? 0 : 2).replaceAll(/,$/gm, ', // note')
        : stringify(whole, { collectionStyle: flow ? 'flow' : 'any', lineWidth: 0 });
      const edited = removeMember(text, json ? 'jsonc' : 'yaml', ['servers', gone]);
      if (edited.kind !== 'edited') throw new Error(`not edited: ${text}`);
      const rest = Object.fromEntries(Object.entries(whole.servers).filter(([each]) => each !== gone));
      expect(parse(blankComments(edited.text)) ?? {}).toEqual({ ...whole, servers: rest });
    }),
    { numRuns: 500 },
  );
});

test.each([
  [
    'a table with its sub-tables',
    lines(
      'model = "x"',
      '',
      '[mcp_servers.a]',
      'command = "n"',
      '[mcp_servers.a.env]',
      'B = "1"',
      '',
      '# about c',
      '[c]',
    ),
    lines('model = "x"', '', '# about c', '[c]'),
  ],
  ['the last table', lines('[b]', 'x = 1', '', '[mcp_servers.a]', 'y = 2'), '[b]\nx = 1\n'],
])('removes from TOML %s', (_what, before, after) => {
  const at = before.split('\n').findIndex((line) => line.startsWith('[mcp_servers.a]')) + 1;
  expect(removeTomlTable(before, at)).toEqual({ kind: 'edited', text: after });
});

test('a line of TOML without a header is not removed', () => {
  expect(removeTomlTable('a = 1\n[[b]]\n', 1)).toEqual({ kind: 'unsupported' });
  expect(removeTomlTable('a = 1\n[[b]]\n', 2)).toEqual({ kind: 'unsupported' });
});
