import { expect, test } from 'vitest';
import { splitsOfToolName, splitToolName } from './tool-name.ts';

const servers = new Set(['acme', 'acme.eu', 'files']);

test.each([
  ['files.read_file', { server: 'files', tool: 'read_file' }],
  ['files.read.raw', { server: 'files', tool: 'read.raw' }],
  ['acme.eu.list', { server: 'acme.eu', tool: 'list' }],
  ['acme.us.list', { server: 'acme', tool: 'us.list' }],
  ['acme.eu', { server: 'acme', tool: 'eu' }],
])('%s', (text, expected) => {
  expect(splitToolName(text, servers)).toEqual(expected);
});

test('a name with dots can mean tools of several servers', () => {
  expect(splitsOfToolName('acme.eu.list', servers)).toEqual([
    { server: 'acme.eu', tool: 'list' },
    { server: 'acme', tool: 'eu.list' },
  ]);
  expect(splitsOfToolName('acme.us.list', servers)).toEqual([{ server: 'acme', tool: 'us.list' }]);
});

test.each(['', '.', 'files', 'files.', '.files', 'nobody.read', '..'])('"%s" names no tool', (text) => {
  expect(splitToolName(text, servers)).toBeUndefined();
});
