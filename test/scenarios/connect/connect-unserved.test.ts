// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { connectSchema, doctorSchema } from '../../../src/faces/cli/json-shapes.ts';
import { verifies } from '../../support/verifies.ts';
import { echo, type Machine, makeMachine } from './machine.fixture.ts';

/** A server that works, one that is disabled, and one that lacks a secret. */
const servers = { echo, off: { ...echo, enabled: false }, broken: { ...echo, env: { T: '${MISSING_TOKEN}' } } };

const own = { off: { command: 'x' }, broken: { command: 'y' }, apart: { command: 'z' } };

const reasons = {
  off: 'it is disabled in quartermaster.yaml:9',
  broken: 'its configuration is invalid (`qm doctor broken` shows why)',
};

async function clientProblems(machine: Machine): Promise<readonly (readonly [string, string | undefined])[]> {
  const { problems } = doctorSchema.parse(JSON.parse((await machine.qm('doctor', '--json')).stdout));
  return problems.filter(({ file }) => file.startsWith('~/')).map(({ message, fix }) => [message, fix]);
}

test(
  verifies('connect:direct', 'a client with a switch stops using servers that the hub has and does not serve'),
  async () => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers });
    await machine.put('~/.claude.json', { mcpServers: own });
    const before = machine.snapshot();
    const { stderr } = await machine.connect('claude-code');
    expect(stderr).toContain('The hub does not serve these, so Claude Code stops using them too:\n');
    expect(stderr).toContain(`  off  ~/.claude.json, switched off by a setting of Claude Code; ${reasons.off}\n`);
    expect(stderr).toContain(`  broken  ~/.claude.json, switched off by a setting of Claude Code; ${reasons.broken}\n`);
    expect(stderr).not.toContain('apart');
    expect(machine.read('~/.claude.json')).toContain('"disabledMcpServers": ["off", "broken"]');
    expect(await clientProblems(machine)).toEqual([]);
    expect(await machine.disconnect('claude-code')).toMatchObject({ code: 0 });
    expect(machine.snapshot()).toEqual(before);
  },
);

test(
  verifies('connect:doctor', 'entries that stay are listed with the reason and a way out, by connect and by doctor'),
  async () => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers });
    await machine.put('~/.cursor/mcp.json', { mcpServers: own });
    const before = machine.read('~/.cursor/mcp.json');
    const { stderr } = await machine.connect('cursor');
    expect(stderr).toContain('warning Cursor still reaches these without the hub:\n');
    expect(stderr).toContain(`  off  ~/.cursor/mcp.json: the hub does not serve it: ${reasons.off}\n`);
    expect(stderr).toContain(`  broken  ~/.cursor/mcp.json: the hub does not serve it: ${reasons.broken}\n`);
    expect(stderr).toContain(
      'To stop that, remove the entry from the file yourself, or let the hub serve the server and connect again.',
    );
    expect(machine.read('~/.cursor/mcp.json')).toBe(before);
    const fix = 'Remove the entry from ~/.cursor/mcp.json yourself, or let the hub serve the server.';
    expect(await clientProblems(machine)).toEqual([
      [
        `Cursor reaches server off without the hub, by its entry "off". The hub does not serve it: ${reasons.off}.`,
        fix,
      ],
      [
        `Cursor reaches server broken without the hub, by its entry "broken". The hub does not serve it: ${reasons.broken}.`,
        fix,
      ],
    ]);
  },
);

test(verifies('connect:direct', 'a server that you declined is listed with that reason'), async () => {
  const machine = await makeMachine({ trusted: false });
  await machine.put('quartermaster.yaml', { servers: { echo } });
  expect(await machine.qm('trust', '--all')).toMatchObject({ code: 0 });
  await machine.put('.mcp.json', { mcpServers: { late: echo } });
  expect(await machine.qm('trust', '--decline', 'late')).toMatchObject({ code: 0 });
  const { stdout } = await machine.connect('vscode', '--scope', 'user', '--json');
  expect(connectSchema.parse(JSON.parse(stdout)).left.map(({ key, why }) => [key, why])).toEqual([
    ['late', 'the hub does not serve it: you declined it'],
  ]);
});

test.each([
  ['codex', '~/.codex/config.toml', '[mcp_servers.echo]\ncommand = "x"\nenabled = false\n'],
  [
    'windsurf',
    '~/.codeium/windsurf/mcp_config.json',
    '{ "mcpServers": { "echo": { "command": "x", "disabled": true } } }',
  ],
  ['zed', '~/.config/zed/settings.json', '{ "context_servers": { "echo": { "command": "x", "enabled": false } } }'],
  [
    'opencode',
    '~/.config/opencode/opencode.json',
    '{ "mcp": { "echo": { "type": "local", "command": ["x"], "enabled": false } } }',
  ],
])(
  verifies('connect:direct', '%s does not use an entry that is off in its file, so the entry stays'),
  async (client, file, text) => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers: { echo } });
    await machine.put(file, text);
    const { stdout } = await machine.connect(client, '--json');
    expect(connectSchema.parse(JSON.parse(stdout))).toMatchObject({ switchedOff: [], left: [] });
  },
);

test(verifies('connect:direct', 'Cursor ignores `disabled`, so an entry with that key counts'), async () => {
  const machine = await makeMachine();
  await machine.put('quartermaster.yaml', { servers: { echo } });
  await machine.put('~/.cursor/mcp.json', { mcpServers: { echo: { ...echo, disabled: true } } });
  const { stdout } = await machine.connect('cursor', '--json');
  expect(connectSchema.parse(JSON.parse(stdout)).switchedOff).toMatchObject([{ key: 'echo', how: 'removed' }]);
});
