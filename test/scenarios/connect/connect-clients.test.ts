// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { connectSchema, disconnectSchema } from '../../../src/faces/cli/json-shapes.ts';
import { verifies } from '../../support/verifies.ts';
import { agent, echo, type Machine, makeMachine } from './machine.fixture.ts';

interface Case {
  readonly client: string;
  /** Where the entry goes, and the file that has a server of the hub, which need not be the same. */
  readonly file: string;
  readonly text: string;
  readonly direct: string;
  readonly directText: string;
  /** The entry as the client reads it. */
  entryIn(content: unknown, machine: Machine): unknown;
  expected(command: readonly string[], env: object): unknown;
  readonly parse?: (text: string) => unknown;
}

const mcpServers = (name: string) => (content: unknown) =>
  (content as { mcpServers: Record<string, unknown> }).mcpServers[name];
const program = ([command, ...args]: readonly string[], env: object): object => ({ command, args, env });

/** A file with a comment, odd spaces, tabs and Windows line ends, where the client allows it. */
const odd = (key: string, more = ''): string =>
  `{\r\n\t// mine\r\n\t"${key}" : {\r\n\t\t"mine": { "command": "x", "disabled": true } /* last */\r\n\t},\r\n${more}\t"z": [1,2,\r\n3 ]\r\n}`;

const direct = JSON.stringify({ mcpServers: { echo } });

const cases: readonly Case[] = [
  {
    client: 'claude-code',
    file: '~/.claude.json',
    text: '{\n  "numStartups": 3,\n  "projects": {}\n}',
    direct: '.mcp.json',
    directText: direct,
    entryIn: (content, { workspace }) =>
      (content as { projects: Record<string, { mcpServers: { hub: unknown } }> }).projects[workspace]?.mcpServers.hub,
    expected: (command, env) => ({ type: 'stdio', ...program(command, env) }),
  },
  {
    client: 'claude-desktop',
    file: '~/.config/Claude/claude_desktop_config.json',
    text: '{"globalShortcut":"","mcpServers":{}}',
    direct: '~/.config/Claude/claude_desktop_config.json',
    directText: JSON.stringify({ mcpServers: { echo, other: { command: 'x' } } }),
    entryIn: mcpServers('hub-team'),
    expected: program,
  },
  {
    client: 'vscode',
    file: '.vscode/mcp.json',
    text: odd('servers', '\t"inputs": [],\r\n'),
    direct: '.vscode/mcp.json',
    directText: `{\n  // servers\n  "servers": {\n    "echo": ${JSON.stringify(echo)} // ours\n  }\n}\n`,
    entryIn: (content) => (content as { servers: { hub: unknown } }).servers.hub,
    expected: (command, env) => ({ type: 'stdio', ...program(command, env) }),
  },
  {
    client: 'cursor',
    file: '.cursor/mcp.json',
    text: odd('mcpServers'),
    direct: '~/.cursor/mcp.json',
    directText: direct,
    entryIn: mcpServers('hub'),
    expected: program,
  },
  {
    client: 'copilot',
    file: '~/.copilot/mcp-config.json',
    text: '{ "mcpServers": { "mine": { "type": "local", "command": "x", "args": [], "tools": ["*"] } } }\n',
    direct: '.mcp.json',
    directText: direct,
    entryIn: mcpServers('hub-team'),
    expected: (command, env) => ({ type: 'local', ...program(command, env), tools: ['*'] }),
  },
  {
    client: 'codex',
    file: '~/.codex/config.toml',
    text: 'model = "o" # mine\r\n\r\n[mcp_servers.mine]\r\ncommand = "x"\r\n[projects."/x"]\r\ntrust_level = "trusted"',
    direct: '~/.codex/config.toml',
    directText: `[mcp_servers.echo] # ours\ncommand = ${JSON.stringify(echo.command)}\nargs = ${JSON.stringify(echo.args)}\n\n[tui]\n`,
    entryIn: (content) => (content as { mcp_servers: Record<string, unknown> }).mcp_servers['hub-team'],
    expected: (command, env) => ({ ...program(command, env), required: true, startup_timeout_sec: 30 }),
    parse: parseToml,
  },
  {
    client: 'gemini',
    file: '.gemini/settings.json',
    text: odd('mcpServers', '\t"mcp": { "allowed": ["mine"] },\r\n'),
    direct: '~/.gemini/settings.json',
    directText: direct,
    entryIn: mcpServers('hub'),
    expected: program,
  },
  {
    client: 'opencode',
    file: '.opencode/opencode.json',
    text: odd('mcp'),
    direct: 'opencode.json',
    directText: `{ "mcp": { "echo": { "type": "local", "command": ${JSON.stringify([echo.command, ...echo.args])} } }, }`,
    entryIn: (content) => (content as { mcp: { hub: unknown } }).mcp.hub,
    expected: (command, environment) => ({ type: 'local', command, environment }),
  },
  {
    client: 'windsurf',
    file: '~/.codeium/windsurf/mcp_config.json',
    text: '{"mcpServers":{"mine":{"serverUrl":"http://127.0.0.1:1/mcp"}}}',
    direct: '~/.codeium/windsurf/mcp_config.json',
    directText: direct,
    entryIn: mcpServers('hub-team'),
    expected: program,
  },
  {
    client: 'zed',
    file: '.zed/settings.json',
    text: '// Zed settings\n{\n  "theme": "One",\n  "context_servers": {\n    "mine": { "source": "custom", "command": "x", "enabled": false },\n  },\n}\n',
    direct: '~/.config/zed/settings.json',
    directText: JSON.stringify({ context_servers: { echo: { command: { path: echo.command, args: echo.args } } } }),
    entryIn: (content) => (content as { context_servers: { hub: unknown } }).context_servers.hub,
    expected: program,
  },
];

