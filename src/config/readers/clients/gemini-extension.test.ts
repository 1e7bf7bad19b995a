// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { invalid, onlyProblem, ready } from '../../workspace.fixture.ts';
import { deniedTools, loadClient } from './client-file.fixture.ts';

test('an extension: its folder, its variables, and tools that it hides', async () => {
  const configuration = await loadClient(
    'gemini-extension.json',
    {
      name: 'my-extension',
      version: '1.0.0',
      contextFileName: 'GEMINI.md',
      settings: [{ name: 'API Key', envVar: 'MY_API_KEY' }],
      excludeTools: ['run_shell_command(rm -rf)', 'mcp_my-server_drop'],
      mcpServers: {
        'my-server': {
          command: 'node',
          args: ['${extensionPath}${/}dist${/}server.js', '${workspacePath}${pathSeparator}data'],
          env: { KEY: '$MY_API_KEY' },
          trust: true,
        },
      },
    },
    { MY_API_KEY: 'key-of-extension' },
  );
  expect(configuration.problems).toEqual([]);
  const { workspace } = configuration;
  expect(ready(configuration, 'my-server')).toMatchObject({
    transport: { args: [`${workspace}/dist/server.js`, `${workspace}/data`], env: { KEY: 'key-of-extension' } },
  });
  expect(deniedTools(configuration, 'my-server')).toEqual(['mcp_my-server_drop', 'drop']);
});

test('an extension without servers is nobody’s concern, a broken one is told', async () => {
  const without = await loadClient('gemini-extension.json', { name: 'x', version: '1', contextFileName: 'GEMINI.md' });
  expect([without.problems, without.servers.size]).toEqual([[], 0]);
  expect(onlyProblem(await loadClient('gemini-extension.json', '{ "name": '))).toMatchObject({ severity: 'error' });
});

test('a restriction that is not understood makes its server invalid', async () => {
  const configuration = await loadClient('gemini-extension.json', {
    mcpServers: { a: { command: 'x', onlyTools: [] } },
  });
  expect(invalid(configuration, 'a').problems[0]?.field).toBe('mcpServers.a.onlyTools');
});
