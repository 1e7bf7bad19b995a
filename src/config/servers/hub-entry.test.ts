// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { load } from '../workspace.fixture.ts';

const token = { Authorization: 'Bearer ${QM_TOKEN}' };

test.each([
  { command: 'qm', args: ['stdio', '--agent', 'me'] },
  { command: '/opt/bin/qm', args: ['--workspace', '.', 'stdio', '--agent', 'me'] },
  { command: 'npx', args: ['-y', 'quartermaster@0.1.0', 'stdio', '--agent', 'me'] },
  { command: 'node', args: ['tools/bin/qm', 'stdio', '--agent', 'me'] },
  { type: 'http', url: 'http://127.0.0.1:4680/mcp', headers: { Authorization: 'Bearer ${NOT_SET_HERE}' } },
  { type: 'sse', url: 'http://localhost:4680/sse', headers: token },
  { type: 'http', url: 'https://hub.example.com/mcp', headers: token },
])('in the file of a client, the way to a hub is no server: %j', async (entry) => {
  const env = { QM_TOKEN: 'qm_ra227pd68x_secret' };
  const configuration = await load(
    { '.mcp.json': JSON.stringify({ mcpServers: { hub: entry, x: { command: 'x' } } }) },
    env,
  );
  expect([...configuration.servers.keys()]).toEqual(['x']);
  expect(configuration.problems).toEqual([]);
});

test.each([
  [
    '.mcp.json',
    JSON.stringify({ mcpServers: { hub: { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: token } } }),
  ],
  [
    '.vscode/mcp.json',
    JSON.stringify({
      servers: { hub: { url: 'http://127.0.0.1:9/mcp', headers: { authorization: 'Bearer ${env:QM_TOKEN_LEAD}' } } },
    }),
  ],
  [
    'opencode.json',
    JSON.stringify({
      mcp: {
        hub: { type: 'remote', url: 'http://x.example/mcp', headers: { Authorization: 'Bearer {env:QM_TOKEN}' } },
      },
    }),
  ],
  ['.codex/config.toml', '[mcp_servers.hub]\nurl = "http://127.0.0.1:9/mcp"\nbearer_token_env_var = "QM_TOKEN"\n'],
])(
  'an entry with the variable that qm connect writes leads to a hub, also if it is not set: %s',
  async (file, text) => {
    const { servers, problems } = await load({ [file]: text }, {});
    expect([...servers.keys()]).toEqual([]);
    expect(problems).toEqual([]);
  },
);

test('a hub in our own files is meant, and other entries stay', async () => {
  const hub = { command: 'qm', args: ['stdio', '--agent', 'me', '--workspace', '/elsewhere'] };
  const others = {
    git: { command: 'qm', args: ['builtin', 'git'] },
    mine: { command: 'node', args: ['server.mjs', 'stdio'] },
    near: { type: 'http', url: 'http://127.0.0.1:4681/mcp' },
    far: { type: 'http', url: 'https://x.example/mcp', headers: { Authorization: 'Bearer other' } },
  };
  const configuration = await load({
    'quartermaster.yaml': JSON.stringify({ servers: { hub } }),
    '.mcp/servers/second.yaml': JSON.stringify({ id: 'second', ...hub }),
    '.mcp.json': JSON.stringify({ mcpServers: others }),
  });
  expect([...configuration.servers.keys()]).toEqual(['hub', 'second', 'git', 'mine', 'near', 'far']);
});
