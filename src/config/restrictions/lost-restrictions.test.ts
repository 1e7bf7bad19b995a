import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Configuration } from '../../domain/index.ts';
import { compilePolicy } from '../../governance/policy/compile-policy.ts';
import { load } from '../workspace.fixture.ts';

const up = { command: 'x', args: ['-y', 'server'] };
const local = { type: 'local', command: ['x'] };
const stdio = { type: 'stdio', command: 'x' };

/** What the agent `a` may do with the tool `drop` of each server. */
function effects({ servers, ...configuration }: Configuration, agent = 'a'): readonly string[] {
  const policy = compilePolicy({ servers, ...configuration }, [agent]);
  return [...servers].map(([name, server]) => {
    if (server.kind !== 'ready') return 'invalid';
    return server.spec.enabled ? policy.decide(name, 'drop', `${name}_drop`, null).effect : 'disabled';
  });
}

async function effectsOf(files: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const texts = Object.entries(files).map(([file, content]) => [
    file,
    typeof content === 'string' ? content : JSON.stringify(content),
  ]);
  return effects(await load(Object.fromEntries(texts)));
}

const amp = (rules: object) => ({ '.amp/settings.json': { 'amp.mcpServers': { up }, ...rules } });
const gemini = (rules: object, name = 'up') => ({ '.gemini/settings.json': { mcpServers: { [name]: up }, ...rules } });
const qwen = (rules: object) => ({ '.qwen/settings.json': { mcpServers: { up }, ...rules } });
const zed = (rules: object) => ({ '.zed/settings.json': { context_servers: { up }, ...rules } });
const crush = (rules: object) => ({ 'crush.json': { mcp: { up: stdio }, ...rules } });
const opencode = (rules: object, name = 'up') => ({ 'opencode.json': { mcp: { [name]: local }, ...rules } });
const codex = (rules: string) => ({ '.codex/config.toml': `[mcp_servers.up]\ncommand = "x"\n${rules}\n` });
const librechat = (rules: string) => ({ 'librechat.yaml': `mcpServers:\n  up: { command: x, args: [] }\n${rules}` });

test.each([
  amp({}),
  gemini({ tools: { exclude: ['mcp_other_*', 'ShellTool(rm)'] } }),
  qwen({ permissions: { deny: ['mcp__other'] } }),
  zed({ agent: { tool_permissions: { tools: {} }, profiles: { p: { enable_all_context_servers: true } } } }),
  crush({ permissions: { allowed_tools: ['view'] }, options: { disabled_skills: ['x'] } }),
  opencode({ permission: { mcp: 'allow' } }),
  codex('[mcp_servers.up.tools.drop]\napproval_mode = "auto"'),
  librechat('interface: { mcpServers: { use: true } }\n'),
  amp({
    'amp.mcpPermissions': [
      { matches: { command: 'x -y server*' }, action: 'allow' },
      { matches: { command: '*' }, action: 'reject' },
    ],
  }),
])('without a restriction the tool is allowed: %j', async (files) => {
  expect(await effectsOf(files)).toEqual(['allow']);
});

