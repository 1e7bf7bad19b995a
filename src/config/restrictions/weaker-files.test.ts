import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Decision } from '../../domain/index.ts';
import { compilePolicy, describeDecision } from '../../governance/index.ts';
import { invalid, load, ready } from '../workspace.fixture.ts';

const strong = 'servers:\n  up:\n    command: x\n    enabled: true\n';

async function judge(files: Readonly<Record<string, string>>, tool: string, agent = 'a'): Promise<Decision> {
  return compilePolicy(await load(files), [agent]).decide('up', tool, `up_${tool}`, null);
}

async function explain(files: Readonly<Record<string, string>>, tool: string, agent = 'a'): Promise<string> {
  return describeDecision(await judge(files, tool, agent), 'up', tool);
}

const codex = (more: string): Record<string, string> => ({
  'quartermaster.yaml': strong,
  '.codex/config.toml': `[mcp_servers.up]\ncommand = "y"\n${more}`,
});

test(verifies('config:weaker-forbids', 'tools that a hidden entry hides stay hidden, with file and line'), async () => {
  const files = codex('disabled_tools = ["drop"]\n');
  expect(await explain(files, 'drop')).toBe(
    'up.drop is denied: it is in the exclude list of server up (.codex/config.toml:1).',
  );
  expect((await judge(files, 'look')).effect).toBe('allow');
  const { problems } = await load(files);
  expect(problems).toMatchObject([
    { severity: 'warning', message: expect.stringContaining('restrictions still apply') },
  ]);
});

test(verifies('config:weaker-forbids', 'of two lists of tools to offer both count'), async () => {
  const files = {
    ...codex('enabled_tools = ["look", "read"]\n'),
    'quartermaster.yaml': `${strong}    tools: [look, drop]\n`,
  };
  expect((await judge(files, 'look')).effect).toBe('allow');
  expect((await judge(files, 'drop')).effect).toBe('deny');
  expect((await judge(files, 'read')).effect).toBe('deny');
});

test(
  verifies('config:weaker-forbids', 'a server that a weaker file switches off is off, and it is said where'),
  async () => {
    const configuration = await load(codex('enabled = false\n'));
    expect(ready(configuration, 'up')).toMatchObject({
      enabled: false,
      disabledBy: { file: '.codex/config.toml', line: 1 },
    });
    const opencode = await load({ 'quartermaster.yaml': strong, 'opencode.json': '{"mcp":{"up":{"enabled":false}}}' });
    expect(ready(opencode, 'up')).toMatchObject({ enabled: false, disabledBy: { file: 'opencode.json', line: 1 } });
    const gemini = await load({ 'quartermaster.yaml': strong, '.gemini/settings.json': '{"mcp":{"excluded":["up"]}}' });
    expect(ready(gemini, 'up').disabledBy?.file).toBe('.gemini/settings.json');
  },
);

test(verifies('config:weaker-forbids', 'read-only, scopes, approval and rates of a weaker file hold'), async () => {
  const file = (more: string): Record<string, string> => ({
    'quartermaster.yaml': `${strong}    limits: { rate_per_min: 100 }\n`,
    '.mcp/servers/up.yaml': `command: y\n${more}`,
  });
  expect(await explain(file('scopes: [read:files]\n'), 'drop')).toContain('is read-only (.mcp/servers/up.yaml:2)');
  expect((await judge(file('scopes: []\n'), 'look')).reason.kind).toBe('no-scope');
  expect(await judge(file('permissions: { write_requires_approval: true }\n'), 'drop')).toMatchObject({
    effect: 'ask',
  });
  expect(ready(await load(file('limits: { rate_per_min: 5 }\n')), 'up').limits.ratePerMin).toBe(5);
  expect(ready(await load(file('limits: { rate_per_min: 500 }\n')), 'up').limits.ratePerMin).toBe(100);
});

