// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { load, onlyProblem, ready } from '../workspace.fixture.ts';

/** One server as each client writes it, strongest first. */
const files: Readonly<Record<string, string>> = {
  '.mcp.json': json({ mcpServers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${KEY}' } } } }),
  '.github/mcp.json': json({
    mcpServers: { s: { type: 'local', command: 'npx', args: ['-y', 'x'], env: { KEY: '$KEY' } } },
  }),
  '.copilot/mcp-config.json': json({
    mcpServers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${KEY}' } } },
  }),
  '.vscode/mcp.json': json({ servers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${env:KEY}' } } } }),
  '.cursor/mcp.json': json({ mcpServers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${env:KEY}' } } } }),
  '.gemini/settings.json': json({ mcpServers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '$KEY' } } } }),
  'opencode.jsonc': json({
    mcp: { s: { type: 'local', command: ['npx', '-y', 'x'], environment: { KEY: '{env:KEY}' } } },
  }),
  'opencode.json': json({
    mcp: { s: { type: 'local', command: ['npx', '-y', 'x'], environment: { KEY: '{env:KEY}' } } },
  }),
  '.codex/config.toml': '[mcp_servers.s]\ncommand = "npx"\nargs = ["-y", "x"]\nenv_vars = ["KEY"]\n',
};

test(
  verifies('config:client-files', 'the same server in the file of each client is one server and no problem'),
  async () => {
    const fleet = await load(files, { KEY: 'key-of-all' });
    expect(fleet.problems).toEqual([]);
    expect([...fleet.servers.keys()]).toEqual(['s']);
    const { source, hides, transport } = ready(fleet, 's');
    expect([source, ...hides].map(({ file }) => file)).toEqual(Object.keys(files));
    expect(transport).toMatchObject({ command: 'npx', args: ['-y', 'x'], env: { KEY: 'key-of-all' } });
  },
);

test.each(Object.keys(files))('%s alone means the same', async (file) => {
  const alone = await load({ [file]: files[file] ?? '' }, { KEY: 'key-of-all' });
  expect(alone.problems).toEqual([]);
  expect(ready(alone, 's').transport).toEqual({
    type: 'stdio',
    command: 'npx',
    args: ['-y', 'x'],
    env: { KEY: 'key-of-all' },
    cwd: alone.workspace,
  });
});

test(verifies('config:precedence', 'a weaker file that would offer less is told, not passed over'), async () => {
  const fleet = await load({
    '.mcp.json': json({ mcpServers: { s: { command: 'x' } } }),
    '.gemini/settings.json': json({ mcpServers: { s: { command: 'x', includeTools: ['read'] } } }),
  });
  expect(ready(fleet, 's').tools).toEqual({});
  expect(onlyProblem(fleet)).toMatchObject({ severity: 'warning', file: '.gemini/settings.json', server: 's' });
});

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
