import { isAbsolute } from 'node:path';
import { expect, test } from 'vitest';
import type { ClientContext } from './client.ts';
import { findClient, knownClients } from './known-clients.ts';

const at: ClientContext = {
  env: {},
  home: '/home/me',
  platform: 'linux',
  workspace: '/home/me/team',
  project: '/home/me/team',
  exists: () => false,
};

test('each client has names of its own, files, a place for the hub, and a word on how to go on', () => {
  const words = knownClients.flatMap(({ name, aliases }) => [name, ...aliases]);
  expect(new Set(words).size).toBe(words.length);
  for (const client of knownClients) {
    const { name, restart } = client;
    const [files, places] = [client.files(at), client.places(at)];
    for (const { path } of [...files, ...places]) expect(isAbsolute(path), path).toBe(true);
    const known = new Set(files.map(({ path, scope }) => `${scope} ${path}`));
    // What is written there is looked at, too.
    expect(
      places.filter(({ path, scope }) => !known.has(`${scope} ${path}`)),
      name,
    ).toEqual([]);
    expect(client.traces(at).length, name).toBeGreaterThan(0);
    expect(restart, name).toMatch(/^[A-Z].*\.$/);
  }
});

test('a client is found by its name, in any spelling, and by other words for it', () => {
  const found = ['Claude Code', 'claude_code', 'claude', 'VSCode', 'copilot-cli', 'gemini', 'emacs'];
  expect(found.map((word) => findClient(word)?.name)).toEqual([
    'claude-code',
    'claude-code',
    'claude-code',
    'vscode',
    'copilot',
    'gemini',
    undefined,
  ]);
});

test('files are where the system and the variables of each client put them', () => {
  const paths = (name: string, more: Partial<ClientContext>): readonly string[] =>
    (findClient(name)?.places({ ...at, ...more }) ?? []).map(({ path }) => path);
  const mac = { platform: 'darwin' };
  expect(paths('claude-desktop', mac)).toEqual([
    '/home/me/Library/Application Support/Claude/claude_desktop_config.json',
  ]);
  expect(paths('vscode', mac)[1]).toBe('/home/me/Library/Application Support/Code/User/mcp.json');
  expect(paths('claude-code', { env: { CLAUDE_CONFIG_DIR: '/c' } })[0]).toBe('/c/.claude.json');
  expect(paths('codex', { env: { CODEX_HOME: '/x' } })).toContain('/x/config.toml');
  expect(paths('copilot', { env: { COPILOT_HOME: '/y' } })).toEqual(['/y/mcp-config.json']);
  expect(paths('zed', { env: { XDG_CONFIG_HOME: '/z' } })[1]).toBe('/z/zed/settings.json');
  const exists = (path: string): boolean => path.endsWith('.jsonc');
  expect(paths('opencode', { exists })).toEqual([
    '/home/me/team/.opencode/opencode.jsonc',
    '/home/me/.config/opencode/opencode.jsonc',
  ]);
});

test('OpenCode 2 has its servers one level deeper, and switches each off in its own form', () => {
  const opencode = findClient('opencode');
  const file = opencode?.files(at).find(({ scope }) => scope === 'user');
  const text = '{ "mcp": { "servers": { "new": { "command": ["x"] } }, "old": { "command": ["y"] } } }';
  const entries = file?.entries(text) ?? [];
  expect(entries.map(({ path }) => path.join('.'))).toEqual(['mcp.old', 'mcp.servers.new']);
  const steps = entries.map((entry) => file && opencode?.switchOff(file, entry, at));
  expect(steps).toMatchObject([
    { steps: [{ path: ['mcp', 'old', 'enabled'], value: false }] },
    { steps: [{ path: ['mcp', 'servers', 'new', 'disabled'], value: true }] },
  ]);
  const [project] = opencode?.files(at) ?? [];
  expect(entries.map((entry) => project && opencode?.switchOff(project, entry, at))).toEqual([
    { kind: 'move' },
    { kind: 'move' },
  ]);
  const named = file?.entries('{ "mcp": { "servers": { "type": "local", "command": ["x"] } } }');
  expect(named?.map(({ key }) => key)).toEqual(['servers']);
});