test(
  verifies(
    'config:weaker-forbids',
    'a hidden entry that may contain a restriction but is not recognized is no way out',
  ),
  async () => {
    const configuration = await load(codex('denied_tool_list = ["drop"]\n'));
    expect(invalid(configuration, 'up')).toMatchObject({
      unclear: true,
      problems: [{ file: '.codex/config.toml', line: 3 }],
    });
    const harmless = await load(codex('colour = "red"\nargs = 3\n'));
    expect(ready(harmless, 'up').enabled).toBe(true);
  },
);

test('what sync made and its source restrict as one of them does', async () => {
  const made = {
    command: 'x',
    scopes: ['read:files'],
    metadata: { source: 'ops/adk/servers/up.yaml', source_digest: 'a' },
  };
  const files = {
    '.mcp/servers/up.json': JSON.stringify(made),
    'ops/adk/servers/up.yaml': 'id: up\ncommand: x\nscopes: [read:files]\ntools: [look]\n',
  };
  expect((await judge(files, 'other')).reason.kind).toBe('not-included');
});

const opencode = (settings: object): Record<string, string> => ({
  'opencode.json': JSON.stringify({ mcp: { up: { type: 'local', command: ['x'] } }, ...settings }, undefined, 1),
});

test.each<[string, object, Readonly<Record<string, Decision['effect']>>]>([
  ['a tool', { tools: { up_drop: false } }, { drop: 'deny', look: 'allow' }],
  ['a pattern', { tools: { 'up_*': false } }, { drop: 'deny', look: 'deny' }],
  ['everything', { tools: { '*': false } }, { drop: 'deny' }],
  ['all but one, the last word counts', { tools: { 'up_*': false, up_look: true } }, { drop: 'deny', look: 'allow' }],
  ['one character', { permission: { 'up_dro?': 'deny' } }, { drop: 'deny', look: 'allow' }],
  ['ask', { permission: { 'up_*': 'ask' } }, { drop: 'ask', look: 'ask' }],
  ['deny', { permission: { up_drop: 'deny' } }, { drop: 'deny', look: 'allow' }],
  ['one word for all', { permission: 'ask' }, { drop: 'ask' }],
  ['conditions, of which the strictest counts', { permission: { 'up_*': { a: 'allow', b: 'ask' } } }, { drop: 'ask' }],
  [
    'other tools',
    { permission: { bash: { 'rm *': 'deny', '*': 'ask' }, edit: 'deny' } },
    { drop: 'allow', look: 'allow' },
  ],
  ['another server', { tools: { 'upper_*': false } }, { drop: 'allow' }],
])(verifies('config:restrictions', 'OpenCode forbids %s'), async (_what, settings, expected) => {
  for (const [tool, effect] of Object.entries(expected)) {
    expect((await judge(opencode(settings), tool)).effect, tool).toBe(effect);
  }
});

test(verifies('config:restrictions', 'OpenCode’s agents have rules of their own, over those for all'), async () => {
  const files = opencode({
    tools: { 'up_*': false },
    agent: { plan: { tools: { 'up_*': true, up_drop: false } }, build: { permission: { up_look: 'ask' } } },
  });
  expect((await judge(files, 'look')).effect).toBe('deny');
  expect((await judge(files, 'look', 'plan')).effect).toBe('allow');
  expect((await judge(files, 'drop', 'plan')).effect).toBe('deny');
  expect((await judge(files, 'look', 'build')).effect).toBe('ask');
  expect(await explain(files, 'drop', 'plan')).toMatch(/rule "up_drop" for every agent applies \(opencode\.json:\d+\)/);
});

test(verifies('config:restrictions', 'OpenCode: what either of its files forbids counts for both'), async () => {
  const files = { ...opencode({}), 'opencode.jsonc': '{ "permission": { "up_drop": "deny" } }' };
  expect((await judge(files, 'drop')).effect).toBe('deny');
});

test(verifies('config:restrictions', 'OpenCode: a word that is not understood makes its servers invalid'), async () => {
  for (const settings of [{ permission: { 'up_*': 'maybe' } }, { tools: { 'up_*': 'off' } }, { tools: 3 }]) {
    expect(invalid(await load(opencode(settings)), 'up').problems[0]).toMatchObject({
      severity: 'error',
      server: 'up',
    });
  }
});

