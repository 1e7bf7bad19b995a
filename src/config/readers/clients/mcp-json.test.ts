// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { client, invalid, load, onlyProblem, ready } from '../../workspace.fixture.ts';

test(verifies('config:in-place', 'the forms that clients write'), async () => {
  const configuration = await client({
    mcpServers: {
      plain: { command: 'node', args: ['a.js', '${TOKEN:-none}'], env: { A: '1' } },
      typed: { type: 'stdio', command: 'node', cwd: '/srv' },
      copilot: { type: 'local', command: 'node', tools: ['read'], env: {} },
      remote: { url: 'http://127.0.0.1:1/mcp' },
      http: { type: 'http', url: 'https://example.com/mcp', headers: { 'X-A': 'b' }, timeout: 5_000 },
      streamable: { type: 'streamable-http', url: 'https://example.com/mcp' },
      off: { command: 'node', disabled: true },
      notOn: { command: 'node', enabled: false },
      nulls: { command: 'node', args: null, env: null, description: null },
    },
  });
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'plain').transport).toMatchObject({
    args: ['a.js', 'none'],
    env: { A: '1' },
    cwd: configuration.workspace,
  });
  expect(ready(configuration, 'typed').transport).toMatchObject({ cwd: '/srv' });
  expect(ready(configuration, 'copilot').tools).toEqual({ include: ['read'] });
  expect(ready(configuration, 'remote').transport).toEqual({
    type: 'http',
    url: 'http://127.0.0.1:1/mcp',
    headers: {},
  });
  expect(ready(configuration, 'http').limits).toEqual({
    timeoutMs: 5_000,
    maxMs: 600_000,
    concurrency: 256,
    graceMs: 3_600_000,
  });
  expect(['off', 'notOn', 'plain'].map((name) => ready(configuration, name).enabled)).toEqual([false, false, true]);
});

test('servers without the wrapper', async () => {
  const configuration = await client(
    '{ "a": { "command": "node" }, "b": { "url": "http://127.0.0.1/" }, "other": { "x": 1 } }',
  );
  expect([...configuration.servers.keys()]).toEqual(['a', 'b']);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', field: 'other' });
});

test(verifies('config:unknown-keys', 'unknown keys are warnings, comments are nothing'), async () => {
  const configuration = await client(`{
  "$schema": "x", "_comment": "y", "globalShortcut": "", "surprise": "",
  // a remark
  "mcpServers": {
    "_note": "z",
    "a": { "command": "node", "_why": 1, "alwaysAllow": [], "surprise": [], "timeout_ms": 5, },
  },
  "strayed": { "command": "node" }
}`);
  expect(ready(configuration, 'a').source.line).toBe(6);
  expect(
    configuration.problems.map(({ severity, line, field, fix }) => [severity, line, field, fix?.slice(0, 12)]),
  ).toEqual([
    ['warning', 2, 'surprise', undefined],
    ['warning', 6, 'mcpServers.a.surprise', 'Known keys a'],
    ['warning', 6, 'mcpServers.a.timeout_ms', 'Did you mean'],
    ['warning', 8, 'strayed', 'It looks lik'],
  ]);
});

test(verifies('config:duplicate-name', 'a server twice is invalid, with and without the wrapper'), async () => {
  for (const text of [
    '{"mcpServers":{\n"a":{"command":"x"},\n"a":{"command":"y"}}}',
    '{\n"a":{"command":"x"},\n"a":{"command":"y"}}',
  ]) {
    const configuration = await client(text);
    expect(invalid(configuration, 'a').source.line).toBe(2);
    expect(onlyProblem(configuration).message).toContain('in line 2 and in line 3');
  }
});

