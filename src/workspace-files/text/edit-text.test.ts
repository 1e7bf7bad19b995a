// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { appendItem, type Edited, putMember, setFlag } from './edit-text.ts';
import type { Dialect } from './text-tree.ts';

const server = { command: 'npx', args: ['-y', 'pkg', '.'] };

function textOf(edited: Edited): string {
  if (edited.kind === 'unsupported') throw new Error('the edit is not supported');
  return edited.text;
}

const add = (text: string, dialect: Dialect = 'yaml'): string =>
  textOf(putMember(text, dialect, ['servers', 'new'], server));

test('an empty file gets the section', () => {
  expect(add('')).toBe('servers:\n  new:\n    command: npx\n    args: [-y, pkg, .]\n');
  expect(add('# a note\n')).toBe('# a note\n\nservers:\n  new:\n    command: npx\n    args: [-y, pkg, .]\n');
});

test('a block keeps its comments, its order, its odd spaces and its quotes', () => {
  const before = [
    '# top',
    'version:   1   # one',
    'servers:',
    '    a:      # first',
    "        command:  'x'",
    '        args: [ "b" ,c ]',
    '    # about nothing',
    '',
    'agents: {lead: {servers: [a]}}',
    '',
  ];
  const after = add(before.join('\n')).split('\n');
  const added = ['    new:', '        command: npx', '        args: [-y, pkg, .]'];
  expect(after).toEqual([...before.slice(0, 6), ...added, ...before.slice(6)]);
});

test('where entries are apart, the new one is too', () => {
  const text = 'servers:\n  a:\n    url: https://a\n\n  b:\n    url: https://b\nagents: {}\n';
  expect(add(text)).toContain('    url: https://b\n\n  new:\n    command: npx\n    args: [-y, pkg, .]\nagents');
});

test.each([
  ['nothing behind the key', 'servers:\nagents:\n  a: {}\n'],
  ['a comment behind the key', 'servers:   # none yet\n  # really none\nagents:\n  a: {}\n'],
  ['an empty map', 'servers: {}\nagents:\n  a: {}\n'],
  ['an empty map with a comment', 'servers: {} # none\nagents:\n  a: {}\n'],
  ['no section', 'agents:\n  a: {}\n'],
  ['no newline at the end', 'agents:\n  a: {}'],
  [
    'a block of text at the end',
    'agents:\n  a: {}\nservers:\n  old:\n    command: x\n    description: |\n      one\n\n      two\n',
  ],
  ['a kept block of text', 'servers:\n  old:\n    command: x\n    description: |+\n      one\n\nagents:\n  a: {}\n'],
  ['an anchor and an alias', 'servers:\n  old: &o\n    command: x\n  other: *o\nagents:\n  a: {}\n'],
  ['a list without indent', 'servers:\n  old:\n    command: x\n    args:\n    - y  # why\nagents:\n  a: {}\n'],
  ['a flow map in one line', 'servers: {old: {command: x}}\nagents: {a: {}}\n'],
  ['a flow map over lines', 'servers: {\n  old: {command: x}, # the old one\n  }\nagents: {a: {}}\n'],
  ['JSON', '{"servers":{"old":{"command":"x"}},"agents":{"a":{}}}'],
  ['JSON over lines', '{\n  "servers": {\n    "old": { "command": "x" }\n  },\n  "agents": { "a": {} }\n}\n'],
  ['JSON without the section', '{\n  "agents": { "a": {} }\n}\n'],
  ['JSON with an empty section', '{\n  "servers": {},\n  "agents": { "a": {} }\n}\n'],
  ['JSON with null', '{\n  "servers": null,\n  "agents": { "a": {} }\n}\n'],
])('%s: the new server is there and everything else too', (_, text) => {
  const { servers: before, ...rest } = parse(text);
  const { servers: after, ...others } = parse(add(text));
  expect(after).toEqual({ ...before, new: server });
  expect(others).toEqual(rest);
  for (const comment of text.match(/# .*/g) ?? []) expect(add(text)).toContain(comment);
});

test('lines end as the file ends them', () => {
  const text = 'servers:\r\n  a:\r\n    command: x\r\n';
  const after = add(text);
  expect(after.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  expect(after.startsWith(text)).toBe(true);
  const json = add('{\r\n\t"servers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n', 'jsonc');
  expect(json.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  expect(json).toContain('\r\n\t\t"new": {\r\n\t\t\t"command": "npx",');
});

test('JSON keeps its comments and its comma before the end', () => {
  const text = '{\n  // who\n  "mcpServers": {\n    "a": { "url": "https://a//b" }, /* last */ // really\n  }\n}\n';
  const after = textOf(setFlag(text, 'jsonc', ['mcpServers', 'a', 'disabled'], true));
  expect(after).toBe(text.replace('"https://a//b" }', '"https://a//b", "disabled": true }'));
  const more = textOf(putMember(text, 'jsonc', ['mcpServers', 'b'], true));
  expect(more).toBe(text.replace('// really\n', '// really\n    "b": true,\n'));
});

test('a flag is set where it stands, and added where it does not', () => {
  const flag = (text: string, on: boolean): string => textOf(setFlag(text, 'yaml', ['servers', 'a', 'enabled'], on));
  expect(flag('servers:\n  a:\n    enabled:  false  # for now\n    command: x\n', true)).toBe(
    'servers:\n  a:\n    enabled:  true  # for now\n    command: x\n',
  );
  expect(flag('servers:\n  a:\n    command: x # y\n  b: {}\n', false)).toBe(
    'servers:\n  a:\n    command: x # y\n    enabled: false\n  b: {}\n',
  );
  expect(flag('servers:\n  a: {command: x}\n', false)).toBe('servers:\n  a: {command: x, enabled: false}\n');
  expect(flag('servers:\n  a:\n    enabled:\n    command: x\n', false)).toContain('    enabled: false\n    command');
});

test('an item is added the way its list is written', () => {
  const append = (text: string, dialect: Dialect = 'yaml'): string => textOf(appendItem(text, dialect, ['l'], 'new'));
  expect(append('l: [a, b]  # who\nm: 1\n')).toBe('l: [a, b, new]  # who\nm: 1\n');
  expect(append('l: []\n')).toBe('l: [new]\n');
  expect(append('l: ["a"]\n')).toBe('l: ["a", "new"]\n');
  expect(append('l: [\n  a,\n  b\n]\n')).toBe('l: [\n  a,\n  b,\n  new\n]\n');
  expect(append('l:\n- a\n- b # second\nm: 1\n')).toBe('l:\n- a\n- b # second\n- new\nm: 1\n');
  expect(append('l:\n    - a\n')).toBe('l:\n    - a\n    - new\n');
  expect(append('{ "l": ["a"] }', 'jsonc')).toBe('{ "l": ["a", "new"] }');
});

test.each([
  ['a list where the map belongs', 'servers: [a]\n'],
  ['text where the map belongs', 'servers: yes please\n'],
  ['no YAML', 'servers: {'],
])('%s: not supported', (_, text) => {
  expect(putMember(text, 'yaml', ['servers', 'new'], server)).toEqual({ kind: 'unsupported' });
});

test('values are quoted where necessary', () => {
  const odd = { command: 'a: b', args: ['${A:+x}', '- y', '', 'true', '1'], env: { X: '# no', Y: 'a\nb' } };
  const text = textOf(putMember('servers:\n  a: {}\n', 'yaml', ['servers', 'n'], odd));
  expect(parse(text).servers.n).toEqual(odd);
});
