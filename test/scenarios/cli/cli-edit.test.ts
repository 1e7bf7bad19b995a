// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { addSchema, errorSchema, lsSchema, switchSchema, toolsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult, runQm, serveQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

/** Runs a command in this process. Tests about the program, other processes or the disk use `processIn` instead. */
function qmIn(workspace: string, ...args: string[]): Promise<QmResult> {
  const env = { PATH: process.env.PATH ?? '', HOME: tmpdir() };
  return runHere(argumentsFor(workspace, args), { cwd: tmpdir(), env });
}

/** Runs a command as a process of its own. */
function processIn(workspace: string, ...args: string[]): Promise<QmResult> {
  return runQm(argumentsFor(workspace, args));
}

function argumentsFor(workspace: string, args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const at = end < 0 ? args.length : end;
  // Most of these servers do not exist. Tests with real servers start them explicitly.
  const more = args[0] === 'add' ? ['--no-start'] : [];
  return [...args.slice(0, at), ...more, '--workspace', workspace, ...args.slice(at)];
}

const configOf = (workspace: string): Promise<string> => readFile(join(workspace, 'quartermaster.yaml'), 'utf8');

async function put(workspace: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(workspace, file)), { recursive: true });
  await writeFile(join(workspace, file), text);
}

test(verifies('edit:add', 'one command leads from an empty folder to a working server'), async () => {
  const workspace = await makeWorkspace();
  const echo = [process.execPath, fixturePath('echo-stdio.mjs')];
  const added = await runQm(['add', 'echo', '--workspace', workspace, '--', ...echo]);
  expect(added).toMatchObject({ code: 0, stdout: 'Added server echo in quartermaster.yaml:5.\n' });
  expect(added.stderr).toMatch(/^It answers: 9 tools\.\nNext: .*qm connect CLIENT --agent NAME( --workspace \S+)?\n$/);
  expect(await configOf(workspace)).toMatch(
    /^# The MCP servers of this workspace.*\nversion: 1\n\nservers:\n {2}echo:\n/,
  );
  const tools = await processIn(workspace, 'tools', '--agent', 'anybody', '--json');
  expect(toolsSchema.parse(JSON.parse(tools.stdout)).map(({ name }) => name)).toContain('echo_add');
});

test(verifies('edit:formatting', 'the rest of the file is preserved byte for byte'), async () => {
  const workspace = await makeWorkspace();
  const before = [
    '# ours   ',
    'version: 1',
    'servers:',
    "  a:   {command:   'node' }  # first",
    '',
    '  # about b',
    '  b:',
    '    url:    https://b.example/mcp',
    'agents: {lead: {servers: [a,b]}}   # who',
    '# the end',
    '',
  ].join('\r\n');
  await put(workspace, 'real/config.yaml', before);
  await chmod(join(workspace, 'real/config.yaml'), 0o640);
  await symlink('real/config.yaml', join(workspace, 'quartermaster.yaml'));
  const added = await qmIn(
    workspace,
    ...['add', 'docs', '--url', 'https://docs.example/mcp', '--type', 'sse', '--header', 'X-Team: ${TEAM:-us}'],
    ...['--description', 'Docs: all', '--tools', 'read, list', '--shared', '--agent', 'lead', '--json'],
  );
  expect(added.code, added.stderr).toBe(0);
  const answer = addSchema.parse(JSON.parse(added.stdout));
  expect(answer).toEqual({
    server: 'docs',
    source: 'quartermaster.yaml:10',
    state: 'idle',
    agents: ['lead'],
    tools: null,
    problems: [],
    hub: null,
  });
  const lines = [
    ...[
      '',
      '  docs:',
      '    type: sse',
      '    url: https://docs.example/mcp',
      '    headers:',
      '      X-Team: ${TEAM:-us}',
    ],
    ...['    description: "Docs: all"', '    tools: [read, list]', '    shared: true', ''],
  ].join('\r\n');
  const url = 'https://b.example/mcp\r\n';
  const after = await configOf(workspace);
  expect(after).toBe(before.replace(url, `${url}${lines}`).replace('[a,b]', '[a,b, docs]'));
  expect((await lstat(join(workspace, 'quartermaster.yaml'))).isSymbolicLink()).toBe(true);
  expect((await stat(join(workspace, 'real/config.yaml'))).mode & 0o777).toBe(0o640);
  expect(await readdir(join(workspace, 'real'))).toEqual(['config.yaml']);
});

