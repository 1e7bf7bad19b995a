import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { errorSchema, lsSchema, removeSchema } from '../../../src/faces/cli/json-shapes.ts';
import { trustSchema } from '../../../src/faces/cli/trust/trust-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { configure, makeWorkspace, type QmResult, runQm, serveQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';
import { runOnScreen } from '../screen.fixture.ts';

/** Without the settings that trust every test workspace. */
const asks = { XDG_CONFIG_HOME: '/nonexistent' };
const echo = stdioServer('echo-stdio.mjs');

function qmIn(workspace: string, ...args: string[]): Promise<QmResult> {
  const env = { PATH: process.env.PATH ?? '', HOME: tmpdir() };
  return runHere([...args, '--workspace', workspace], { cwd: tmpdir(), env });
}

async function put(workspace: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(workspace, file)), { recursive: true });
  await writeFile(join(workspace, file), text);
}

const readIn = (workspace: string, file: string): Promise<string> => readFile(join(workspace, file), 'utf8');

const namesIn = async (workspace: string): Promise<string[]> => {
  const { stdout } = await qmIn(workspace, 'ls', '--json');
  return lsSchema.parse(JSON.parse(stdout)).servers.map(({ name }) => name);
};

test.each([
  ['quartermaster.yaml', '# ours\nservers:\n  x:   # it\n    command: node\n', '# ours\nservers: {}\n'],
  [
    'quartermaster.yaml',
    'servers: {x: {command: node}, y: {command: node}} # c\n',
    'servers: {y: {command: node}} # c\n',
  ],
  [
    '.mcp.json',
    '{\n\t"mcpServers": {\n\t\t// about x\n\t\t"x": { "command": "node" },\n\t\t"y": { "command": "node" } // y\n\t}\n}\n',
    '{\n\t"mcpServers": {\n\t\t// about x\n\t\t"y": { "command": "node" } // y\n\t}\n}\n',
  ],
  ['.squad/mcp-config.json', '{ "servers": { "x": { "command": "node" } } }', '{ "servers": {} }'],
  ['.vscode/mcp.json', '{"servers":{"x":{"command":"node"}},"inputs":[]}\r\n', '{"servers":{},"inputs":[]}\r\n'],
  [
    'opencode.json',
    '{"mcp":{"y":{"type":"local","command":["node"]},"x":{"type":"local","command":["node"]}}}',
    '{"mcp":{"y":{"type":"local","command":["node"]}}}',
  ],
  [
    '.codex/config.toml',
    'model = "a"\n\n[mcp_servers.x]\ncommand = "node"\n[mcp_servers.x.env]\nA = "1"\n\n# more\n[mcp_servers.y]\ncommand = "node"\n',
    'model = "a"\n\n# more\n[mcp_servers.y]\ncommand = "node"\n',
  ],
])(verifies('edit:remove', 'a server is removed from %s, and the rest stays'), async (file, before, after) => {
  const workspace = await makeWorkspace();
  await put(workspace, file, before);
  await chmod(join(workspace, file), 0o640);
  const removed = await qmIn(workspace, 'remove', 'x');
  expect(removed.stderr).toBe('');
  expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining(`Removed server x from ${file}:`) });
  expect(await readIn(workspace, file)).toBe(after);
  expect(await namesIn(workspace)).not.toContain('x');
});

test(
  verifies('edit:remove', 'the file of a single server is deleted, with the one that qm sync made from it'),
  async () => {
    const workspace = await makeWorkspace();
    await put(workspace, 'ops/adk/servers/x.yaml', 'server_id: x\ntype: mcp\ncommand: node\n');
    expect((await qmIn(workspace, 'sync')).code).toBe(0);
    await put(workspace, '.mcp/servers/z.json', '{"id":"z","command":"node"}');
    await put(workspace, 'elsewhere.json', '{"id":"linked","command":"node"}');
    await symlink('../../elsewhere.json', join(workspace, '.mcp/servers/linked.json'));
    const removed = await qmIn(workspace, 'remove', 'x', '--json');
    expect(removeSchema.parse(JSON.parse(removed.stdout))).toMatchObject({
      server: 'x',
      deleted: ['ops/adk/servers/x.yaml', '.mcp/servers/x.json'],
      dangling: [],
      successor: null,
      hub: null,
    });
    for (const name of ['z', 'linked']) expect((await qmIn(workspace, 'remove', name)).code).toBe(0);
    for (const file of [
      'ops/adk/servers/x.yaml',
      '.mcp/servers/x.json',
      '.mcp/servers/z.json',
      '.mcp/servers/linked.json',
    ])
      expect(existsSync(join(workspace, file)), file).toBe(false);
    expect(existsSync(join(workspace, 'elsewhere.json'))).toBe(true);
  },
);

const named = `servers:
  x: {command: node}
  y: {command: node}
agents:
  lead: {servers: [x, y]}
policies:
  tools:
    x.write: deny
`;

test(verifies('edit:remove', 'the lists and rules that name the server are told, with file and line'), async () => {
  const workspace = await makeWorkspace(named);
  const removed = await qmIn(workspace, 'remove', 'x');
  expect(removed.code).toBe(0);
  expect(removed.stderr).toMatch(/warning quartermaster\.yaml:4 .*"x" names a server that is not configured/);
  expect(removed.stderr).toMatch(/warning quartermaster\.yaml:7 .*"x\.write" names a server that is not configured/);
  expect(await readIn(workspace, 'quartermaster.yaml')).toBe(named.replace('  x: {command: node}\n', ''));
});

