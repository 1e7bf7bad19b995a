// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { invalid, load, onlyProblem, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

const files = [
  '.claude/mcp.json',
  '.kiro/settings/mcp.json',
  '.amazonq/mcp.json',
  '.junie/mcp/mcp.json',
  '.ai/mcp/mcp.json',
  '.roo/mcp.json',
  '.kilocode/mcp.json',
  '.cline/mcp.json',
  '.windsurf/mcp_config.json',
  '.windsurf/mcp.json',
  '.trae/mcp.json',
  '.factory/mcp.json',
  '.agents/mcp_config.json',
  '.agents/mcp.json',
  'mcp.json',
];

test.each(files)('%s: programs and addresses, variables in all forms, restrictions', async (file) => {
  const configuration = await loadClient(
    file,
    {
      mcpServers: {
        local: { command: 'npx', args: ['-y', 'x', '${workspaceFolder}'], env: { A: '${KEY}', B: '${env:KEY}' } },
        remote: {
          type: 'http',
          url: 'https://x.example/mcp',
          headers: { A: 'Bearer ${NONE:-none}' },
        },
        off: { command: 'x', disabled: true, autoApprove: ['a'], alwaysAllow: ['b'] },
        few: { command: 'x', disabledTools: ['write'], autoApprove: ['write'], alwaysAllow: ['write'] },
      },
    },
    { KEY: 'key-of-the-test' },
  );
  expect(configuration.problems).toEqual([]);
  expect(configuration.files).toEqual([file]);
  expect(ready(configuration, 'local').transport).toMatchObject({
    args: ['-y', 'x', configuration.workspace],
    env: { A: 'key-of-the-test', B: 'key-of-the-test' },
  });
  expect(ready(configuration, 'remote').transport).toMatchObject({ type: 'http', headers: { A: 'Bearer none' } });
  expect(ready(configuration, 'off').enabled).toBe(false);
  expect(ready(configuration, 'few')).toMatchObject({ tools: { exclude: ['write'] }, access: { readOnly: false } });
});

test.each(files)('%s: a restriction that is not understood makes its server invalid', async (file) => {
  const configuration = await loadClient(file, {
    mcpServers: {
      a: { command: 'x', denyList: ['write'] },
      b: { command: 'x', disabledTools: 'write' },
      c: { command: 'x' },
    },
  });
  expect(['a', 'b'].map((name) => invalid(configuration, name).problems[0]?.field)).toEqual([
    'mcpServers.a.denyList',
    'mcpServers.b.disabledTools',
  ]);
  expect(ready(configuration, 'c').enabled).toBe(true);
  const beside = await loadClient(file, { mcpServers: { a: { command: 'x' } }, blockedServers: ['a'] });
  expect(invalid(beside, 'a').problems[0]?.field).toBe('blockedServers');
});

test.each(files)('%s: what is broken is told', async (file) => {
  const configuration = await loadClient(file, '{ "mcpServers": { "a": { "command": "x" ');
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file, line: 1 });
  expect(configuration.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny' }]);
});

test('the examples in the documentation of Kiro', async () => {
  const configuration = await loadClient(
    '.kiro/settings/mcp.json',
    {
      mcpServers: {
        'local-server-name': {
          command: 'command-to-run-server',
          args: ['arg1', 'arg2'],
          env: { ENV_VAR1: 'hard-coded-variable', ENV_VAR2: '${EXPANDED_VARIABLE}' },
          disabled: false,
          autoApprove: ['tool_name1', 'tool_name2'],
          disabledTools: ['tool_name3'],
        },
        'remote-server-name': {
          url: 'https://endpoint.to.connect.to',
          headers: { HEADER1: 'value1' },
          disabled: false,
          autoApprove: ['tool_name1'],
          disabledTools: ['tool_name3'],
          oauthScopes: ['read'],
        },
      },
    },
    { EXPANDED_VARIABLE: 'expanded' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'local-server-name').transport).toMatchObject({ env: { ENV_VAR2: 'expanded' } });
  expect(ready(configuration, 'remote-server-name')).toMatchObject({
    transport: { type: 'http' },
    tools: { exclude: ['tool_name3'] },
  });
});

test.each(['.roo/mcp.json', '.kilocode/mcp.json', '.cline/mcp.json'])('%s has timeouts in seconds', async (file) => {
  const configuration = await loadClient(file, {
    mcpServers: {
      a: { command: 'x', timeout: 300, watchPaths: ['dist'], cwd: 'sub' },
      b: { type: 'streamable-http', url: 'https://x.example/mcp', timeout: 60_000 },
      c: { type: 'streamableHttp', url: 'https://x.example/mcp' },
    },
  });
  expect(configuration.problems).toEqual([]);
  const limits = ['a', 'b', 'c'].map((name) => ready(configuration, name).limits.timeoutMs);
  expect(limits).toEqual([300_000, 60_000, 60_000]);
  expect(ready(configuration, 'c').transport.type).toBe('http');
});

test('an address without a type is what its client takes it for', async () => {
  const file = { mcpServers: { s: { url: 'https://x.example/sse' } } };
  expect(ready(await loadClient('.cline/mcp.json', file), 's').transport.type).toBe('sse');
  expect(ready(await loadClient('.kiro/settings/mcp.json', file), 's').transport.type).toBe('http');
});

test.each(['.windsurf/mcp_config.json', '.agents/mcp_config.json'])('%s calls an address serverUrl', async (file) => {
  const configuration = await loadClient(
    file,
    {
      mcpServers: { s: { serverUrl: 'https://x.example/${env:REGION}', disabledTools: ['write'] } },
    },
    { REGION: 'eu' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 's').transport).toMatchObject({ type: 'http', url: 'https://x.example/eu' });
});

test('a variable that is missing is told in the form of the client', async () => {
  const file = { mcpServers: { s: { command: 'x', env: { API_TOKEN: 'aB3'.repeat(8), B: '$B' } } } };
  const fixes = async (name: string) => (await loadClient(name, file)).problems.map(({ fix }) => fix);
  expect((await fixes('.roo/mcp.json')).sort()).toEqual([
    expect.stringContaining('writes ${env:API_TOKEN} instead'),
    'Write ${env:B}.',
  ]);
  expect((await fixes('.claude/mcp.json')).sort()).toEqual([
    expect.stringContaining('writes ${API_TOKEN} instead'),
    'Write ${B}.',
  ]);
});

test(verifies('config:manifests', 'an mcp.json that holds no servers belongs to another program'), async () => {
  for (const content of [
    { name: 'my-server', version: '1', tools: [] },
    { servers: { production: { host: 'x' } }, mcpServers: {} },
    { servers: [{ url: 'https://x.example' }] },
    [],
    '{ "name": ',
  ]) {
    const configuration = await load({
      'mcp.json': typeof content === 'string' ? content : JSON.stringify(content),
      '.mcp.json': '{"mcpServers":{"a":{"command":"x"}}}',
    });
    expect([configuration.problems, configuration.files]).toEqual([[], ['.mcp.json']]);
  }
  const editors = await load({ 'mcp.json': '{"servers":{"a":{"command":"x"}},"inputs":[]}' });
  expect([editors.problems, [...editors.servers.keys()]]).toEqual([[], ['a']]);
});
