import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { errorSchema } from '../../../src/faces/cli/json-shapes.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';
import { runQm } from '../qm.fixture.ts';
import { runOnScreen } from '../screen.fixture.ts';
import { agent, echo, type Machine, type MachineOptions, makeMachine } from './machine.fixture.ts';

const team = { servers: { echo }, agents: { tester: { servers: ['echo'] }, lead: { servers: ['echo'] } } };

async function open(options?: MachineOptions): Promise<Machine> {
  const machine = await makeMachine(options);
  await machine.put('quartermaster.yaml', team);
  return machine;
}

test.each([
  ['claude-desktop', '~/.config/Claude/claude_desktop_config.json', '{\n  "mcpServers": {\n    "a": {\n  }\n}\n', 6],
  ['vscode', '~/.config/Code/User/mcp.json', '"mcp": {', 1],
  ['codex', '~/.codex/config.toml', '[a]\nb = 1\nb = 2\n', 3],
])(
  verifies('connect:refuse', 'a broken file of %s is named with its line and left alone'),
  async (client, file, text, line) => {
    const machine = await open();
    await machine.put(file, text);
    const before = machine.snapshot();
    const scope = client === 'vscode' ? ['--scope', 'user'] : [];
    const { code, stderr } = await machine.connect(client, ...scope);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(`${file}:${line} cannot be parsed`) });
    expect(stderr).toContain('Nothing was written');
    expect(machine.snapshot()).toEqual(before);
  },
);

test(verifies('connect:refuse', 'a file that needs no change may be broken, and that is said'), async () => {
  const machine = await open();
  await machine.put('~/.cursor/mcp.json', '{ "mcpServers": ');
  const { code, stderr } = await machine.connect('cursor');
  expect(code).toBe(0);
  expect(stderr).toContain('~/.cursor/mcp.json:1 cannot be parsed');
  expect(stderr).toContain('Its servers were not looked at.');
});

test.each([
  ['a list where servers belong', '{"mcpServers": []}'],
  ['the same key twice', '{"mcpServers": {}, "mcpServers": {}}'],
])(verifies('connect:refuse', '%s: the file cannot be edited, and nothing is written'), async (_what, text) => {
  const machine = await open();
  await machine.put('~/.codeium/windsurf/mcp_config.json', text);
  const { code, stderr } = await machine.connect('windsurf');
  expect(code).toBe(3);
  expect(stderr).toContain('mcp_config.json has a form that this command cannot edit');
  expect(machine.read('~/.codeium/windsurf/mcp_config.json')).toBe(text);
});

test(verifies('connect:refuse', 'a disk that cannot be written leaves everything as it was'), async () => {
  const machine = await open();
  await machine.put('~/.cursor/mcp.json', { mcpServers: { echo } });
  const before = [machine.snapshot(), existsSync(machine.path('.cursor'))];
  const preload = pathToFileURL(join(import.meta.dirname, '..', '..', 'support', 'failing-disk.mjs')).href;
  const env = {
    ...machine.env,
    NODE_OPTIONS: `--import=${preload}`,
    FAILING_DISK: machine.path('.cursor'),
    DISK_ERROR: 'EROFS',
    QM_FOREGROUND: '1',
  };
  const args = ['connect', 'cursor', '--agent', agent, '--yes', '--no-start', '--workspace', machine.workspace];
  const { code, stderr } = await runQm(args, { env });
  expect(code).toBe(3);
  expect(stderr).toContain('Cannot write .cursor/mcp.json (EROFS)');
  expect([machine.snapshot(), existsSync(machine.path('.cursor'))]).toEqual(before);
  expect(await machine.disconnect('cursor')).toMatchObject({
    stdout: expect.stringContaining('is not connected'),
  });
});

test(verifies('connect:refuse', 'a file that changes between the preview and the answer is not written'), async () => {
  const machine = await open();
  await machine.put('~/.cursor/mcp.json', '{}\n');
  const screen = runOnScreen(['connect', 'cursor', '--agent', agent, '--scope', 'user', '--no-start'], {
    workspace: machine.workspace,
    columns: 120,
    env: machine.env,
  });
  await eventually(() => screen.stderr().includes('Write this? [Y/n]') || undefined, 'the question');
  await machine.put('~/.cursor/mcp.json', '{ "a": 1 }\n');
  const before = machine.snapshot();
  screen.type('\r');
  expect(await within(screen.ended, 'the command to end')).toBe(1);
  expect(screen.stderr()).toContain('~/.cursor/mcp.json was changed by somebody else');
  expect(machine.snapshot()).toEqual(before);
  expect(await machine.disconnect('cursor')).toMatchObject({
    stdout: expect.stringContaining('is not connected'),
  });
});