describe.each(cases)('$client', (each) => {
  const { client, file, text } = each;
  const parse = each.parse ?? ((written: string): unknown => parseJsonc(written, [], { allowTrailingComma: true }));

  test(verifies('connect:files', 'the entry is added, and nothing else changes, until it is gone again'), async () => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers: { echo }, agents: { tester: { servers: ['echo'] } } });
    await machine.put(file, text);
    const before = machine.snapshot();
    const connected = await machine.connect(client);
    expect(connected.stderr).toContain(`  + `);
    expect(connected).toMatchObject({ code: 0 });
    const after = machine.read(file);
    expect(isKept(text, after)).toBe(true);
    const { QM_STATE_DIR, XDG_CONFIG_HOME } = machine.env;
    const command = [process.execPath, expect.stringMatching(/\/bin\/qm$/), 'stdio', '--agent', agent];
    const expected = each.expected([...command, '--workspace', machine.workspace], { QM_STATE_DIR, XDG_CONFIG_HOME });
    expect(each.entryIn(parse(after), machine)).toEqual(expected);
    const again = await machine.connect(client, '--json');
    expect(connectSchema.parse(JSON.parse(again.stdout))).toMatchObject({ client, files: [], transport: 'stdio' });
    const gone = await machine.disconnect(client, '--json');
    expect(disconnectSchema.parse(JSON.parse(gone.stdout))).toMatchObject({ connected: true });
    expect(machine.snapshot()).toEqual(before);
  });

  test(verifies('connect:direct', 'its own entry for a server of the hub goes off, and comes back'), async () => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { agents: { tester: { servers: ['echo'] } } });
    await machine.put(each.direct, each.directText);
    // The hub reads no file of a home folder.
    if (each.direct.startsWith('~/')) await machine.put('quartermaster.yaml', { servers: { echo } });
    const before = machine.snapshot();
    const servers = async (): Promise<unknown> => {
      const { servers: found } = JSON.parse((await machine.qm('ls', '--json')).stdout) as {
        servers: { name: string }[];
      };
      return found.map(({ name, ...rest }) => [name, 'state' in rest ? rest.state : undefined]);
    };
    const served = await servers();
    const answer = connectSchema.parse(JSON.parse((await machine.connect(client, '--json')).stdout));
    expect(answer.left).toEqual([]);
    expect(answer.switchedOff).toEqual([
      { server: 'echo', key: 'echo', file: machine.path(each.direct), how: expect.any(String) },
    ]);
    expect(await servers()).toEqual(served);
    expect((await machine.qm('doctor', '--json')).stdout).not.toContain('without the hub');
    expect((await machine.disconnect(client)).stderr).toContain(' uses these directly again: echo.');
    expect(machine.snapshot()).toEqual(before);
    expect(await servers()).toEqual(served);
  });

  test(verifies('connect:meanwhile', 'what a person adds to the file meanwhile stays'), async () => {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers: { echo } });
    await machine.put(file, text);
    expect(await machine.connect(client)).toMatchObject({ code: 0 });
    const edit = (written: string): string =>
      file.endsWith('.toml') ? `# of a person\n${written}` : written.replace(/\{/, '{ "added": { "by": "a person" },');
    await machine.put(file, edit(machine.read(file)));
    expect(await machine.disconnect(client)).toMatchObject({ code: 0 });
    expect(machine.read(file)).toBe(edit(text));
  });
});

test(verifies('connect:files', 'without any file, one is made, and removed again with its folder'), async () => {
  for (const { client, file } of cases) {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers: { echo } });
    const before = machine.snapshot();
    expect(await machine.connect(client)).toMatchObject({ code: 0 });
    expect(machine.read(file), client).toContain('stdio');
    expect(await machine.disconnect(client)).toMatchObject({ code: 0 });
    expect(machine.snapshot(), client).toEqual(before);
  }
});

test(verifies('connect:no-token', 'over HTTP the token is a variable of the client, and never in a file'), async () => {
  const written: Record<string, string> = {};
  for (const { client, file } of cases) {
    const machine = await makeMachine();
    await machine.put('quartermaster.yaml', { servers: { echo } });
    const { code, stderr } = await machine.connect(client, '--http');
    if (code !== 0) {
      expect(stderr, client).toContain('cannot reach a URL without having the token in its file');
      continue;
    }
    expect(stderr, client).toMatch(/export QM_TOKEN=\$\(.*token issue --agent tester\)/);
    written[client] = /Bearer [^"]*|bearer_token_env_var = .*/.exec(machine.read(file))?.[0] ?? '';
    expect(JSON.stringify(machine.snapshot()), client).not.toMatch(/qm_[0-9a-z]{10}_/);
    // The hub does not take its own entry for a server.
    expect((await machine.qm('ls', '--json')).stdout, client).not.toContain('"name":"hub');
  }
  expect(written).toEqual({
    'claude-code': 'Bearer ${QM_TOKEN}',
    vscode: 'Bearer ${env:QM_TOKEN}',
    cursor: 'Bearer ${env:QM_TOKEN}',
    copilot: 'Bearer ${QM_TOKEN}',
    codex: 'bearer_token_env_var = "QM_TOKEN"',
    gemini: 'Bearer ${QM_TOKEN}',
    opencode: 'Bearer {env:QM_TOKEN}',
    windsurf: 'Bearer ${env:QM_TOKEN}',
  });
});

/** What was there is still there, in its order. */
function isKept(before: string, after: string): boolean {
  let at = 0;
  for (const character of after) if (character === before[at]) at += 1;
  return at === before.length;
}