test(verifies('config:restrictions', 'OpenCode 2 has its servers one level deeper'), async () => {
  const configuration = await load({
    'opencode.json': JSON.stringify({
      mcp: {
        timeout: 5,
        servers: {
          up: { type: 'local', command: ['x'] },
          off: { type: 'remote', url: 'http://127.0.0.1:1/', disabled: true },
        },
      },
    }),
  });
  expect(configuration.problems).toEqual([]);
  expect([...configuration.servers.keys()]).toEqual(['up', 'off']);
  expect(ready(configuration, 'off').enabled).toBe(false);
});

test(
  verifies('config:restrictions', 'Gemini: tools that the settings exclude are excluded of each server'),
  async () => {
    const files = {
      '.gemini/settings.json': JSON.stringify({
        mcpServers: { up: { command: 'x' } },
        tools: { exclude: ['mcp_up_drop', 'up__cut', 'run_shell_command(rm)'] },
        excludeTools: ['wipe'],
      }),
    };
    for (const tool of ['drop', 'cut', 'wipe']) expect((await judge(files, tool)).effect, tool).toBe('deny');
    expect((await judge(files, 'look')).effect).toBe('allow');
  },
);

test(
  verifies('config:restrictions', 'a disabled entry that leads to the hub disables the server of its name'),
  async () => {
    const entry = (more: object) => JSON.stringify({ mcpServers: { up: { command: 'qm', args: ['stdio'], ...more } } });
    const off = await load({ 'quartermaster.yaml': strong, '.mcp.json': entry({ disabled: true }) });
    expect(ready(off, 'up')).toMatchObject({ enabled: false, disabledBy: { file: '.mcp.json' } });
    const weaker = JSON.stringify({ mcpServers: { up: { command: 'x' } } });
    const before = await load({ '.mcp.json': entry({ disabled: true }), '.gemini/settings.json': weaker });
    expect(ready(before, 'up').enabled).toBe(false);
    const on = await load({ 'quartermaster.yaml': strong, '.mcp.json': entry({}) });
    expect([ready(on, 'up').enabled, on.problems]).toEqual([true, []]);
  },
);

test(verifies('config:restrictions', 'a sample that is a server in another file restricts that server'), async () => {
  const named = (name: string, more: object) => JSON.stringify({ mcpServers: { [name]: { command: 'x', ...more } } });
  const own = 'servers:\n  EXAMPLE-up: { command: x }\n';
  const sample = async (more: object) => load({ 'quartermaster.yaml': own, '.mcp.json': named('EXAMPLE-up', more) });
  const hidden = compilePolicy(await sample({ disabledTools: ['drop'] }), ['a']);
  expect(hidden.decide('EXAMPLE-up', 'drop', 'drop', null).effect).toBe('deny');
  expect(hidden.decide('EXAMPLE-up', 'look', 'look', null).effect).toBe('allow');
  expect(ready(await sample({ disabled: true }), 'EXAMPLE-up').enabled).toBe(false);
  expect(invalid(await sample({ denyList: ['drop'] }), 'EXAMPLE-up').unclear).toBe(true);
  for (const name of ['EXAMPLE-up', 'EXAMPLE-my server', 'EXAMPLE- '])
    expect((await load({ '.mcp.json': named(name, {}) })).servers.size, name).toBe(0);
});

test('names that differ only in letter case are told', async () => {
  const { servers, problems } = await load({
    'quartermaster.yaml': 'servers:\n  up: { command: x }\n',
    '.mcp.json': JSON.stringify({ mcpServers: { Up: { command: 'x', disabledTools: ['drop'] } } }),
  });
  expect([...servers.keys()]).toEqual(['up', 'Up']);
  expect(problems).toMatchObject([{ severity: 'warning', file: '.mcp.json', server: 'Up' }]);
  expect(problems[0]?.message).toContain('"up" in quartermaster.yaml:2 differ only in letter case');
});
