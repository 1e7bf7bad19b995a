// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import type { Configuration } from '../../../domain/index.ts';
import { loadConfiguration } from '../../load-configuration.ts';
import { createWorkspace, invalid, onlyProblem, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

const vscode = (
  content: unknown,
  env?: Readonly<Record<string, string>>,
  others?: Readonly<Record<string, string>>,
  stored?: Readonly<Record<string, string>>,
): Promise<Configuration> => loadClient('.vscode/mcp.json', content, env, { others, stored });

test(verifies('config:client-files', 'VS Code: servers of every type, with its own variables'), async () => {
  const configuration = await vscode(
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
    { MODE: 'fast', HOME: '/home/me' },
    {},
    { 'api-key': 'key-of-api' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'tool').transport).toEqual({
    type: 'stdio',
    command: 'node',
    args: [`${configuration.workspace}/a.js`, 'fast'],
    env: { HOME_OF: '/home/me', PORT: '8080' },
    cwd: configuration.workspace,
  });
  expect(ready(configuration, 'remote').transport).toEqual({
    type: 'http',
    url: 'https://eu.example.com/mcp',
    headers: { Authorization: 'Bearer key-of-api' },
  });
  expect([ready(configuration, 'old').transport.type, ready(configuration, 'plain').transport.type]).toEqual([
    'sse',
    'http',
  ]);
  expect(configuration.secrets).toContain('key-of-api');
});

test(verifies('variables:missing', 'an input names the command that stores it'), async () => {
  const configuration = await vscode({
    inputs: [{ id: 'my-token', type: 'promptString' }],
    servers: { s: { command: 'x', env: { T: '${input:my-token}' } } },
  });
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'error',
    server: 's',
    field: 'servers.s.env.T',
    message: 'Server "s": "env.T" needs the secret my-token, which is not stored.',
    fix: 'Run `qm secret set my-token`.',
  });
  expect(invalid(configuration, 's').source).toEqual({ file: '.vscode/mcp.json', line: 9 });
});

test.each(['aws-secret-access-key', 'AWS_SECRET_ACCESS_KEY'])(
  verifies('variables:inputs', 'neither the environment nor .env answers ${input:%s}'),
  async (id) => {
    const server = { url: 'https://attacker.example/mcp', headers: { 'X-Key': `\${input:${id}}` } };
    const env = { AWS_SECRET_ACCESS_KEY: 'of-the-environment', [id]: 'of-the-environment' };
    const dotEnv = { '.env': `AWS_SECRET_ACCESS_KEY=of-the-file\n${id}=of-the-file\n` };
    for (const inputs of [[], [{ id, type: 'promptString', password: true }]]) {
      const configuration = await vscode({ inputs, servers: { s: server } }, env, dotEnv);
      expect(onlyProblem(configuration).fix).toBe(`Run \`qm secret set ${id}\`.`);
      expect(JSON.stringify(invalid(configuration, 's'))).not.toContain('of-the-');
    }
    const withDefault = { inputs: [{ id, type: 'promptString', default: 'none' }], servers: { s: server } };
    expect(ready(await vscode(withDefault, env, dotEnv), 's').transport).toMatchObject({
      headers: { 'X-Key': 'none' },
    });
    const stored = await vscode(withDefault, env, dotEnv, { [id]: 'of-the-store' });
    expect(ready(stored, 's').transport).toMatchObject({ headers: { 'X-Key': 'of-the-store' } });
    expect(stored.secrets).toContain('of-the-store');
  },
);

test("a variable in another client's form is a variable, not a text that goes out as it is", async () => {
  const file = { servers: { s: { url: 'https://x.example', headers: { A: 'Bearer ${TOKEN}' } } } };
  const message = expect.stringContaining('needs the variable TOKEN');
  expect(onlyProblem(await vscode(file))).toMatchObject({ severity: 'error', message });
  const configuration = await vscode(file, { TOKEN: 'secret-of-the-test' });
  expect(ready(configuration, 's').transport).toMatchObject({ headers: { A: 'Bearer secret-of-the-test' } });
  expect(configuration.secrets).toContain('secret-of-the-test');
});

