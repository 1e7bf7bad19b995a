import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { invalid, load, onlyProblem, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

test(
  verifies('config:client-files', 'OpenCode: local and remote, variables and files, and settings of its own'),
  async () => {
    const configuration = await loadClient(
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
      { others: { 'secret.txt': 'secret of a file\n' } },
    );
    expect(ready(configuration, 'local')).toMatchObject({
      transport: { command: 'node', args: ['a.js', 'fast'], env: { KEY: 'secret of a file', SCRIPT: 'a {b} c' } },
      limits: { timeoutMs: 7_000 },
    });
    expect(ready(configuration, 'remote').transport).toEqual({
      type: 'http',
      url: 'https://x.example/fast',
      headers: { 'X-Api-Key': 'key-of-opencode' },
    });
    expect(ready(configuration, 'off').enabled).toBe(false);
    expect([...configuration.servers.keys()]).toEqual(['local', 'remote', 'off']);
    expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', field: 'mcp.off.command.1' });
    expect(configuration.secrets).toEqual(expect.arrayContaining(['secret of a file', 'key-of-opencode']));
  },
);

test('the file with comments is stronger than the one without', async () => {
  const server = (name: string): string => `{"mcp":{"s":{"type":"local","command":["${name}"]}}}`;
  const configuration = await load({ 'opencode.json': server('weak'), 'opencode.jsonc': server('strong') });
  expect(ready(configuration, 's')).toMatchObject({
    transport: { command: 'strong' },
    hides: [{ file: 'opencode.json' }],
  });
});

test.each([
  ['{file:none.txt}', 'the file none.txt does not exist'],
  ['{file:~/key}', 'the file ~/key is outside the workspace'],
  ['{file:../key}', 'the file ../key is outside the workspace'],
  ['{env:NONE}', 'needs the variable NONE'],
])('%s makes the server invalid', async (text, said) => {
  const mcp = { s: { type: 'local', command: ['x'], environment: { A: text } } };
  const configuration = await loadClient('opencode.json', { mcp });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', field: 'mcp.s.environment.A' });
  expect(onlyProblem(configuration).message).toContain(said);
  expect(onlyProblem(configuration).fix).not.toContain(':-default');
  expect(invalid(configuration, 's').source.file).toBe('opencode.json');
});

test('what looks like a variable of another format is told once, and no secret is seen in it', async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: another format's variables are what this is about.
  const environment = { A_TOKEN: '$A_LONG_TOKEN', B_TOKEN: '${B_LONG_TOKEN}', C: 'costs $5' };
  const configuration = await loadClient('opencode.json', {
    mcp: { s: { type: 'local', command: ['x'], environment } },
  });
  expect(ready(configuration, 's').transport).toMatchObject({ env: environment });
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'warning',
    field: 'mcp.s.environment.A_TOKEN',
    message: expect.stringContaining('"environment.A_TOKEN" and 1 more look like variables'),
    fix: 'Write {env:A_LONG_TOKEN}.',
  });
});

test('the word of other clients for the environment is told', async () => {
  const configuration = await loadClient('opencode.json', {
    mcp: { s: { type: 'local', command: ['x'], env: { A: '1' } } },
  });
  expect(ready(configuration, 's').transport).toMatchObject({ env: {} });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', fix: 'Rename it to "environment".' });
});

test('a rule with ? never gives more than was written', async () => {
  const configuration = await loadClient('opencode.json', {
    mcp: { f: { type: 'local', command: ['x'] } },
    permission: { 'f_*': 'deny', 'f_r?': 'ask', 'f_w?': 'allow' },
  });
  const rules = ready(configuration, 'f').restrictedBy[0]?.rules?.rules ?? [];
  expect(rules.map(({ pattern, effect }) => [pattern, effect])).toEqual([
    ['f_*', 'deny'],
    ['f_r*', 'deny'],
  ]);
});