test.each([
  amp({ 'amp.tools.disable': ['drop'] }),
  amp({ 'amp.tools.disable': ['mcp__*'] }),
  amp({ 'amp.tools.disable': [{ name: 'mcp__up__drop' }] }),
  amp({ 'amp.tools.disable': ['mcp__{up,other}__drop'] }),
  amp({ 'amp.tools.enable': ['mcp__up__look'] }),
  amp({ amp: { 'tools.disable': ['mcp__up__drop'] } }),
  amp({ 'amp.permissions': [{ tool: '/^mcp__up__.*/', action: 'reject' }] }),
  amp({ 'amp.permissions': [{ tool: '{Bash,mcp__up__drop}', action: 'reject' }] }),
  amp({ 'amp.permissions': [{ tool: '?cp__up__drop', action: 'ask' }] }),
  amp({ 'amp.mcpPermissions': [{ matches: { command: 'x -y serv*' }, action: 'reject' }] }),
  amp({ 'amp.mcpPermissions': [{ matches: { command: '{x,y}' }, action: 'reject' }] }),
  {
    '.amp/settings.json': {
      'amp.mcpServers': { up: { url: 'HTTP://A.example/' } },
      'amp.mcpPermissions': [{ matches: { url: 'http://a.example/*' }, action: 'reject' }],
    },
  },
  crush({ options: { disabled_tools: [{ name: 'mcp_up_drop' }] } }),
  crush({ permissions: { denied_tools: ['mcp_up_drop'] } }),
  { ...crush({}), '.crush.json': { options: { disabled_tools: ['mcp_up_drop'] } } },
  { ...crush({}), '.crush.json': '{ "options": ' },
  codex('tools = ["look"]'),
  codex('tools = "look"'),
  codex('tools = false'),
  { '.codex/config.toml': 'disabled_mcp_servers = ["up"]\n[mcp_servers.up]\ncommand = "x"\n' },
  gemini({ tools: { exclude: ['mcp_*'] } }),
  gemini({ tools: { exclude: ['mcp_up_*'] } }),
  gemini({ tools: { exclude: ['mcp_my_server_drop'] } }, 'my server'),
  gemini({ disabledTools: ['drop'] }),
  qwen({ permissions: { deny: ['mcp__*'] } }),
  zed({ agent: { tool_permissions: 'deny' } }),
  zed({ agent: { tool_permissions: { tools: [{ 'mcp:up:drop': 'deny' }] } } }),
  zed({ agent: { profiles: { p: { context_servers: { up: { tools: { drop: false } } } } } } }),
  zed({ agent: { profiles: { p: { enable_all_context_servers: false } } } }),
  zed({ disabledTools: ['drop'] }),
  opencode({ permission: { servers_x_drop: 'deny' } }, 'servers.x'),
  opencode({ agents: { a: { tools: { up_drop: false } } } }),
  opencode({ permission: { mcp: { up_drop: 'deny' } } }),
  opencode({ permission: { mcp: 'deny' } }),
  librechat('interface: { mcpServers: false }\n'),
])(verifies('config:restrictions', 'a restriction in the settings of a client is not lost: %j'), async (files) => {
  const [effect] = await effectsOf(files);
  expect(['deny', 'ask', 'invalid', 'disabled']).toContain(effect);
});

test.each([
  gemini({ tools: { exclude: 'drop' } }),
  gemini({ tools: { exclude: [{ name: 'drop' }] } }),
  gemini({ tools: 'none' }),
  qwen({ tools: { exclude: 'drop' } }),
])('a list that is not understood makes the file unusable, and every tool is denied: %j', async (files) => {
  const { servers, policy } = await load(
    Object.fromEntries(Object.entries(files).map(([file, content]) => [file, JSON.stringify(content)])),
  );
  expect([servers.size, policy?.rules.map(({ pattern, effect }) => `${pattern} ${effect}`)]).toEqual([0, ['* deny']]);
});

test.each([
  { name: 'a', tools: ['@up', '!@up/drop'] },
  { name: 'a', tools: ['@up'], exclude: ['@up/drop'] },
])('an agent whose tools are not understood gets none: %j', async (agent) => {
  const files = {
    '.amazonq/mcp.json': JSON.stringify({ mcpServers: { up } }),
    '.amazonq/cli-agents/a.json': JSON.stringify(agent),
  };
  expect(effects(await load(files))).toEqual(['deny']);
});

test('a restriction of a weaker file that is not understood makes the server of the stronger one invalid', async () => {
  const effect = await effectsOf({
    'quartermaster.yaml': 'servers:\n  up: { command: x }\n',
    ...codex('tools = false'),
  });
  expect(effect).toEqual(['invalid']);
});
