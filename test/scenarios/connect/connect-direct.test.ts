// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  clientListSchema,
  connectPrintSchema,
  connectSchema,
  doctorSchema,
  trustSchema,
} from '../../../src/faces/cli/json-shapes.ts';
import { workspaceLayout } from '../../../src/storage/index.ts';
import { verifies } from '../../support/verifies.ts';
import { echo, type Machine, makeMachine } from './machine.fixture.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const secret = `ghp_${'aB3'.repeat(12)}`;

async function connected(
  machine: Machine,
  client: string,
  ...args: string[]
): Promise<ReturnType<typeof connectSchema.parse>> {
  const { code, stdout, stderr } = await machine.connect(client, '--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return connectSchema.parse(JSON.parse(stdout));
}

async function warnings(machine: Machine): Promise<readonly string[]> {
  const { problems } = doctorSchema.parse(JSON.parse((await machine.qm('doctor', '--json')).stdout));
  return problems.map(({ file, message }) => `${file}: ${message}`);
}

const specOf = async (machine: Machine): Promise<unknown> => {
  const { items } = trustSchema.parse(JSON.parse((await machine.qm('trust', '--show', '--json')).stdout));
  return items.map(({ name, state, transports }) => ({ name, state, transports }));
};

test(
  verifies('connect:direct', 'an entry that moves to quartermaster.yaml keeps its variables, tools and rights'),
  async () => {
    const machine = await makeMachine({ trusted: false, env: { LEVEL: 'debug' } });
    const servers = {
      echo: {
        ...echo,
        args: [...echo.args, '${workspaceFolder}/x', '${env:LEVEL}', 'a$b'],
        env: { A: '${env:LEVEL}' },
        timeout: 5000,
      },
      'a/b': { type: 'sse', url: 'http://127.0.0.1:1/sse', headers: { 'X-Level': '${env:LEVEL}' } },
    };
    await machine.put('.vscode/mcp.json', { servers, inputs: [] });
    expect(await machine.qm('trust', '--all')).toMatchObject({ code: 0 });
    const [before, specs] = [machine.snapshot(), await specOf(machine)];
    const { switchedOff, left } = await connected(machine, 'vscode');
    expect(left).toEqual([]);
    expect(switchedOff.map(({ server, key, how }) => [server, key, how])).toEqual([
      ['echo', 'echo', 'moved'],
      ['a-b', 'a/b', 'moved'],
    ]);
    const { servers: moved } = parse(machine.read('quartermaster.yaml')) as { servers: Record<string, object> };
    expect(moved.echo).toMatchObject({ env: { A: '${LEVEL}' }, limits: { timeout_s: 5 } });
    expect(moved['a-b']).toEqual({ type: 'sse', url: 'http://127.0.0.1:1/sse', headers: { 'X-Level': '${LEVEL}' } });
    expect(machine.read('.vscode/mcp.json')).not.toContain('127.0.0.1');
    // As another agent, with the same moves.
    const lead = await machine.qm('connect', 'vscode', '--agent', 'lead', '--yes', '--no-start', '--json');
    expect(connectSchema.parse(JSON.parse(lead.stdout))).toMatchObject({
      agent: 'lead',
      files: [{ path: machine.path('.vscode/mcp.json'), change: 'changed' }],
      switchedOff: [{ key: 'echo' }, { key: 'a/b' }],
    });
    // Approved before, approved now.
    const after = (await specOf(machine)) as { name: string; state: string }[];
    expect(after.map(({ name, state }) => [name, state])).toEqual([
      ['echo', 'approved'],
      ['a-b', 'approved'],
      [null, 'approved'],
    ]);
    expect(await machine.disconnect('vscode')).toMatchObject({ code: 0 });
    expect(machine.snapshot()).toEqual(before);
    expect(await specOf(machine)).toEqual(specs);
    expect((await machine.qm('ls', '--json')).stdout).not.toContain('Still using');
  },
);

test(
  verifies('connect:direct', 'an entry that would not be the same elsewhere stays, and doctor reports it'),
  async () => {
    const machine = await makeMachine({ env: { LEVEL: 'debug' } });
    await machine.put('quartermaster.yaml', { servers: { own: echo } });
    await machine.put('.cursor/mcp.json', {
      mcpServers: {
        asks: { ...echo, env: { T: '${input:token}' } },
        literal: { ...echo, env: { API_TOKEN: secret } },
      },
    });
    await machine.put('~/.cursor/mcp.json', { mcpServers: { mine: { command: 'x' } } });
    expect((await machine.qm('secret', 'set', '--from-env', 'LEVEL')).code).toBe(0);
    const before = machine.read('.cursor/mcp.json');
    const answer = await connected(machine, 'cursor', '--scope', 'user');
    expect(answer.left.map(({ key, why }) => [key, why])).toEqual([
      ['asks', 'the hub does not serve it: its configuration is invalid (`qm doctor asks` shows why)'],
      ['literal', 'it contains a secret; run `qm secret move literal` first'],
    ]);
    expect(machine.read('.cursor/mcp.json')).toBe(before);
    expect(await warnings(machine)).toContain(
      '.cursor/mcp.json: Cursor reaches server literal without the hub, by its entry "literal".',
    );
    expect(JSON.stringify(answer)).not.toContain('ghp_');
  },
);

test(
  verifies('connect:direct', 'a restriction of the client goes with its server or keeps it where it is'),
  async () => {
    const machine = await makeMachine();
    const entry = `command = ${JSON.stringify(echo.command)}\nargs = ${JSON.stringify(echo.args)}\n`;
    const text = [
      `[mcp_servers.some] # two tools\n${entry}enabled_tools = ["echo", "add"]\ndisabled_tools = ["add"]\n`,
      `[mcp_servers.asks]\n${entry}\n[mcp_servers.asks.tools.echo]\napproval_mode = "prompt"\n`,
    ].join('\n');
    await machine.put('.codex/config.toml', text);
    await machine.put('~/.codex/config.toml', `[projects."${machine.workspace}"]\ntrust_level = "trusted"\n`);
    const answer = await connected(machine, 'codex');
    expect(answer).toMatchObject({ scope: 'project', entry: 'hub' });
    expect(answer.switchedOff).toMatchObject([{ server: 'some', how: 'moved' }]);
    expect(answer.left).toMatchObject([
      { server: 'asks', why: 'it would not be the same server in quartermaster.yaml' },
    ]);
    expect(parse(machine.read('quartermaster.yaml'))).toMatchObject({
      servers: { some: { tools: ['echo', 'add'], excludeTools: ['add'] } },
    });
    expect(await machine.disconnect('codex')).toMatchObject({ code: 0 });
    expect(machine.read('.codex/config.toml')).toBe(text);
  },
);

test(
  verifies(
    'connect:direct',
    'the same program or address under another name counts, and so does the hub as another agent',
  ),
  async () => {
    const machine = await makeMachine();
    const docs = { url: 'http://127.0.0.1:1/mcp' };
    await machine.put('quartermaster.yaml', {
      servers: { echo, docs },
      agents: { tester: { servers: ['echo'] }, lead: { servers: ['echo'] } },
    });
    const hub = { command: 'qm', args: ['stdio', '--agent', 'lead', '--workspace', machine.workspace] };
    const elsewhere = { command: 'qm', args: ['stdio', '--agent', 'lead', '--workspace', '/other'] };
    const mcpServers = {
      parrot: echo,
      pages: { type: 'http', url: 'http://127.0.0.1:1/mcp/' },
      lead: hub,
      elsewhere,
      off: { ...echo, disabled: true },
      apart: { command: 'x' },
    };
    await machine.put('~/.claude.json', { mcpServers });
    const before = machine.snapshot();
    const { switchedOff } = await connected(machine, 'claude-code');
    expect(switchedOff.map(({ key, server, how }) => [key, server, how])).toEqual([
      ['parrot', 'echo', 'setting'],
      ['pages', 'docs', 'setting'],
      ['lead', 'lead', 'setting'],
      // Claude Code has no such key.
      ['off', 'echo', 'setting'],
    ]);
    const { projects } = JSON.parse(machine.read('~/.claude.json')) as {
      projects: Record<string, { disabledMcpServers: unknown }>;
    };
    expect(projects[machine.workspace]?.disabledMcpServers).toEqual(['parrot', 'pages', 'lead', 'off']);
    expect(await machine.disconnect('claude-code')).toMatchObject({ code: 0 });
    expect(machine.snapshot()).toEqual(before);
  },
);

test(
  verifies(
    'connect:doctor',
    'doctor reports what comes back later, and an entry for the hub that is gone or another one',
  ),
  async () => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers: { echo }, agents: { tester: { servers: ['echo'] } } });
    await connected(machine, 'cursor');
    expect(await warnings(machine)).toEqual([]);
    await machine.put('~/.cursor/mcp.json', { mcpServers: { echo } });
    expect(await warnings(machine)).toEqual([
      '~/.cursor/mcp.json: Cursor reaches server echo without the hub, by its entry "echo".',
    ]);
    const { stdout, code } = await machine.qm('doctor');
    expect(stdout).toContain('→ Run `qm connect cursor --agent tester`.');
    expect(code).toBe(0);
    await machine.put('.cursor/mcp.json', machine.read('.cursor/mcp.json').replace('"tester"', '"lead"'));
    await machine.put('~/.cursor/mcp.json', {});
    expect(await warnings(machine)).toEqual([
      '.cursor/mcp.json: Cursor was connected as tester, but its entry "hub" is for agent lead now.',
    ]);
    await machine.put('.cursor/mcp.json', {});
    expect(await warnings(machine)).toEqual([
      '.cursor/mcp.json: Cursor is not connected any more: its entry "hub" is gone.',
    ]);
    expect(await machine.disconnect('cursor')).toMatchObject({ code: 0 });
    expect(await warnings(machine)).toEqual([]);
  },
);