test(verifies('edit:remove', 'a person is asked first if something names the server'), async () => {
  const workspace = await makeWorkspace(named);
  const [no, yes] = ['\r', 'y\r'];
  for (const answer of [no, yes]) {
    const screen = runOnScreen(['remove', 'x'], { workspace, columns: 80 });
    await eventually(() => screen.stderr().includes('Remove server x? [y/N]') || undefined, 'the question');
    expect(screen.stderr()).toContain('Without server x:');
    screen.type(answer);
    expect(await screen.ended).toBe(0);
    expect((await namesIn(workspace)).includes('x')).toBe(answer === no);
  }
  const unasked = runOnScreen(['remove', 'y', '--yes'], { workspace, columns: 80 });
  expect(await unasked.ended).toBe(0);
});

test(
  verifies('edit:remove', 'an entry of a weaker file that comes to light is told, and needs its own approval'),
  async () => {
    const workspace = await makeWorkspace({ servers: { x: echo } });
    await put(workspace, '.mcp.json', JSON.stringify({ mcpServers: { x: { command: 'other-program' } } }));
    const env = asks;
    const run = (...args: string[]): Promise<QmResult> => runQm([...args, '--workspace', workspace], { env });
    expect((await run('trust', '--all')).code).toBe(0);
    const removed = await run('remove', 'x');
    expect(removed.stderr).toContain('the entry in .mcp.json:1 counts. To remove it too, run `qm remove x` again.');
    const shown = trustSchema.parse(JSON.parse((await run('trust', '--show', '--json')).stdout));
    expect(shown.items.map(({ name, state }) => [name, state])).toEqual([
      ['x', 'waiting'],
      [null, 'approved'],
    ]);
  },
);

test(
  verifies('trust:acts', 'what a removal leaves is approved by that act, also after a restart, and no more'),
  async () => {
    const servers = { x: echo, y: echo };
    const agents = { lead: { servers: ['x', 'y'] } };
    const workspace = await makeWorkspace({ servers, agents });
    const run = (...args: string[]): Promise<QmResult> => runQm([...args, '--workspace', workspace], { env: asks });
    expect((await run('trust', '--all')).code).toBe(0);
    expect((await run('remove', 'x')).code).toBe(0);
    const states = async (): Promise<unknown> =>
      trustSchema
        .parse(JSON.parse((await run('trust', '--show', '--json')).stdout))
        .items.map(({ name, state }) => [name, state]);
    expect(await states()).toEqual([
      ['y', 'approved'],
      [null, 'approved'],
    ]);
    // A change to the rules that waits is not approved on the way, and neither is another server.
    await configure(workspace, { servers: { y: echo, z: echo }, agents: { lead: { servers: ['y', 'z'] } } });
    expect((await run('remove', 'y')).code).toBe(0);
    expect(await states()).toEqual([
      ['z', 'waiting'],
      [null, 'waiting'],
    ]);
    // The last server of a file: absence is not undone.
    expect((await run('trust', '--all')).code).toBe(0);
    expect((await run('remove', 'z')).code).toBe(0);
    const ls = lsSchema.parse(JSON.parse((await run('ls', '--json')).stdout));
    expect(ls.servers).toEqual([]);
    expect(ls.problems.filter(({ message }) => message.includes('Still using'))).toEqual([]);
  },
);

test(verifies('edit:hub', 'a running hub stops a removed server, also one with a file of its own'), async () => {
  const workspace = await makeWorkspace({ servers: { x: echo } });
  await put(workspace, '.mcp/servers/own.json', JSON.stringify({ id: 'own', ...echo }));
  const hub = await serveQm(workspace);
  for (const name of ['x', 'own']) {
    const removed = await runQm(['remove', name, '--workspace', workspace]);
    expect(removed.stderr).toContain(`The hub at ${hub.url} has applied the change.`);
  }
  const ls = await runQm(['ls', '--json', '--workspace', workspace]);
  expect(lsSchema.parse(JSON.parse(ls.stdout))).toMatchObject({ hub: hub.url, servers: [] });
  hub.signal('SIGTERM');
  await hub.ended();
});

test.each([
  ['.codex/config.toml', 'mcp_servers = { x = { command = "node" } }\n', 'in a form that this command cannot edit'],
  ['quartermaster.yaml', 'servers:\n  x: &a {command: node}\n  y: *a\n', 'in a form that this command cannot edit'],
])(verifies('edit:refuse', 'what cannot be edited in %s is refused, and stays as it is'), async (file, text, said) => {
  const workspace = await makeWorkspace();
  await put(workspace, file, text);
  const refused = await qmIn(workspace, 'remove', 'x', '--json');
  expect(refused.code).toBe(2);
  expect(errorSchema.parse(JSON.parse(refused.stderr)).error.message).toContain(said);
  expect(await readIn(workspace, file)).toBe(text);
});

test('an unknown server gets a suggestion', async () => {
  const workspace = await makeWorkspace(named);
  expect((await qmIn(workspace, 'remove', 'z')).stderr).toContain('Configured servers: x, y.');
});
