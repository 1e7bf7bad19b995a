import { expect, test } from 'vitest';
import { setTomlFlag } from './set-toml-flag.ts';

const text =
  '# mine\n[mcp_servers.a]\ncommand = "x" # y\n\n[mcp_servers.b]\nenabled  =  true # for now\ncommand = "z"\n';

test('a key is set in its own table, and added under the header where it is missing', () => {
  expect(setTomlFlag(text, 2, 'enabled', false)).toEqual({
    kind: 'edited',
    text: text.replace('servers.a]\n', 'servers.a]\nenabled = false\n'),
  });
  expect(setTomlFlag(text, 5, 'enabled', false)).toEqual({
    kind: 'edited',
    text: text.replace('enabled  =  true # for now', 'enabled  =  false # for now'),
  });
});

test('lines end as the file ends them', () => {
  expect(setTomlFlag('[a]\r\nb = 1\r\n', 1, 'enabled', true)).toEqual({
    kind: 'edited',
    text: '[a]\r\nenabled = true\r\nb = 1\r\n',
  });
});

test('what is no header of a table is left alone', () => {
  expect(setTomlFlag(text, 3, 'enabled', false)).toEqual({ kind: 'unsupported' });
  expect(setTomlFlag('[[list]]\n', 1, 'enabled', false)).toEqual({ kind: 'unsupported' });
});
