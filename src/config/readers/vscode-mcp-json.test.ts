// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Fleet } from '../../domain/index.ts';
import { loadFleet } from '../load-fleet.ts';
import { createWorkspace, invalid, onlyProblem, ready } from '../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

const vscode = (
  content: unknown,
  env?: Readonly<Record<string, string>>,
  others?: Readonly<Record<string, string>>,
): Promise<Fleet> => loadClient('.vscode/mcp.json', content, env, others);

test(verifies('config:client-files', 'VS Code: servers of every type, with its own variables'), async () => {
  const fleet = await vscode(
    `{
  // asked by the editor
  "inputs": [
    { "id": "api-key", "type": "promptString", "password": true },
    { "id": "region", "type": "pickString", "options": ["eu", "us"], "default": "eu" },
  ],
  "servers": {
    "tool": {
      "type": "stdio", "command": "node", "args": ["\${workspaceFolder}/a.js", "\${env:MODE}"],
      "env": { "HOME_OF": "\${userHome}", "GONE": null, "PORT": 8080 },
      "dev": { "watch": "src/**" }, "gallery": "https://example.com", "version": "1.0",
    },
    "remote": {
      "type": "http", "url": "https://\${input:region}.example.com/mcp",
      "headers": { "Authorization": "Bearer \${input:api-key}" },
    },
    "old": { "type": "sse", "url": "https://example.com/sse" },
    "plain": { "url": "https://example.com/mcp" },
  },
}`,
    { MODE: 'fast', HOME: '/home/me', API_KEY: 'key-of-api' },
  );
  expect(fleet.problems).toEqual([]);
  expect(ready(fleet, 'tool').transport).toEqual({
    type: 'stdio',
    command: 'node',
    args: [`${fleet.workspace}/a.js`, 'fast'],
    env: { HOME_OF: '/home/me', PORT: '8080' },
    cwd: fleet.workspace,
  });
  expect(ready(fleet, 'remote').transport).toEqual({
    type: 'http',
    url: 'https://eu.example.com/mcp',
    headers: { Authorization: 'Bearer key-of-api' },
  });
  expect([ready(fleet, 'old').transport.type, ready(fleet, 'plain').transport.type]).toEqual(['sse', 'http']);
  expect(fleet.secrets).toContain('key-of-api');
});

test(verifies('variables:missing', 'an input names the variable to set and says why'), async () => {
  const fleet = await vscode({
    inputs: [{ id: 'my-token', type: 'promptString' }],
    servers: { s: { command: 'x', env: { T: '${input:my-token}' } } },
  });
  expect(onlyProblem(fleet)).toMatchObject({
    severity: 'error',
    server: 's',
    field: 'servers.s.env.T',
    message: 'Server "s": "env.T" needs the variable MY_TOKEN, which is not set.',
    fix: expect.stringMatching(/^Set MY_TOKEN .*\. The editor asks a person for it; the hub cannot\.$/),
  });
  expect(invalid(fleet, 's').source).toEqual({ file: '.vscode/mcp.json', line: 9 });
});

test("a variable in another client's form is an error, not a text that goes out as it is", async () => {
  const fleet = await vscode({ servers: { s: { url: 'https://x.example', headers: { A: 'Bearer ${TOKEN}' } } } });
  expect(onlyProblem(fleet)).toMatchObject({ severity: 'error', fix: 'Write ${env:TOKEN}.' });
});

test('a secret in the file is answered with the form that the file understands', async () => {
  const secret = 'aB3'.repeat(8);
  const fleet = await vscode({ servers: { s: { command: 'x', env: { API_TOKEN: secret } } } });
  expect(onlyProblem(fleet).fix).toContain('Write ${env:API_TOKEN} in its place');
  expect(JSON.stringify(fleet.problems)).not.toContain(secret);
});

test('servers under the key of other clients are not read, and that is told', async () => {
  const fleet = await vscode({ mcpServers: { a: { command: 'x' } }, servers: { b: { command: 'y' } } });
  expect([...fleet.servers.keys()]).toEqual(['b']);
  expect(onlyProblem(fleet)).toMatchObject({
    severity: 'warning',
    field: 'mcpServers',
    fix: 'Move them into "servers".',
  });
});

test('a server is not started without the sandbox that it is to have', async () => {
  const fleet = await vscode({ servers: { s: { command: 'x', sandboxEnabled: true, sandbox: { network: {} } } } });
  expect(onlyProblem(fleet)).toMatchObject({ severity: 'error', field: 'servers.s.sandboxEnabled' });
});

test.each([
  ['[]', 'must hold an object with "servers"'],
  ['{"servers": []}', '"servers" must be an object'],
  ['{"servers":{},\n"servers":{}}', 'is written twice, in line 1 and in line 2'],
])('%s is refused as a whole', async (text, said) => {
  const fleet = await vscode(text);
  expect(fleet.servers.size).toBe(0);
  expect(onlyProblem(fleet)).toMatchObject({ severity: 'error', message: expect.stringContaining(said) });
  expect(onlyProblem(fleet).fix).toBeDefined();
});

const envFile = (path: string): unknown => ({ servers: { s: { command: 'x', envFile: path, env: { A: 'own' } } } });

test.each(['.env.mcp', './.env.mcp', '${workspaceFolder}/.env.mcp'])('the environment comes from %s', async (path) => {
  const fleet = await vscode(envFile(path), {}, { '.env.mcp': 'A=file\nexport TOKEN="value of token"\n' });
  expect(fleet.problems).toEqual([]);
  expect(ready(fleet, 's').transport).toMatchObject({ env: { A: 'own', TOKEN: 'value of token' } });
  expect(fleet.secrets).toContain('value of token');
});

test.each([
  ['none.env', 'does not exist'],
  ['../outside.env', 'lies outside the workspace'],
  ['~/.env', 'lies outside the workspace'],
  ['/etc/hostname', 'lies outside the workspace'],
  ['${env:HOME}/.env', 'holds a variable'],
  ['broken.env', 'line 1 is broken'],
  ['link.env', 'lies outside the workspace'],
])('an environment file that cannot be had makes the server invalid: %s', async (path, said) => {
  const outside = await createWorkspace({ 'secret.env': 'TOKEN=hunter2hunter2' });
  const workspace = await createWorkspace({
    '.vscode/mcp.json': JSON.stringify(envFile(path)),
    'broken.env': 'A="hunter2hunter2',
  });
  await symlink(join(outside, 'secret.env'), join(workspace, 'link.env'));
  const fleet = await loadFleet({ env: { HOME: '/home/me' } }, { workspace });
  const problem = onlyProblem(fleet);
  expect(problem).toMatchObject({ severity: 'error', field: 'servers.s.envFile', server: 's' });
  expect(problem.message).toContain(said);
  expect(problem.fix).toBeDefined();
  expect(JSON.stringify(fleet)).not.toContain('hunter2');
  expect(fleet.servers.get('s')?.kind).toBe('invalid');
});