test(verifies('connect:direct', 'who keeps the own entries is told by doctor, and may change that later'), async () => {
  const machine = await makeMachine();
  await machine.put('.mcp.json', { mcpServers: { echo } });
  expect(await connected(machine, 'claude-code', '--keep-direct')).toMatchObject({ switchedOff: [], left: [] });
  expect(await warnings(machine)).toHaveLength(1);
  expect(await connected(machine, 'claude-code')).toMatchObject({ switchedOff: [{ key: 'echo' }] });
  expect(await warnings(machine)).toEqual([]);
});

test(verifies('connect:files', 'connecting again as another agent changes the entry and adds none'), async () => {
  const machine = await makeMachine();
  await machine.put('quartermaster.yaml', { servers: { echo } });
  await machine.put('~/.cursor/mcp.json', '{\n  "mcpServers": {\n    "a": {} // mine\n  }\n}\n');
  const before = machine.snapshot();
  await connected(machine, 'cursor', '--scope', 'user');
  const first = machine.read('~/.cursor/mcp.json');
  const { stderr } = await machine.qm('connect', 'cursor', '--scope', 'user', '--agent', 'lead', '--yes', '--no-start');
  expect(stderr).toMatch(/ {2}- .*"tester".*\n {2}\+ .*"lead"/);
  expect(machine.read('~/.cursor/mcp.json')).toBe(first.replace('"tester"', '"lead"'));
  const list = clientListSchema.parse(JSON.parse((await machine.qm('connect', '--json')).stdout));
  expect(list.filter(({ agent }) => agent !== null)).toEqual([
    {
      client: 'cursor',
      title: 'Cursor',
      found: machine.path('~/.cursor'),
      agent: 'lead',
      file: machine.path('~/.cursor/mcp.json'),
    },
  ]);
  const table = (await machine.qm('connect')).stdout;
  expect(table).toMatch(/CLIENT +FOUND +CONNECTED AS +IN\ncursor +~\/\.cursor +lead +~\/\.cursor\/mcp\.json\n/);
  expect(await machine.disconnect('cursor')).toMatchObject({ code: 0 });
  expect(machine.snapshot()).toEqual(before);
});