test.each([
  [{ type: 'ws', url: 'wss://x' }, 'must be one of'],
  [{ link: 'https://x' }, '"command" or "url" is missing'],
  [{ command: 'x', tools: null }, '"tools" must be a list'],
  [{ command: 'x', tools: [{ name: 'a' }] }, '"tools.0" must be text'],
  [{ command: 'x', timeout: '5' }, '"timeout" must be a number'],
  [{ url: 'https://x', headers: { Authorization: 'Basic ${input:jenkins-auth}' } }, '${input:jenkins-auth}'],
  [{ url: 'https://x', headers: { Authorization: 'Bearer ${env:TOKEN}' } }, '${env:TOKEN}'],
  ['node server.js', 'must be a map'],
])('%j is invalid', async (server, said) => {
  const configuration = await client({ mcpServers: { s: server } });
  const errors = invalid(configuration, 's').problems.filter(({ severity }) => severity === 'error');
  expect(errors).toHaveLength(1);
  expect(errors[0]?.message).toContain(said);
});

test('enabled and disabled at once stays off', async () => {
  const configuration = await client({ mcpServers: { s: { command: 'x', enabled: true, disabled: true } } });
  expect(ready(configuration, 's').enabled).toBe(false);
  expect(onlyProblem(configuration).severity).toBe('warning');
});

test('a program that makes headers is not run, and that is told', async () => {
  const configuration = await client({
    mcpServers: { s: { url: 'https://x.example', headersHelper: 'make-headers', oauth: {} } },
  });
  expect(ready(configuration, 's').transport).toMatchObject({ headers: {} });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', field: 'mcpServers.s.headersHelper' });
});

test('a name that cannot be one here is changed, and that is told', async () => {
  const configuration = await client('{"mcpServers":{\n"Docs & more/all":{"command":"x"}}}');
  expect(ready(configuration, 'Docs-more-all').source.line).toBe(2);
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'warning',
    line: 2,
    message: expect.stringContaining('"Docs & more/all" is called "Docs-more-all" here'),
  });
});

test('two names that become the same are a server that nobody can be sure of', async () => {
  const configuration = await client('{"mcpServers":{\n"a b":{"command":"x"},\n"a/b":{"command":"y"}}}');
  expect(
    invalid(configuration, 'a-b')
      .problems.map(({ message }) => message)
      .join(),
  ).toContain('in line 2 and in line 3');
});

test('the variable that Claude sets to the project is the workspace', async () => {
  const configuration = await client({ mcpServers: { s: { command: 'x', args: ['${CLAUDE_PROJECT_DIR}/a'] } } });
  expect(ready(configuration, 's').transport).toMatchObject({ args: [`${configuration.workspace}/a`] });
});

test.each([
  '{"mcpServers":{"a":{"command":"node"},"b c":{"url":"http://x"}}}',
  '{"mcpServers":{"a":{"command":"npx -y thing","args":"--flag"},"b":{"url":"","headers":[]}}}',
  '{"mcpServers":{"a":{"command":"docker","args":["run","-e","TOKEN=${input:token}"]},"b":{"serverUrl":"https://x"}}}',
  '{"mcpServers":{"a":{"command":"C:\\\\tools\\\\a.exe","env":{"N":1,"ON":true,"NONE":null}},"b":null,"c":[]}}',
  '{"mcpServers":{"a":{"type":"stdio"},"b":{"type":"http","url":"localhost:3000"}},"servers":{"c":{"command":"x"}}}',
])('whatever a client left in its file, each server is ready or says what is wrong: %s', async (text) => {
  const configuration = await client(text);
  expect(configuration.files).toEqual(['.mcp.json']);
  for (const [name, server] of configuration.servers) {
    if (server.kind === 'ready') continue;
    if (server.kind !== 'invalid') throw new Error('No file makes a server untrusted.');
    const errors = server.problems.filter(({ severity }) => severity === 'error');
    expect(errors).not.toEqual([]);
    for (const { message } of errors) expect(message).toContain(`Server "${name}"`);
  }
  for (const problem of configuration.problems) expect(problem.line).toBeGreaterThan(0);
});