test(verifies('connect:refuse', 'a link in the workspace that leads out of it is not followed'), async () => {
  const machine = await open();
  await machine.put('~/private.json', '{ "mcpServers": {} }\n');
  await mkdir(machine.path('.cursor'));
  await symlink(machine.path('~/private.json'), machine.path('.cursor/mcp.json'));
  await mkdir(machine.path('~/elsewhere'));
  await symlink(machine.path('~/elsewhere'), machine.path('.zed'));
  const before = machine.snapshot();
  for (const client of ['cursor', 'zed']) {
    const { code, stderr } = await machine.connect(client);
    expect(code).toBe(3);
    expect(stderr).toContain('is a link that leads out of the workspace');
  }
  expect(machine.snapshot()).toEqual(before);
  // Reading is no harm.
  await machine.put('~/shared/mcp.json', { mcpServers: { echo } });
  await symlink(machine.path('~/shared/mcp.json'), machine.path('.mcp.json'));
  expect(await machine.connect('claude-code')).toMatchObject({ code: 0 });
  expect(machine.read('~/.claude.json')).toContain('"disabledMcpServers": ["echo"]');
});

test(verifies('connect:files', 'a link in the home folder stays a link, and its target gets the entry'), async () => {
  const machine = await open();
  await machine.put('~/dotfiles/mcp.json', '\ufeff{ "mcpServers": {} }');
  await mkdir(machine.path('~/.cursor'));
  await symlink(machine.path('~/dotfiles/mcp.json'), machine.path('~/.cursor/mcp.json'));
  const { code, stderr } = await machine.connect('cursor', '--scope', 'user');
  expect(code).toBe(0);
  expect(stderr).toContain('a link to ~/dotfiles/mcp.json');
  expect(machine.read('~/dotfiles/mcp.json')).toMatch(/^\ufeff\{ "mcpServers": \{"hub-team": /);
  expect(lstatSync(machine.path('~/.cursor/mcp.json')).isSymbolicLink()).toBe(true);
  expect(await machine.disconnect('cursor')).toMatchObject({ code: 0 });
  expect(machine.read('~/dotfiles/mcp.json')).toBe('\ufeff{ "mcpServers": {} }');
  expect(lstatSync(machine.path('~/.cursor/mcp.json')).isSymbolicLink()).toBe(true);
});

test(verifies('connect:refuse', 'unknown clients, agents and scopes get the one that was meant'), async () => {
  const machine = await open();
  const says = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await machine.qm(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };
  expect(await says('connect', 'curser', '--agent', agent)).toContain(
    'No client is called "curser". Did you mean cursor?',
  );
  expect(await says('connect', 'cloud-desktop', '--agent', agent)).toContain('Did you mean claude-desktop?');
  expect(await says('connect', 'emacs', '--agent', agent)).toContain('Known clients: claude-code, ');
  expect(await says('connect', 'cursor')).toContain(
    'As which agent should Cursor use the hub? Add --agent NAME. Configured agents: tester, lead.',
  );
  expect(await says('connect', 'cursor', '--agent', 'testr')).toContain(
    'No agent "testr" is configured. Did you mean tester?',
  );
  expect(await says('connect', 'cursor', '--agent', 'other')).toContain('Configured agents: tester, lead.');
  expect(await says('connect', 'cursor', '--agent', 'a b')).toContain('cannot be the name of an agent');
  expect(await says('connect', 'cursor', '--agent', agent, '--scope', 'local')).toContain('Use one of: project, user.');
  expect(await says('connect', 'cursor', '--agent', agent, '--http', '--token-variable', 'TOKEN')).toContain(
    'Use QM_TOKEN',
  );
  expect(await says('connect', 'cursor', '--agent', agent)).toContain(
    'there is no terminal to ask. Add --yes to agree.',
  );
  expect(await says('connect', 'cursor', '--agent', agent, '--json')).toContain('"code":"USAGE"');
  expect(await says('disconnect', 'curser')).toContain('Did you mean cursor?');
});

test(verifies('connect:refuse', 'without a home folder or without a server there is nothing to connect'), async () => {
  const machine = await makeMachine();
  const { stderr, code } = await machine.connect('cursor');
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('so Cursor would get no tools') });
  await machine.put('quartermaster.yaml', team);
  const { HOME: _home, ...env } = machine.env;
  const homeless = await runQm(
    ['connect', 'cursor', '--agent', agent, '--yes', '--workspace', machine.workspace, '--json'],
    {
      env: { ...env, HOME: '' },
    },
  );
  expect(homeless.code).toBe(3);
  expect(errorSchema.parse(JSON.parse(homeless.stderr)).error.message).toContain('HOME is not set');
  await machine.put('.mcp.json', '{');
  const broken = await machine.connect('cursor');
  expect(broken).toMatchObject({ code: 3, stderr: expect.stringContaining('.mcp.json:1') });
  expect(broken.stderr).toContain('Nothing was changed');
});