test(
  verifies('connect:scopes', 'two workspaces are connected to one client, each by an entry of its own'),
  async () => {
    const first = await makeMachine({ name: 'Team One!' });
    const second = await makeMachine({ name: 'Team One!' });
    const env = { ...second.env, HOME: first.home, XDG_CONFIG_HOME: first.env.XDG_CONFIG_HOME ?? '' };
    await first.put('~/.config/quartermaster/config.yaml', 'trust: { paths: [/] }\n');
    const { runHere } = await import('../run-here.fixture.ts');
    for (const each of [first, second]) await each.put('quartermaster.yaml', { servers: { echo } });
    const before = first.snapshot();
    expect((await connected(first, 'windsurf')).entry).toBe('hub-team-one');
    const args = ['connect', 'windsurf', '--agent', 'tester', '--yes', '--no-start', '--json'];
    const { stdout } = await runHere(args, { cwd: second.workspace, env });
    expect(connectSchema.parse(JSON.parse(stdout)).entry).toBe('hub-team-one-2');
    const { mcpServers } = JSON.parse(first.read('~/.codeium/windsurf/mcp_config.json')) as {
      mcpServers: Record<string, { args: string[] }>;
    };
    expect(Object.values(mcpServers).map(({ args: words }) => words.at(-1))).toEqual([
      first.workspace,
      second.workspace,
    ]);
    expect(await first.disconnect('windsurf')).toMatchObject({ code: 0 });
    expect(first.read('~/.codeium/windsurf/mcp_config.json')).toContain('"hub-team-one-2"');
    expect((await runHere(['disconnect', 'windsurf', '--yes'], { cwd: second.workspace, env })).code).toBe(0);
    // The file is the first one's, and the second one came later.
    expect(JSON.parse(first.read('~/.codeium/windsurf/mcp_config.json'))).toEqual({ mcpServers: {} });
    expect(Object.keys(before)).not.toContain('home/.codeium/windsurf/mcp_config.json');
  },
);

