import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { invalid, load, onlyProblem, ready } from '../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

test(
  verifies('config:client-files', 'OpenCode: local and remote, variables and files, and settings of its own'),
  async () => {
    const fleet = await loadClient(
      'opencode.jsonc',
      `{
  "$schema": "x", "agent": { "mcp": { "command": "x" } }, // much else
  "mcp": {
    "local": {
      "type": "local", "command": ["node", "a.js", "{env:MODE}"], "enabled": true, "timeout": 7000,
      "environment": { "KEY": "{file:./secret.txt}", "SCRIPT": "a {b} c" },
    },
    "remote": {
      "type": "remote", "url": "https://x.example/{env:MODE}", "oauth": false,
      "headers": { "X-Api-Key": "{env:KEY}" },
    },
    "off": { "type": "local", "command": ["x", "{env:NONE}"], "enabled": false },
    "of-the-user": { "enabled": false },
  },
}`,
      { MODE: 'fast', KEY: 'key-of-opencode' },
      { 'secret.txt': 'secret of a file\n' },
    );
    expect(ready(fleet, 'local')).toMatchObject({
      transport: { command: 'node', args: ['a.js', 'fast'], env: { KEY: 'secret of a file', SCRIPT: 'a {b} c' } },
      limits: { timeoutMs: 7_000 },
    });
    expect(ready(fleet, 'remote').transport).toEqual({
      type: 'http',
      url: 'https://x.example/fast',
      headers: { 'X-Api-Key': 'key-of-opencode' },
    });
    expect(ready(fleet, 'off').enabled).toBe(false);
    expect([...fleet.servers.keys()]).toEqual(['local', 'remote', 'off']);
    expect(onlyProblem(fleet)).toMatchObject({ severity: 'warning', field: 'mcp.off.command.1' });
    expect(fleet.secrets).toEqual(expect.arrayContaining(['secret of a file', 'key-of-opencode']));
  },
);

test('the file with comments is stronger than the one without', async () => {
  const server = (name: string): string => `{"mcp":{"s":{"type":"local","command":["${name}"]}}}`;
  const fleet = await load({ 'opencode.json': server('weak'), 'opencode.jsonc': server('strong') });
  expect(ready(fleet, 's')).toMatchObject({ transport: { command: 'strong' }, hides: [{ file: 'opencode.json' }] });
});

test.each([
  ['{file:none.txt}', 'the file none.txt does not exist'],
  ['{file:~/key}', 'the file ~/key lies outside the workspace'],
  ['{file:../key}', 'the file ../key lies outside the workspace'],
  ['{env:NONE}', 'needs the variable NONE'],
])('%s makes the server invalid', async (text, said) => {
  const mcp = { s: { type: 'local', command: ['x'], environment: { A: text } } };
  const fleet = await loadClient('opencode.json', { mcp });
  expect(onlyProblem(fleet)).toMatchObject({ severity: 'error', field: 'mcp.s.environment.A' });
  expect(onlyProblem(fleet).message).toContain(said);
  expect(onlyProblem(fleet).fix).not.toContain(':-default');
  expect(invalid(fleet, 's').source.file).toBe('opencode.json');
});

test('what looks like a variable of another format is told once, and no secret is seen in it', async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: another format's variables are what this is about.
  const environment = { A_TOKEN: '$A_LONG_TOKEN', B_TOKEN: '${B_LONG_TOKEN}', C: 'costs $5' };
  const fleet = await loadClient('opencode.json', { mcp: { s: { type: 'local', command: ['x'], environment } } });
  expect(ready(fleet, 's').transport).toMatchObject({ env: environment });
  expect(onlyProblem(fleet)).toMatchObject({
    severity: 'warning',
    field: 'mcp.s.environment.A_TOKEN',
    message: expect.stringContaining('"environment.A_TOKEN" and 1 more look like variables'),
    fix: 'Write {env:NAME}.',
  });
});

test('the word of other clients for the environment is told', async () => {
  const fleet = await loadClient('opencode.json', { mcp: { s: { type: 'local', command: ['x'], env: { A: '1' } } } });
  expect(ready(fleet, 's').transport).toMatchObject({ env: {} });
  expect(onlyProblem(fleet)).toMatchObject({ severity: 'warning', fix: 'Rename it to "environment".' });
});
