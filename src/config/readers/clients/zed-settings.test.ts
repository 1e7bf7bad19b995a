// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import type { Configuration } from '../../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

const zed = (content: unknown): Promise<Configuration> => loadClient('.zed/settings.json', content);

test('programs and addresses, in the present and the older form, beside other settings', async () => {
  const configuration = await zed({
    tab_size: 2,
    lsp: { x: { enable_lsp_tasks: false } },
    context_servers: {
      local: { source: 'custom', command: 'some-command', args: ['a'], env: { A: '1' }, timeout: 120, remote: false },
      older: { command: { path: 'node', args: ['b.js'], env: { B: '2' } }, settings: {} },
      remote: { url: 'https://x.example/mcp', headers: { Authorization: 'Bearer <token>' } },
      off: { enabled: false, command: 'x', args: [] },
    },
  });
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'local')).toMatchObject({
    transport: { command: 'some-command', args: ['a'], env: { A: '1' } },
    limits: { timeoutMs: 120_000 },
  });
  expect(ready(configuration, 'older').transport).toMatchObject({ command: 'node', args: ['b.js'], env: { B: '2' } });
  expect(ready(configuration, 'remote').transport.type).toBe('http');
  expect(ready(configuration, 'off').enabled).toBe(false);
});

test('a server of an extension is left out with a note, and disables one of that name elsewhere', async () => {
  const text = JSON.stringify({
    context_servers: { 'mcp-server-github': { source: 'extension', enabled: false, settings: { token: 'x' } } },
  });
  const configuration = await load({
    '.zed/settings.json': text,
    '.mcp.json': '{"mcpServers":{"mcp-server-github":{"command":"x"}}}',
  });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'note', field: 'context_servers.mcp-server-github' });
  expect(ready(configuration, 'mcp-server-github')).toMatchObject({
    enabled: false,
    disabledBy: { file: '.zed/settings.json' },
  });
});

test('a text that looks like a variable is passed on as it is, and that is told', async () => {
  const configuration = await zed({ context_servers: { s: { command: 'x', args: [], env: { A: '${TOKEN}' } } } });
  expect(ready(configuration, 's').transport).toMatchObject({ env: { A: '${TOKEN}' } });
  expect(onlyProblem(configuration).message).toContain('Zed passes such text on unchanged');
});

test('permissions of tools hold here too', async () => {
  const configuration = await zed({
    agent: {
      tool_permissions: {
        default: 'confirm',
        tools: {
          terminal: { default: 'deny', always_allow: [{ pattern: 'x' }] },
          'mcp:github:create_issue': { default: 'allow' },
          'mcp:github:merge': { default: 'allow', always_confirm: [{ pattern: 'main' }] },
          'mcp:github:drop': { always_deny: [{ pattern: '.*' }] },
        },
      },
    },
    context_servers: { github: { command: 'x', args: [] } },
  });
  expect(configuration.problems).toEqual([]);
  const [restriction] = ready(configuration, 'github').restrictedBy;
  expect(restriction?.rules).toMatchObject({
    prefix: 'mcp:github:',
    rules: [
      { pattern: '*', effect: 'require-approval' },
      { pattern: 'mcp:github:create_issue', effect: 'allow' },
      { pattern: 'mcp:github:merge', effect: 'require-approval' },
      { pattern: 'mcp:github:drop', effect: 'deny' },
    ],
  });
});

test.each([
  [{ agent: { tool_permissions: { default: 'never' } } }, 'agent.tool_permissions.default'],
  [{ agent: { tool_permissions: { tools: { 'mcp:s:x': 'deny' } } } }, 'agent.tool_permissions.tools.mcp:s:x'],
])('permissions that cannot be understood make the servers invalid', async (settings, field) => {
  const configuration = await zed({ ...settings, context_servers: { s: { command: 'x', args: [] } } });
  expect(invalid(configuration, 's').problems[0]?.field).toBe(field);
});

test('a restriction of a server that is not understood, and what is broken', async () => {
  const configuration = await zed({ context_servers: { s: { command: 'x', args: [], allowlist: ['a'] } } });
  expect(invalid(configuration, 's').problems[0]?.field).toBe('context_servers.s.allowlist');
  expect(onlyProblem(await zed('{ "context_servers": {')).severity).toBe('error');
  expect((await zed('{ "tab_size": 2, // only this\n }')).problems).toEqual([]);
});