test(verifies('edit:refuse', 'an invalid addition is refused with the reason, and the file is unchanged'), async () => {
  const config = 'servers:\n  taken:\n    command: node\nagents:\n  lead: {servers: [taken]}\n  helper: {role: lead}\n';
  const workspace = await makeWorkspace(config);
  await put(workspace, '.mcp.json', '{"mcpServers":{"theirs":{"command":"node"}}}');
  const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  const cases: readonly [args: readonly string[], says: RegExp][] = [
    [['taken', '--', 'node'], /Server taken exists already, in quartermaster\.yaml:2\./],
    [['theirs', '--', 'node'], /Server theirs exists already, in \.mcp\.json:1\./],
    [['a b', '--', 'node'], /"a b" cannot be the name of a server/],
    [['new', 'https://a.example', 'more'], /An address takes no arguments/],
    [['npx', '--', '-y', 'pkg'], /"-y" is not a program\. Name the server before it/],
    [['new'], /How does the hub reach new\? Write `qm add new -- PROGRAM/],
    [['memory'], /There is a preset "memory"\. To use it, run `qm add memory --preset memory`\./],
    [['new', '--url', 'https://a.example', '--', 'node'], /Give one of a program/],
    [['new', '--url', 'nowhere'], /not an http or https address/],
    [['new', '--url', 'https://me:pw@a.example/'], /contains a user name or password/],
    [['new', '--url', 'https://a.example', '--env', 'A=1'], /--env does not apply to an address/],
    [['new', '--header', 'A: b', '--', 'node'], /--header does not apply to a program/],
    [['new', '--url', 'https://a.example', '--header', token], /--header needs "Name: value"/],
    [['new', '--url', 'https://a.example', '--type', 'stdio'], /does not apply to an address/],
    [
      ['new', '--url', 'https://a.example', '--header', 'Authorization: Bearer '],
      /has no value\..*'Authorization: Bearer \$\{NAME\}'/,
    ],
    [['new', '--env', 'API_KEY=', '--', 'node'], /--env API_KEY has no value\..*'API_KEY=\$\{NAME\}'/],
    [['new', '--env', 'LEVEL', '--', 'node'], /--env needs NAME=VALUE/],
    [['new', '--tools', ' , ', '--', 'node'], /--tools needs names/],
    [['new', '--', 'npx -y pkg'], /is one word.*Leave the quotes out/],
    [['new', '--cwd', '~/x', '--', 'node'], /only a shell understands/],
    [['new', '--', 'node', '${A'], /is not closed/],
    [['new', '--preset', 'nothing'], /no preset "nothing"\. Available: filesystem, /],
    [['new', '--agent', 'helper', '--', 'node'], /no list of servers \(quartermaster\.yaml:6\).*use --agent lead/],
    [
      ['new', '--url', 'https://a.example', '--header', `Authorization: Bearer ${token}`],
      /looks like a secret.*\$\{NEW_TOKEN\}/,
    ],
    [
      ['new', '--env', 'DB_PASSWORD=correcthorse', '--', 'node'],
      /env\.DB_PASSWORD looks like a secret.*\$\{DB_PASSWORD\}/,
    ],
    [['new', '--env', `X=${token}`, '--', 'node'], /env\.X looks like a secret/],
    [['new', '--', 'node', 'x.js', '--api-key', 'a1b2c3d4e5f6'], /looks like a secret/],
    [['new', '--', 'node', 'x.js', `${token}\${A}`], /looks like a secret/],
  ];
  const results = await Promise.all(cases.map(([args]) => qmIn(workspace, 'add', ...args)));
  for (const [index, [args, says]] of cases.entries()) {
    expect(results[index]?.stderr, args.join(' ')).toMatch(says);
    expect(results[index], args.join(' ')).toMatchObject({ code: 2, stdout: '' });
    expect(results[index]?.stderr).not.toContain(token);
  }
  expect(await configOf(workspace)).toBe(config);
  expect((await readdir(workspace)).sort()).toEqual(['.mcp.json', 'quartermaster.yaml']);
}, 120_000);

test('a file with an error is not changed, and the error is reported with its place', async () => {
  for (const [text, says] of [
    ['servers:\n  a: [\n', /quartermaster\.yaml:\d+: .*cannot be parsed/],
    ['servers: {}\npolcies: {}\n', /quartermaster\.yaml:2: The key "polcies" is unknown.*Did you mean "policies"/],
    ['servers: [a]\n', /quartermaster\.yaml:1: "servers" must be a map/],
  ] as const) {
    const workspace = await makeWorkspace(text);
    const result = await qmIn(workspace, 'add', 'new', '--', 'node');
    expect(result, text).toMatchObject({ code: 3, stdout: '' });
    expect(result.stderr).toMatch(says);
    expect(await configOf(workspace)).toBe(text);
  }
  const misspelled = await makeWorkspace();
  await put(misspelled, 'quartermaster.yml', 'version: 1\n');
  expect((await qmIn(misspelled, 'add', 'new', '--', 'node')).stderr).toMatch(/Rename it to quartermaster\.yaml/);
  expect(await readdir(misspelled)).not.toContain('quartermaster.yaml');
});

test('a server with an unset variable is added, and the variable is named', async () => {
  const workspace = await makeWorkspace();
  const header = 'Authorization: Bearer ${DOCS_TOKEN}';
  const args = ['add', 'docs', '--url', 'https://a.example/mcp', '--header', header, '--agent', 'scribe'];
  const added = await qmIn(workspace, ...args);
  expect(added.code).toBe(0);
  expect(added.stderr).not.toContain('No agent has it');
  expect(added.stderr).toMatch(/It is not ready yet:\n {2}error quartermaster\.yaml:8 .*variable DOCS_TOKEN/);
  await put(workspace, '.env', 'DOCS_TOKEN=abcdefgh12345678\n');
  const listed = lsSchema.parse(JSON.parse((await qmIn(workspace, 'ls', '--json')).stdout));
  expect(listed.servers).toMatchObject([{ name: 'docs', state: 'idle' }]);
});

test(verifies('edit:route', "--agent adds the server to that agent's list and reports the consequences"), async () => {
  const workspace = await makeWorkspace('servers:\n  a: {command: node}\n');
  const first = await qmIn(workspace, 'add', 'b', '--agent', 'lead', '--', 'node');
  expect(first.stderr).toMatch(
    /Added agent lead.*\nFrom now on, agents without a list of servers get shared servers only\.\n/,
  );
  const second = await qmIn(workspace, 'add', 'c', '--agent', 'lead', '--', 'node');
  expect(second.stderr).toMatch(/^Agents that have it: lead\.\n/);
  const third = await qmIn(workspace, 'add', 'd', '--', 'node');
  expect(third.stderr).toMatch(/warning No agent has it yet/);
  expect(parse(await configOf(workspace)).agents).toEqual({ lead: { servers: ['b', 'c'] } });

  const role = await makeWorkspace('servers: {}\nagents:\n  dev: {servers: []}\n  ann: {role: dev, servers: []}\n');
  const half = await qmIn(role, 'add', 'b', '--agent', 'ann', '--', 'node');
  expect(half.stderr).toMatch(/Agent ann does not have it yet: the list of its role dev must name it too\./);

  const squad = await makeWorkspace();
  const theirs = '{"servers":{"x":{"command":"node","tools":["*"]}},"agentServers":{"lead":["x"]}}';
  await put(squad, '.squad/mcp-config.json', theirs);
  const refused = await qmIn(squad, 'add', 'b', '--agent', 'lead', '--', 'node');
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toMatch(/routed in \.squad\/mcp-config\.json:1; a list in quartermaster\.yaml would replace/);
  expect(await readdir(squad)).not.toContain('quartermaster.yaml');
  const unrouted = await qmIn(squad, 'add', 'b', '--', 'node');
  expect(unrouted.stderr).toMatch(/No agent has it yet: name it in the lists of \.squad\/mcp-config\.json/);
});

test(verifies('edit:together', 'concurrent commands that change the configuration lose no change'), async () => {
  const workspace = await makeWorkspace();
  const names = ['a', 'b', 'c', 'd', 'e'];
  const results = await Promise.all(
    names.map((name) => processIn(workspace, 'add', name, '--agent', 'lead', '--', 'node')),
  );
  expect(results.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', '', '', '', '']);
  const { servers, agents } = parse(await configOf(workspace));
  expect(Object.keys(servers).sort()).toEqual(names);
  expect(agents.lead.servers.toSorted()).toEqual(names);
});

test(verifies('edit:hub', 'a running hub applies the change, and the command confirms it'), async () => {
  const workspace = await makeWorkspace('servers: {}\n');
  const hub = await serveQm(workspace);
  const added = await processIn(workspace, 'add', 'echo', '--', process.execPath, fixturePath('echo-stdio.mjs'));
  expect(added.stderr).toContain(`The hub at ${hub.url} has applied the change.`);
  const off = await processIn(workspace, 'disable', 'echo', '--json');
  expect(switchSchema.parse(JSON.parse(off.stdout))).toMatchObject({
    changed: true,
    hub: { url: hub.url, applied: true },
  });
  const ls = lsSchema.parse(JSON.parse((await processIn(workspace, 'ls', '--json')).stdout));
  expect(ls.servers).toMatchObject([{ name: 'echo', state: 'disabled' }]);
  const on = await processIn(workspace, 'enable', 'echo');
  expect(on.stderr).toContain('has applied the change');
  hub.signal('SIGTERM');
  await hub.ended();
});

const formats: readonly [file: string, before: string, off: string][] = [
  [
    'quartermaster.yaml',
    'servers:\n  x:   # it\n    command: node\n',
    'servers:\n  x:   # it\n    command: node\n    enabled: false\n',
  ],
  [
    'quartermaster.yaml',
    'servers: {x: {command: node, enabled: true}}\n',
    'servers: {x: {command: node, enabled: false}}\n',
  ],
  [
    '.mcp.json',
    '{\n\t"mcpServers": {\n\t\t"x": {\n\t\t\t"command": "node" // run\n\t\t}\n\t}\n}\n',
    '{\n\t"mcpServers": {\n\t\t"x": {\n\t\t\t"command": "node", // run\n\t\t\t"disabled": true\n\t\t}\n\t}\n}\n',
  ],
  [
    '.mcp.json',
    '{"mcpServers":{"x":{"command":"node","disabled":false}}}',
    '{"mcpServers":{"x":{"command":"node","disabled":true}}}',
  ],
  [
    '.squad/mcp-config.json',
    '{ "servers": { "x": { "command": "node" } } }',
    '{ "servers": { "x": { "command": "node", "disabled": true } } }',
  ],
  [
    '.vscode/mcp.json',
    '{"servers":{"x":{"command":"node"}}}\r\n',
    '{"servers":{"x":{"command":"node", "disabled": true}}}\r\n',
  ],
  [
    'opencode.json',
    '{"mcp":{"x":{"type":"local","command":["node"]}}}',
    '{"mcp":{"x":{"type":"local","command":["node"], "enabled": false}}}',
  ],
  ['.codex/config.toml', '[mcp_servers.x]\ncommand = "node"\n', '[mcp_servers.x]\nenabled = false\ncommand = "node"\n'],
  [
    '.codex/config.toml',
    'mcp_servers = { x = { command = "node" } } # mine\n',
    'mcp_servers = { x = { command = "node", enabled = false } } # mine\n',
  ],
  [
    '.codex/config.toml',
    'mcp_servers.x.command = "node"\r\n[tui]\r\n',
    'mcp_servers.x.command = "node"\r\nmcp_servers.x.enabled = false\r\n[tui]\r\n',
  ],
  [
    '.mcp/servers/x.yaml',
    'server_id: x\ntype: mcp\ncommand: node\n',
    'server_id: x\ntype: mcp\ncommand: node\nenabled: false\n',
  ],
  ['.mcp/servers/x.json', '{"id":"x","command":"node"}', '{"id":"x","command":"node", "disabled": true}'],
];

test.each(formats)(
  verifies('edit:switch', 'a server in %s is disabled and enabled in its own file'),
  async (file, before, off) => {
    const workspace = await makeWorkspace();
    await put(workspace, file, before);
    const path = join(workspace, file);
    const disabled = await qmIn(workspace, 'disable', 'x');
    expect(disabled.stderr).toBe('');
    expect(disabled).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Server x is disabled in ${file}:`),
    });
    expect(await readFile(path, 'utf8')).toBe(off);
    expect((await qmIn(workspace, 'ls', '--json')).stdout).toContain('"state":"disabled"');
    expect(await qmIn(workspace, 'enable', 'x')).toMatchObject({ code: 0 });
    expect(await readFile(path, 'utf8')).toBe(
      off
        .replace('disabled": true', 'disabled": false')
        .replace('disabled":true', 'disabled":false')
        .replace(/enabled("?:| =) false/, 'enabled$1 true'),
    );
  },
);

test('a server that already has the requested state is reported, and its file is not written', async () => {
  const config = 'servers: {x: {command: node}, y: {command: node, enabled: false}}\n';
  const workspace = await makeWorkspace(config);
  const on = await qmIn(workspace, 'enable', 'x');
  expect(on).toMatchObject({ code: 0, stdout: 'Server x is already enabled (quartermaster.yaml:1).\n', stderr: '' });
  const off = await qmIn(workspace, 'disable', 'y', '--json');
  expect(switchSchema.parse(JSON.parse(off.stdout))).toMatchObject({ enabled: false, changed: false });
  expect(await configOf(workspace)).toBe(config);
});

test('if a format has no switch, or no such server exists, the command suggests the next step', async () => {
  const workspace = await makeWorkspace();
  const manifest = '{ "name": "p", "mcp": { "servers": [{ "name": "x", "command": "node" }] } }\n';
  await put(workspace, 'product.json', manifest);
  const inList = await qmIn(workspace, 'disable', 'x');
  expect(inList).toMatchObject({ code: 2, stdout: '' });
  expect(inList.stderr).toMatch(/product\.json:\d+.*"x\.\*": deny/);
  expect(await readFile(join(workspace, 'product.json'), 'utf8')).toBe(manifest);
  const unknown = await qmIn(workspace, 'disable', 'y', '--json');
  expect(unknown.code).toBe(2);
  expect(errorSchema.parse(JSON.parse(unknown.stderr)).error).toMatchObject({
    code: 'SERVER_UNKNOWN',
    hint: 'Configured servers: x.',
  });
});

test('a missing server is not called unknown while a file cannot be read', async () => {
  const workspace = await makeWorkspace('servers: [');
  const result = await qmIn(workspace, 'disable', 'x');
  expect(result).toMatchObject({ code: 3, stdout: '' });
  expect(result.stderr).toMatch(/quartermaster\.yaml:\d+: .*cannot be parsed.*Nothing was changed/);
});

test('a server with an unset variable can be disabled, and is then no longer invalid', async () => {
  const workspace = await makeWorkspace('servers:\n  x:\n    command: ${NOWHERE}\n');
  expect((await qmIn(workspace, 'ls')).code).toBe(3);
  expect((await qmIn(workspace, 'disable', 'x')).stdout).toBe('Server x is disabled in quartermaster.yaml:2.\n');
  expect((await qmIn(workspace, 'ls')).code).toBe(0);
  const on = await qmIn(workspace, 'enable', 'x');
  expect(on.code).toBe(0);
  expect(on.stderr).toMatch(/error quartermaster\.yaml:3 .*variable NOWHERE/);
});

test(verifies('edit:disk', 'a full or read-only disk leaves the file unchanged and no other file behind'), async () => {
  const workspace = await makeWorkspace();
  const disk = join(workspace, 'disk');
  const config = 'servers: {}\n# ours\n';
  await put(workspace, 'disk/q.yaml', config);
  await symlink(join(disk, 'q.yaml'), join(workspace, 'quartermaster.yaml'));
  const preload = pathToFileURL(join(import.meta.dirname, '..', '..', 'support', 'failing-disk.mjs')).href;
  const addWhen = (error: string): Promise<QmResult> =>
    runQm(['add', 'a', '--no-start', '--workspace', workspace, '--', 'node'], {
      env: { NODE_OPTIONS: `--import=${preload}`, FAILING_DISK: disk, DISK_ERROR: error },
    });
  const full = await addWhen('ENOSPC');
  expect(full.stderr).toMatch(/Cannot write quartermaster\.yaml \(ENOSPC\); it is as it was\. The disk is full/);
  const locked = await addWhen('EROFS');
  expect(locked.stderr).toMatch(
    /Cannot write quartermaster\.yaml \(EROFS\); it is as it was\. The file system is read-only/,
  );
  expect([full.code, locked.code]).toEqual([3, 3]);
  expect(await readdir(disk)).toEqual(['q.yaml']);
  expect(await readFile(join(disk, 'q.yaml'), 'utf8')).toBe(config);
  expect((await processIn(workspace, 'add', 'a', '--', 'node')).code).toBe(0);
});
