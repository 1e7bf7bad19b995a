// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { invalid, onlyProblem, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

const file = '.cursor/mcp.json';

test(verifies('config:client-files', 'Cursor: programs, addresses, its variables and its own keys'), async () => {
  const configuration = await loadClient(
    file,
    {
      version: '1.0',
      mcpServers: {
        tool: { command: 'npx', args: ['-y', '${workspaceFolderBasename}'], envFile: '.env.tool', alwaysAllow: ['a'] },
        remote: { url: 'https://x.example/mcp', headers: { A: '${env:KEY}' }, auth: { CLIENT_ID: 'c' } },
        odd: { type: 'streamableHttp', url: 'https://x.example/mcp', name: 'Odd', description: 'Odd one' },
        filtered: { command: 'x', tools: ['read'] },
        off: { command: 'x', disabled: true },
      },
    },
    { KEY: 'key-of-cursor' },
    { others: { '.env.tool': 'LEVEL=debug' } },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'tool').transport).toMatchObject({
    args: ['-y', configuration.workspace.split('/').at(-1)],
    env: { LEVEL: 'debug' },
  });
  expect(ready(configuration, 'remote').transport).toMatchObject({ type: 'http', headers: { A: 'key-of-cursor' } });
  expect(ready(configuration, 'odd')).toMatchObject({ transport: { type: 'http' }, description: 'Odd one' });
  expect(ready(configuration, 'filtered').tools).toEqual({ include: ['read'] });
  expect(ready(configuration, 'off').enabled).toBe(false);
});

test('a server beside the others is told where it belongs', async () => {
  const configuration = await loadClient(file, { mcpServers: {}, lost: { command: 'x' } });
  expect(configuration.servers.size).toBe(0);
  expect(onlyProblem(configuration)).toMatchObject({
    field: 'lost',
    fix: 'It looks like a server: move it into "mcpServers".',
  });
});

test('a list of tools that describes them restricts nothing in Cursor, and nothing here', async () => {
  const configuration = await loadClient(file, { mcpServers: { s: { command: 'x', tools: [{ name: 'a' }] } } });
  expect(ready(configuration, 's').tools).toEqual({});
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', field: 'mcpServers.s.tools' });
});

test('a mistyped switch is not passed over', async () => {
  const configuration = await loadClient(file, { mcpServers: { s: { command: 'x', disabeld: true } } });
  expect(invalid(configuration, 's').problems[0]).toMatchObject({ severity: 'error', fix: 'Did you mean "disabled"?' });
});