test('a script keeps the variables of its shell, and a program those of its own environment', async () => {
  const script = 'PATH=/opt/bin:${PATH:-} exec server --root ${workspaceFolder} ${name}';
  const configuration = await vscode(
    {
      servers: {
        shell: { command: '/bin/bash', args: ['-lc', script], env: { A: '${TOKEN}' } },
        bridge: { command: 'npx', args: ['--header', 'Authorization:${AUTH} ${TOKEN}'], env: { AUTH: 'Bearer x' } },
      },
    },
    { TOKEN: 'secret-of-the-test' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'shell').transport).toMatchObject({
    args: ['-lc', script.replace('${workspaceFolder}', configuration.workspace)],
    env: { A: 'secret-of-the-test' },
  });
  expect(ready(configuration, 'bridge').transport).toMatchObject({
    args: ['--header', 'Authorization:${AUTH} secret-of-the-test'],
  });
});

test('a value like $NAME goes out as it is, and that is told', async () => {
  const configuration = await vscode({ servers: { s: { command: 'x', env: { GITHUB_TOKEN: '$GITHUB_TOKEN' } } } });
  expect(ready(configuration, 's').transport).toMatchObject({ env: { GITHUB_TOKEN: '$GITHUB_TOKEN' } });
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('but VS Code passes such text on unchanged'),
    fix: 'Write ${env:GITHUB_TOKEN}.',
  });
});

test('a secret in the file is answered with the form that the file understands', async () => {
  const secret = 'aB3'.repeat(8);
  const configuration = await vscode({ servers: { s: { command: 'x', env: { API_TOKEN: secret } } } });
  expect(onlyProblem(configuration).fix).toContain('writes ${env:API_TOKEN} instead');
  expect(JSON.stringify(configuration.problems)).not.toContain(secret);
});

test('servers under the key of other clients are not read, and that is told', async () => {
  const configuration = await vscode({ mcpServers: { a: { command: 'x' } }, servers: { b: { command: 'y' } } });
  expect([...configuration.servers.keys()]).toEqual(['b']);
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'warning',
    field: 'mcpServers',
    fix: 'Move them into "servers".',
  });
});

test('a server is not started without the sandbox that it is to have', async () => {
  const configuration = await vscode({
    servers: { s: { command: 'x', sandboxEnabled: true, sandbox: { network: {} } } },
  });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', field: 'servers.s.sandboxEnabled' });
});

test.each([
  ['[]', 'must contain an object with "servers"'],
  ['{"servers": []}', '"servers" must be an object'],
  ['{"servers":{},\n"servers":{}}', 'is written twice, in line 1 and in line 2'],
])('%s is refused as a whole', async (text, said) => {
  const configuration = await vscode(text);
  expect(configuration.servers.size).toBe(0);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', message: expect.stringContaining(said) });
  expect(onlyProblem(configuration).fix).toBeDefined();
});

const envFile = (path: string): unknown => ({ servers: { s: { command: 'x', envFile: path, env: { A: 'own' } } } });

test.each(['.env.mcp', './.env.mcp', '${workspaceFolder}/.env.mcp'])('the environment comes from %s', async (path) => {
  const configuration = await vscode(envFile(path), {}, { '.env.mcp': 'A=file\nexport TOKEN="value of token"\n' });
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 's').transport).toMatchObject({ env: { A: 'own', TOKEN: 'value of token' } });
  expect(configuration.secrets).toContain('value of token');
});

test.each([
  ['none.env', 'does not exist'],
  ['../outside.env', 'is outside the workspace'],
  ['~/.env', 'is outside the workspace'],
  ['/etc/hostname', 'is outside the workspace'],
  ['${env:HOME}/.env', 'contains a variable'],
  ['broken.env', 'line 1 is broken'],
  ['link.env', 'is outside the workspace'],
])('an environment file that cannot be had makes the server invalid: %s', async (path, said) => {
  const outside = await createWorkspace({ 'secret.env': 'TOKEN=hunter2hunter2' });
  const workspace = await createWorkspace({
    '.vscode/mcp.json': JSON.stringify(envFile(path)),
    'broken.env': 'A="hunter2hunter2',
  });
  await symlink(join(outside, 'secret.env'), join(workspace, 'link.env'));
  const configuration = await loadConfiguration({ env: { HOME: '/home/me' } }, { workspace });
  const problem = onlyProblem(configuration);
  expect(problem).toMatchObject({ severity: 'error', field: 'servers.s.envFile', server: 's' });
  expect(problem.message).toContain(said);
  expect(problem.fix).toBeDefined();
  expect(JSON.stringify(configuration)).not.toContain('hunter2');
  expect(configuration.servers.get('s')?.kind).toBe('invalid');
});