test('an empty list in place of a map is an empty map, as programs in PHP write it', async () => {
  const configuration = await load({
    '.mcp.json': '{"mcpServers":{"a":{"command":"x","env":[]},"b":{"url":"https://x.example","headers":[]}}}',
    '.cursor/mcp.json': '{"mcpServers":{"a":{"command":"x","env":{}}}}',
  });
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'a').transport).toMatchObject({ env: {} });
  expect(ready(configuration, 'b').transport).toMatchObject({ headers: {} });
  const filled = await client({ mcpServers: { a: { command: 'x', env: ['A=1'] } } });
  expect(onlyProblem(filled).message).toContain('"env" must be a map');
});

test('a server with a program and an address has the one that its type says', async () => {
  const both = { command: 'node', args: ['a.js'], url: 'https://x.example/mcp', headers: { A: 'b' } };
  const configuration = await client({
    mcpServers: { http: { type: 'http', ...both }, stdio: { type: 'stdio', ...both }, unclear: both },
  });
  expect(ready(configuration, 'http').transport).toMatchObject({ type: 'http', url: 'https://x.example/mcp' });
  expect(ready(configuration, 'stdio').transport).toMatchObject({ type: 'stdio', command: 'node' });
  expect(invalid(configuration, 'unclear').problems[0]?.message).toContain('it has both "command" and "url"');
  expect(
    configuration.problems.flatMap(({ severity, field }) => (severity === 'warning' ? [field] : [])).sort(),
  ).toEqual(['mcpServers.http.args', 'mcpServers.http.command', 'mcpServers.stdio.headers', 'mcpServers.stdio.url']);
});

test(verifies('config:samples', 'a sample that `squad init` wrote is left out, with a note'), async () => {
  const github = { command: 'npx', args: ['-y', 'server'], env: { GITHUB_TOKEN: '${GITHUB_TOKEN}' } };
  for (const file of ['.mcp.json', '.copilot/mcp-config.json', '.github/mcp.json']) {
    const text = JSON.stringify({ mcpServers: { 'EXAMPLE-github': github, own: { command: 'x' } } });
    const configuration = await load({ [file]: text }, { GITHUB_TOKEN: 'secret-of-the-test' });
    expect([...configuration.servers.keys()]).toEqual(['own']);
    expect(configuration.secrets).toEqual([]);
    expect(onlyProblem(configuration)).toMatchObject({
      severity: 'note',
      file,
      field: 'mcpServers.EXAMPLE-github',
      message: '"EXAMPLE-github" is a sample and is left out.',
    });
  }
});

test('the file of Visual Studio is read, with its inputs', async () => {
  const text = `{
  "inputs": [{ "id": "key", "type": "promptString", "password": true }, { "id": "region", "default": "eu" }],
  "servers": {
    "docs": { "type": "http", "url": "https://x.example/\${input:region}", "headers": { "K": "\${input:key}" } },
    "local": { "command": "dotnet", "args": ["run", "\${workspaceFolder}/src"], "env": { "API_TOKEN": "${'aB3'.repeat(8)}" } }
  }
}`;
  const configuration = await load({ '.mcp.json': text }, { key: 'of-the-environment' }, { key: 'stored-secret' });
  expect(ready(configuration, 'docs').transport).toMatchObject({
    url: 'https://x.example/eu',
    headers: { K: 'stored-secret' },
  });
  expect(ready(configuration, 'local').transport).toMatchObject({ args: ['run', `${configuration.workspace}/src`] });
  expect(onlyProblem(configuration).fix).toContain('writes ${env:API_TOKEN} instead');
});

test('servers beside those that Claude reads are ignored, and that is told', async () => {
  const configuration = await client({ mcpServers: { a: { command: 'x' } }, servers: { b: { command: 'y' } } });
  expect([...configuration.servers.keys()]).toEqual(['a']);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', field: 'servers' });
});

test('a value like $NAME goes out as it is, and that is told', async () => {
  const configuration = await client({
    mcpServers: { s: { url: 'https://x.example', headers: { Authorization: 'Bearer $GITHUB_TOKEN', A: '${B:-}' } } },
  });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', fix: 'Write ${GITHUB_TOKEN}.' });
});
