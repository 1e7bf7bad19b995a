import { fixturePath } from '../../support/fixture-servers.ts';
import { stdioServer } from '../../support/hub.ts';

export const named = stdioServer('named-tools.mjs', ['look', 'write', 'drop']);
export const yaml = 'quartermaster.yaml';

/** A workspace in which a file of one kind keeps something from agent `tester`; it has only `up_look`. */
export interface Kind {
  /** The file that restricts. */
  readonly file: string;
  readonly text: string;
  /** All other files. */
  readonly rest: Readonly<Record<string, string>>;
}

export const lines = (...all: string[]): string => `${all.join('\n')}\n`;
const upInMcpJson = { '.mcp.json': JSON.stringify({ mcpServers: { up: named, secret: named } }) };
const command = [process.execPath, fixturePath('named-tools.mjs'), 'look', 'write', 'drop'];
const routes = lines('agents:', '  tester: { servers: [up] }');

export const kinds: Readonly<Record<string, Kind>> = {
  'rules and routes': {
    file: yaml,
    text: lines(
      'version: 1',
      'agents:',
      '  tester:',
      '    servers:',
      '      - up',
      'policies:',
      '  tools:',
      '    up.write: deny',
      '    "*.drop": deny',
    ),
    rest: upInMcpJson,
  },
  'a squad file': {
    file: '.squad/mcp-config.json',
    text: JSON.stringify({
      servers: { up: { command, tools: ['look', 'write'] } },
      agentServers: { tester: ['up'] },
      toolRestrictions: { tester: { up: { exclude: ['write'] } } },
    }),
    rest: { '.mcp.json': JSON.stringify({ mcpServers: { secret: named } }), [yaml]: 'version: 1\n' },
  },
  'a team page': {
    file: '.squad/team.md',
    text: lines('## Members', '', '| Name | Role |', '|---|---|', '| Tester | Reader |'),
    rest: {
      ...upInMcpJson,
      [yaml]: lines(
        'agents:',
        '  reader:',
        '    tools:',
        '      up: { include: [look] }',
        '      secret: { include: [] }',
      ),
    },
  },
  'an agent file': {
    file: 'catalog/agents/tester/agent.yaml',
    text: lines(
      'slug: tester',
      'requires:',
      '  mcp:',
      '    - up',
      'policies:',
      '  tools:',
      '    up.write: deny',
      '    up.drop: deny',
    ),
    rest: { ...upInMcpJson, [yaml]: 'version: 1\n' },
  },
  'a server file': {
    file: '.mcp/servers/up.yaml',
    text: lines('id: up', `command: ${JSON.stringify(command)}`, 'tools: [look]'),
    rest: { ...upInMcpJson, [yaml]: routes },
  },
  'a stronger server': {
    file: yaml,
    text: lines(
      'servers:',
      '  up:',
      `    command: ${JSON.stringify(command)}`,
      '    tools: [look]',
      'agents:',
      '  tester: { servers: [up] }',
    ),
    rest: { '.mcp.json': JSON.stringify({ mcpServers: { up: named, secret: named } }) },
  },
  'a switched-off server': {
    file: '.gemini/settings.json',
    text: JSON.stringify({
      mcpServers: { up: { ...named, includeTools: ['look'] }, secret: { ...named, disabled: true } },
    }),
    rest: { [yaml]: 'version: 1\n', '.codex/config.toml': '' },
  },
  'a map of servers': {
    file: '.roo/mcp.json',
    text: JSON.stringify({
      mcpServers: { up: { ...named, disabledTools: ['write', 'drop'] }, secret: { ...named, disabled: true } },
    }),
    rest: { [yaml]: 'version: 1\n' },
  },
  'permissions in settings': {
    file: '.zed/settings.json',
    text: JSON.stringify({
      context_servers: { up: named, secret: { ...named, enabled: false } },
      agent: {
        tool_permissions: { tools: { 'mcp:up:write': { default: 'deny' }, 'mcp:up:drop': { default: 'deny' } } },
      },
    }),
    rest: { [yaml]: 'version: 1\n' },
  },
  'an agent of Amazon Q': {
    file: '.amazonq/cli-agents/tester.json',
    text: JSON.stringify({ tools: ['@up/look'], allowedTools: ['@up', '@secret'] }),
    rest: { ...upInMcpJson, [yaml]: 'version: 1\n' },
  },
  'a former team page': {
    file: '.ai-team/team.md',
    text: lines('## Agents', '', '| Agent | Role |', '|---|---|', '| Tester | Reader |'),
    rest: {
      ...upInMcpJson,
      [yaml]: lines(
        'agents:',
        '  reader:',
        '    tools:',
        '      up: { include: [look] }',
        '      secret: { include: [] }',
      ),
    },
  },
  'variables that restrict': {
    file: '.env',
    text: lines('READ_ONLY=true', 'TOOLS=x'),
    rest: {
      '.mcp/servers/up.yaml': lines('id: up', `command: ${JSON.stringify(command)}`, 'tools: [look]'),
      '.mcp/servers/secret.yaml': lines(
        'id: secret',
        `command: ${JSON.stringify(command)}`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration.
        'options: { read_only: "${READ_ONLY:-false}" }',
      ),
      [yaml]: 'version: 1\n',
    },
  },
};