test(
  verifies('connect:private', 'previews mask secrets; backups and records are private and outside the workspace'),
  async () => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers: { gh: echo } });
    const text = `{ "mcpServers": { "gh": { "command": "x", "args": ["--pat", "${secret}"], "env": { "API_KEY": "hunter2-hunter2" } } } }\n`;
    await machine.put('~/.config/Claude/claude_desktop_config.json', text);
    const shown = await machine.qm('connect', 'claude-desktop', '--agent', 'tester');
    const done = await machine.connect('claude-desktop');
    const undone = await machine.disconnect('claude-desktop');
    const everything = JSON.stringify([shown, done, undone]);
    expect(everything).toContain('[redacted]');
    expect(everything).not.toContain('ghp_');
    expect(everything).not.toContain('hunter2');
    expect(machine.read('~/.config/Claude/claude_desktop_config.json')).toBe(text);
    const { folder, backups, connections } = workspaceLayout(machine.workspace, machine.env.QM_STATE_DIR ?? '');
    const files = readdirSync(backups).sort();
    expect(files).toHaveLength(2);
    expect(readFileSync(join(backups, files[0] ?? ''), 'utf8')).toBe(text);
    for (const file of [connections, ...files.map((name) => join(backups, name))])
      expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  },
);

test(verifies('connect:private', 'a record of a removed secret is sealed'), async () => {
  const machine = await makeMachine();
  await machine.put('quartermaster.yaml', { servers: { gh: echo } });
  await machine.put('~/.cursor/mcp.json', { mcpServers: { gh: { command: 'x', env: { API_KEY: secret } } } });
  await connected(machine, 'cursor');
  const { connections } = workspaceLayout(machine.workspace, machine.env.QM_STATE_DIR ?? '');
  expect(readFileSync(connections, 'utf8')).not.toContain('ghp_');
  expect(machine.read('~/.cursor/mcp.json')).not.toContain('ghp_');
  expect(await machine.disconnect('cursor')).toMatchObject({ code: 0 });
  expect(machine.read('~/.cursor/mcp.json')).toContain(secret);
});

test(
  verifies('connect:trust', 'without a terminal, what waits needs --trust; then nothing waits any more'),
  async () => {
    const machine = await makeMachine({ trusted: false });
    await machine.put('.mcp.json', { mcpServers: { echo } });
    const before = machine.snapshot();
    const refused = await machine.connect('claude-code');
    expect(refused).toMatchObject({ code: 6, stdout: '' });
    expect(refused.stderr).toContain(
      '1 server of this workspace is waiting for your approval. Review it with `qm trust --show`.',
    );
    expect(machine.snapshot()).toEqual(before);
    expect(await connected(machine, 'claude-code', '--trust')).toMatchObject({ switchedOff: [{ key: 'echo' }] });
    expect((await specOf(machine)) as object[]).toMatchObject([{ state: 'approved' }, { state: 'approved' }]);
  },
);

test(verifies('connect:trust', 'a file that only had the hub is not missed when it goes'), async () => {
  const machine = await makeMachine({ trusted: false });
  await machine.put('quartermaster.yaml', { servers: { echo, other: echo } });
  await connected(machine, 'cursor', '--trust');
  await machine.put('quartermaster.yaml', { servers: { echo: { ...echo, env: { A: 'b' } }, other: echo } });
  expect(await machine.qm('trust', '--all')).toMatchObject({ code: 0 });
  expect(await machine.disconnect('cursor')).toMatchObject({ code: 0 });
  const { stdout } = await machine.qm('ls', '--json');
  expect(stdout).not.toContain('Still using');
  expect(stdout).not.toContain('untrusted');
});

test('a printed entry is what would stand in an empty file, and nothing is written', async () => {
  const machine = await makeMachine();
  await machine.put('quartermaster.yaml', { servers: { echo } });
  const before = machine.snapshot();
  const { stdout, stderr } = await machine.qm('connect', 'codex', '--agent', 'tester', '--print');
  expect(stderr).toBe('For ~/.codex/config.toml:\n');
  expect(stdout).toMatch(/^\[mcp_servers\.hub-team\]\ncommand = ".*"\nargs = \[.*"stdio", "--agent", "tester".*\]\n/);
  expect(stdout).toContain('required = true\nstartup_timeout_sec = 30\n');
  const json = await machine.qm('connect', 'opencode', '--agent', 'tester', '--print', '--http', '--json');
  const printed = connectPrintSchema.parse(JSON.parse(json.stdout));
  expect(printed).toMatchObject({ entry: 'hub', scope: 'project', file: machine.path('.opencode/opencode.json') });
  expect(JSON.parse(printed.snippet)).toEqual({
    mcp: {
      hub: {
        type: 'remote',
        url: 'http://127.0.0.1:4680/mcp',
        oauth: false,
        headers: { Authorization: 'Bearer {env:QM_TOKEN}' },
      },
    },
  });
  expect(machine.snapshot()).toEqual(before);
});