test('a client that was never connected is not disconnected, and nothing is written', async () => {
  const machine = await open();
  const before = machine.snapshot();
  expect(await machine.qm('disconnect', 'zed')).toMatchObject({
    code: 0,
    stdout: 'Zed is not connected to this workspace. Nothing was changed.\n',
  });
  expect(machine.snapshot()).toEqual(before);
});

test(verifies('connect:meanwhile', 'an entry that was changed by hand is undone only on request'), async () => {
  const machine = await open();
  await machine.put('~/.cursor/mcp.json', '{ "mcpServers": {} }\n');
  await machine.connect('cursor', '--scope', 'user');
  const changed = machine.read('~/.cursor/mcp.json').replace('"tester"', '"lead"');
  await machine.put('~/.cursor/mcp.json', changed);
  const refused = await machine.disconnect('cursor');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('was changed since (~/.cursor/mcp.json: mcpServers.hub-team)');
  expect(refused.stderr).toContain('Add --force to undo it all the same.');
  expect(machine.read('~/.cursor/mcp.json')).toBe(changed);
  expect(await machine.disconnect('cursor', '--force')).toMatchObject({ code: 0 });
  expect(machine.read('~/.cursor/mcp.json')).toBe('{ "mcpServers": {} }\n');
});

test(verifies('connect:scopes', 'a file that git tracks is not taken unasked, and the reason is given'), async () => {
  const machine = await open({ git: true });
  await machine.put('.cursor/mcp.json', '{}\n');
  const first = await machine.connect('cursor');
  expect(first.stderr).toContain('git does not ignore it: do not commit it');
  const undone = await machine.disconnect('cursor');
  expect(undone).toMatchObject({ code: 0, stderr: expect.not.stringContaining('git does not ignore it') });
  execFileSync('git', ['-C', machine.workspace, 'add', '.cursor/mcp.json']);
  const second = await machine.connect('cursor');
  expect(second.stderr).toContain('.cursor/mcp.json is tracked by git, and the entry has paths on this machine.');
  expect(second.stdout).toContain('by "hub-team" in ~/.cursor/mcp.json');
  expect(machine.read('.cursor/mcp.json')).toBe('{}\n');
  const asked = await machine.connect('cursor', '--scope', 'project');
  expect(asked.stdout).toContain('by "hub" in .cursor/mcp.json');
  expect(asked.stderr).toContain('tracked by git');
  // The entry moved: there is one.
  expect(JSON.stringify(machine.snapshot())).not.toContain('hub-team');
  await writeFile(machine.path('.gitignore'), '.cursor\n.zed\n');
  const { stderr } = await machine.connect('zed');
  expect(stderr).not.toContain('git does not ignore it');
  expect(readFileSync(machine.path('.zed/settings.json'), 'utf8')).toContain('stdio');
});

test(verifies('connect:shared-files', 'the preview warns before an entry leaves a file that git tracks'), async () => {
  const machine = await open({ git: true });
  await machine.put('.vscode/mcp.json', { servers: { docs: { type: 'http', url: 'http://127.0.0.1:1/mcp' } } });
  execFileSync('git', ['-C', machine.workspace, 'add', '.vscode/mcp.json']);
  const { stderr, code } = await machine.connect('vscode', '--scope', 'project');
  expect(code).toBe(0);
  expect(stderr).toContain('.vscode/mcp.json  tracked by git; if you commit this, your teammates lose the entries');
  // The moved entry has no path of this machine.
  expect(stderr).toMatch(/^quartermaster\.yaml( {2}new file)?$/m);
});

test('a mistyped agent is refused before anything is approved', async () => {
  const machine = await makeMachine({ trusted: false });
  await machine.put('quartermaster.yaml', { servers: { echo }, agents: { tester: { servers: ['echo'] } } });
  const refused = await machine.qm('connect', 'cursor', '--agent', 'Tester', '--trust', '--yes', '--no-start');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean tester?') });
  expect((await machine.qm('trust')).code).toBe(6);
});
