// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { load, onlyProblem, ready } from '../workspace.fixture.ts';

const plain = json({ mcpServers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${KEY}' } } } });

/** One server as each client writes it, strongest first. */
const files: Readonly<Record<string, string>> = {
  '.mcp.json': json({ mcpServers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${KEY}' } } } }),
  '.github/mcp.json': json({
    mcpServers: { s: { type: 'local', command: 'npx', args: ['-y', 'x'], env: { KEY: '$KEY' } } },
  }),
  '.copilot/mcp-config.json': json({
    mcpServers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${KEY}' } } },
  }),
  '.github/copilot/mcp.json': json({ servers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '$KEY' } } } }),
  '.vscode/mcp.json': json({ servers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${env:KEY}' } } } }),
  '.cursor/mcp.json': json({ mcpServers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${env:KEY}' } } } }),
  '.gemini/settings.json': json({ mcpServers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '$KEY' } } } }),
  '.opencode/opencode.jsonc': json({
    mcp: { servers: { s: { type: 'local', command: ['npx', '-y', 'x'], environment: { KEY: '{env:KEY}' } } } },
  }),
  '.opencode/opencode.json': json({
    mcp: { s: { type: 'local', command: ['npx', '-y', 'x'], environment: { KEY: '{env:KEY}' } } },
  }),
  'opencode.jsonc': json({
    mcp: { s: { type: 'local', command: ['npx', '-y', 'x'], environment: { KEY: '{env:KEY}' } } },
  }),
  'opencode.json': json({
    mcp: { s: { type: 'local', command: ['npx', '-y', 'x'], environment: { KEY: '{env:KEY}' } } },
  }),
  '.codex/config.toml': '[mcp_servers.s]\ncommand = "npx"\nargs = ["-y", "x"]\nenv_vars = ["KEY"]\n',
  ...Object.fromEntries(
    [
      '.qwen/settings.json',
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
      '.amazonq/cli-agents/a.json',
      '.kiro/agents/a.json',
    ].map((file) => [file, plain]),
  ),
  '.zed/settings.json': json({
    context_servers: { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: 'key-of-all' } } },
  }),
  '.amp/settings.jsonc': json({
    'amp.mcpServers': { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${KEY}' } } },
  }),
  '.amp/settings.json': json({
    'amp.mcpServers': { s: { command: 'npx', args: ['-y', 'x'], env: { KEY: '${KEY}' } } },
  }),
  '.crush.json': json({ mcp: { s: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { KEY: '$KEY' } } } }),
  'crush.json': json({
    mcp: { s: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { KEY: '$(echo $KEY)' } } },
  }),
  'librechat.yaml': 'mcpServers:\n  s: { command: npx, args: ["-y", x], env: { KEY: "${KEY}" } }\n',
  'gemini-extension.json': plain,
  'mcp.json': plain,
};

test(
  verifies('config:client-files', 'the same server in the file of each client is one server and no problem'),
  async () => {
    const configuration = await load(files, { KEY: 'key-of-all' });
    expect(configuration.problems).toEqual([]);
    expect([...configuration.servers.keys()]).toEqual(['s']);
    const { source, hides, transport } = ready(configuration, 's');
    expect([source, ...hides].map(({ file }) => file)).toEqual(Object.keys(files));
    expect(transport).toMatchObject({ command: 'npx', args: ['-y', 'x'], env: { KEY: 'key-of-all' } });
  },
);

test(verifies('names:order', 'servers stand in the order of file precedence, then in that of their file'), async () => {
  const two = (...names: string[]): string =>
    json({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: 'x' }])) });
  const order = async (texts: Record<string, string>) => [...(await load(texts)).servers.keys()];
  const texts = {
    '.gemini/settings.json': two('z', 'a'),
    '.mcp.json': two('y', 'b', 'z'),
    '.mcp/servers/p.json': json({ name: 'p', transport: 'stdio', command: 'x' }),
    '.squad/mcp-config.json': json({ servers: { x: { command: 'x' }, c: { command: 'x' } } }),
    'quartermaster.yaml': 'servers:\n  w: { command: x }\n  d: { command: x }\n',
  };
  const expected = ['w', 'd', 'x', 'c', 'p', 'y', 'b', 'z', 'a'];
  expect(await order(texts)).toEqual(expected);
  // Neither names nor the order in which files are found have a part in it.
  expect(await order(Object.fromEntries(Object.entries(texts).reverse()))).toEqual(expected);
});

test.each(Object.keys(files))('%s alone means the same', async (file) => {
  const alone = await load({ [file]: files[file] ?? '' }, { KEY: 'key-of-all' });
  expect(alone.problems).toEqual([]);
  expect(ready(alone, 's').transport).toEqual({
    type: 'stdio',
    command: 'npx',
    args: ['-y', 'x'],
    env: { KEY: 'key-of-all' },
    cwd: alone.workspace,
    guard: 'npm',
  });
});

test(verifies('config:precedence', 'a weaker file that would offer less is told, not passed over'), async () => {
  const configuration = await load({
    '.mcp.json': json({ mcpServers: { s: { command: 'x' } } }),
    '.gemini/settings.json': json({ mcpServers: { s: { command: 'x', includeTools: ['read'] } } }),
  });
  expect(ready(configuration, 's').tools).toEqual({});
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', file: '.gemini/settings.json', server: 's' });
});

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
