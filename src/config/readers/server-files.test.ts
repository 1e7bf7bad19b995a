// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Configuration } from '../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../workspace.fixture.ts';

function one(
  text: string,
  env: Readonly<Record<string, string>> = {},
  file = '.mcp/servers/s.yaml',
): Promise<Configuration> {
  return load({ [file]: text }, env);
}

test.each([
  ['filesystem', '@modelcontextprotocol/server-filesystem@2025.8.21', ['.'], ['read:files', 'write:files'], 60, 30],
  ['git', '@modelcontextprotocol/server-git@1.0.0', ['--repository', '.'], ['read:git', 'write:git'], 30, 60],
  ['memory', '@modelcontextprotocol/server-memory@2025.9.25', [], ['read:memory', 'write:memory'], 120, 20],
  ['fetch', '@modelcontextprotocol/server-fetch@1.0.0', [], ['read:web'], 30, 30],
  ['pg-readonly', '@modelcontextprotocol/server-postgres@1.0.0', ['${PG_RO_URL}'], ['read:tables'], 120, 30],
  [
    'custom-api',
    '@myorg/mcp-server-custom@1.0.0',
    ['--api-key', '${CUSTOM_API_KEY}'],
    ['read:api', 'write:api'],
    60,
    30,
  ],
  ['docs', '@modelcontextprotocol/server-filesystem@2025.8.21', ['./docs'], ['read:files'], 60, 30],
])(verifies('config:server-files', 'the flat form: %s'), async (id, program, more, scopes, rate, timeout) => {
  const env = { PG_RO_URL: 'postgresql://readonly:hidden-word@localhost/db', CUSTOM_API_KEY: 'key-of-custom' };
  const file = `.mcp/servers/${id}.yaml`;
  const list = (items: readonly string[]): string => items.map((item) => `\n  - ${JSON.stringify(item)}`).join('');
  const text = `# ${file}\nserver_id: ${id}\ntype: mcp\ncommand: npx\nargs:${list(['-y', program, ...more])}
description: What it is for\nscopes:${list(scopes)}\nlimits:\n  rate_per_min: ${rate}      # a minute\n  timeout_s: ${timeout}\n`;
  const configuration = await one(text, env, file);
  expect(configuration.problems).toEqual([]);
  const expanded = more.map((text) =>
    text.replace('${PG_RO_URL}', env.PG_RO_URL).replace('${CUSTOM_API_KEY}', env.CUSTOM_API_KEY),
  );
  expect(ready(configuration, id)).toMatchObject({
    source: { file, line: 2 },
    description: 'What it is for',
    transport: { type: 'stdio', command: 'npx', args: ['-y', program, ...expanded], cwd: configuration.workspace },
    limits: { timeoutMs: timeout * 1_000, ratePerMin: rate },
    access: { scopes, readOnly: false, writeRequiresApproval: false },
  });
});

const notion = `id: notion
version: "1"
description: "Notion (HTTP first)"
transport:
  type: http
  url: "https://mcp.notion.com/mcp"
fallback:
  - type: sse
    url: "https://mcp.notion.com/sse"
  - type: stdio
    command: "npx"
    args: ["-y", "mcp-remote", "https://mcp.notion.com/mcp"]
permissions:
  scope: ["read:pages", "read:databases"]
notes: "Streamable HTTP is primary."
`;

test(verifies('config:server-files', 'the newest form: fallbacks in their order'), async () => {
  const configuration = await one(notion, {}, 'ops/adk/servers/notion.yaml');
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'notion')).toMatchObject({
    transport: { type: 'http', url: 'https://mcp.notion.com/mcp', headers: {} },
    fallbacks: [
      { type: 'sse', url: 'https://mcp.notion.com/sse' },
      { type: 'stdio', command: 'npx', args: ['-y', 'mcp-remote', 'https://mcp.notion.com/mcp'] },
    ],
    access: { scopes: ['read:pages', 'read:databases'], source: { file: 'ops/adk/servers/notion.yaml', line: 13 } },
  });
});

const supabase = `id: supabase
version: "1"
transport:
  type: http
  url: "https://mcp.supabase.com/mcp\${MAGSAG_MCP_SUPABASE_PROJECT_REF:+?project_ref=\${MAGSAG_MCP_SUPABASE_PROJECT_REF}}"
  headers:
    Authorization: "\${MAGSAG_MCP_SUPABASE_ACCESS_TOKEN:+Bearer \${MAGSAG_MCP_SUPABASE_ACCESS_TOKEN}}"
options:
  read_only: "\${MAGSAG_MCP_SUPABASE_READONLY:true}"
permissions:
  scope: ["db:select", "db:describe"]
notes: "Use browser OAuth by default."
`;

test.each([
  [{}, 'https://mcp.supabase.com/mcp?read_only=true', {}, true],
  [
    { MAGSAG_MCP_SUPABASE_PROJECT_REF: 'ref', MAGSAG_MCP_SUPABASE_ACCESS_TOKEN: 'token-of-supabase' },
    'https://mcp.supabase.com/mcp?project_ref=ref&read_only=true',
    { Authorization: 'Bearer token-of-supabase' },
    true,
  ],
  [{ MAGSAG_MCP_SUPABASE_READONLY: 'false' }, 'https://mcp.supabase.com/mcp?read_only=true', {}, false],
  [{ MAGSAG_MCP_SUPABASE_READONLY: 'perhaps' }, 'https://mcp.supabase.com/mcp?read_only=true', {}, true],
])(
  verifies('config:server-files', 'variables in address, headers and options: %j'),
  async (env, url, headers, readOnly) => {
    const configuration = await one(supabase, env as Readonly<Record<string, string>>, 'ops/adk/servers/supabase.yaml');
    expect(configuration.problems).toEqual([]);
    expect(ready(configuration, 'supabase')).toMatchObject({ transport: { url, headers }, access: { readOnly } });
  },
);

test('a write that needs approval, and a program with defaults in its environment', async () => {
  const configuration = await load(
    {
      'ops/adk/servers/github.yaml': `id: github
version: "1"
transport:
  type: http
  url: "https://api.githubcopilot.com/mcp/"
  headers:
    Authorization: "\${MAGSAG_MCP_GITHUB_PAT:+Bearer \${MAGSAG_MCP_GITHUB_PAT}}"
permissions:
  write_requires_approval: true
`,
      'ops/adk/servers/obsidian.yml': `id: obsidian
transport:
  type: stdio
  command: "uvx"
  args: ["mcp-obsidian"]
  env:
    OBSIDIAN_API_KEY: "\${OBSIDIAN_API_KEY}"
    OBSIDIAN_HOST: "\${OBSIDIAN_HOST:-127.0.0.1}"
    OBSIDIAN_PORT: "\${OBSIDIAN_PORT:-27124}"
permissions:
  scope: ["vault:read", "vault:write"]
`,
    },
    { OBSIDIAN_API_KEY: 'key-of-obsidian' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'github')).toMatchObject({
    transport: { headers: {} },
    access: { writeRequiresApproval: true, source: { line: 8 } },
  });
  expect(ready(configuration, 'obsidian').transport).toMatchObject({
    env: { OBSIDIAN_API_KEY: 'key-of-obsidian', OBSIDIAN_HOST: '127.0.0.1', OBSIDIAN_PORT: '27124' },
  });
});

test(
  verifies('config:server-files', 'what sync makes hides its own source without a word, unless that has changed'),
  async () => {
    const synced = {
      description: 'Files',
      fallback: [],
      id: 'filesystem',
      limits: { rate_per_min: 60, timeout_s: 30 },
      metadata: { source: 'ops/adk/servers/filesystem.yaml', source_digest: 'ab', tags: ['x'], title: 'Files' },
      notes: null,
      options: { read_only: '' },
      permissions: { extra: {}, scope: ['read:files', 'write:files'], tools: {} },
      scopes: [],
      server_id: 'filesystem',
      transport: { args: ['-y', 'thing', '.'], command: 'npx', env: {}, headers: {}, type: 'stdio', url: null },
      type: 'mcp',
      version: '1',
    };
    const source = `id: filesystem
description: Files
tags: [x]
transport: { type: stdio, command: npx, args: [-y, thing, "."] }
options: { read_only: "" }
permissions: { scope: [read:files, write:files] }
limits: { rate_per_min: 60, timeout_s: 30 }
`;
    const files = { '.mcp/servers/filesystem.json': JSON.stringify(synced), 'ops/adk/servers/filesystem.yaml': source };
    const configuration = await load(files);
    expect(configuration.problems).toEqual([]);
    expect(ready(configuration, 'filesystem')).toMatchObject({
      transport: { command: 'npx', args: ['-y', 'thing', '.'] },
      access: { scopes: ['read:files', 'write:files'], readOnly: true },
      hides: [{ file: 'ops/adk/servers/filesystem.yaml', line: 1 }],
    });
    for (const change of [
      source.replace('60', '10'),
      source.replace('thing', 'other'),
      `${source}cache: { ttl_s: 5 }\n`,
    ]) {
      const stale = onlyProblem(await load({ ...files, 'ops/adk/servers/filesystem.yaml': change }));
      expect(stale).toMatchObject({
        severity: 'warning',
        file: 'ops/adk/servers/filesystem.yaml',
        server: 'filesystem',
      });
      expect(stale.fix).toBe('Run `qm sync`.');
    }
  },
);

test('switches, lists of tools, hints, and a transport written flat', async () => {
  const configuration = await load({
    '.mcp/servers/a.yaml': 'command: x\ntools: [read]\nenabled: false\ncache: { ttl_s: 5 }\ninstead: Ask a person.\n',
    '.mcp/servers/b.json':
      '{"type":"sse","url":"https://example.com/sse","allowedTools":["a"],"fallback_hint":"Wait."}',
    '.mcp/servers/c.yml': 'transport: { command: [x, y] }\ndisabled: true\npermissions: { tools: [z] }\n',
    '.mcp/servers/d.yaml': '---\n# one document\ntype: http\nurl: https://example.com/mcp\n...\n',
  });
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'a')).toMatchObject({
    tools: { include: ['read'] },
    enabled: false,
    instead: 'Ask a person.',
  });
  expect(ready(configuration, 'a').cache?.ttlMs).toBe(5_000);
  expect(ready(configuration, 'b')).toMatchObject({
    transport: { type: 'sse' },
    tools: { include: ['a'] },
    instead: 'Wait.',
  });
  expect(ready(configuration, 'c')).toMatchObject({
    tools: { include: ['z'] },
    enabled: false,
    transport: { args: ['y'] },
  });
  expect(ready(configuration, 'd').transport.type).toBe('http');
});

test.each([
  ['id: t\ncommand: x\n', 1, 'id', 't', 'its file is called "s.yaml"'],
  ['command: x\nserver_id: t\n', 2, 'server_id', 't', 'its file is called "s.yaml"'],
  ['id: s\nserver_id: t\ncommand: x\n', 1, 'id', 's', '"id" and "server_id" differ'],
])('a name that differs is told: %j', async (text, line, field, name, said) => {
  const configuration = await one(text);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', line, field, server: name });
  expect(onlyProblem(configuration).message).toContain(said);
  expect(ready(configuration, name).name).toBe(name);
});

test('entries that are not MCP servers and empty files are ignored with a warning', async () => {
  const configuration = await load({
    '.mcp/servers/pg.yaml': 'server_id: pg\nversion: "1"\ntype: postgres\nconn:\n  url: postgres://db/x\n',
    '.mcp/servers/zero.yaml': '# later\n',
    '.mcp/servers/good.yaml': 'command: x\n',
    '.mcp/servers/README.md': 'not read',
    '.mcp/servers/.hidden.yaml': 'command: y\n',
  });
  expect([...configuration.servers.keys()]).toEqual(['good']);
  expect(configuration.problems.map(({ severity, file, line }) => [severity, file, line])).toEqual([
    ['warning', '.mcp/servers/pg.yaml', 3],
    ['warning', '.mcp/servers/zero.yaml', 1],
  ]);
  for (const { fix } of configuration.problems) expect(fix).toContain('emove');
});

test.each([
  ['transport:\n  type: websocket\n  url: wss://example.com\n', 2, 'transport.type', 'WebSocket', 'Use type: http'],
  ['type: ws\nurl: wss://example.com\n', 1, 'type', 'WebSocket', 'Use type: http'],
  ['command: x\nfallback:\n  - { type: websocket, url: "wss://x" }\n', 3, 'fallback.0.type', 'WebSocket', 'http'],
  ['transport: { type: carrier-pigeon, url: "https://x" }\n', 1, 'transport.type', 'must be one of', undefined],
  ['transport: stdio\ncommand: x\n', 1, 'transport', 'must be a map', undefined],
  ['transport: { command: x }\nurl: https://example.com\n', 2, 'url', 'beside "transport"', 'Move it'],
  ['description: nothing more\n', 1, 'command', '"command" or "url" is missing', 'Write the program'],
  ['command: x\nfallback:\n  - { args: [y] }\n', 3, 'fallback.0.command', '"command" or "url" is missing', 'Write'],
  ['command: x\nfallback:\n  - { url: "https://${NOPE}/" }\n', 3, 'fallback.0.url', 'needs the variable NOPE', '.env'],
  ['transport: { url: "https://${NOPE}/" }\n', 1, 'transport.url', 'needs the variable NOPE', '.env'],
  ['command: x\ncommand: y\n', 2, 'command', 'in line 1 and in line 2', 'Keep one'],
  ['command: x\nlimits: { rate_per_min: many }\n', 2, 'limits.rate_per_min', 'must be a number', undefined],
  ['command: x\noptions: { readonly: true }\n', 2, 'options.readonly', 'is unknown.', '"read_only"'],
  ['command: x\noptions: { read_only: [yes] }\n', 2, 'options.read_only', 'must be', undefined],
  ['command: x\npermissions: { scopes: [a] }\n', 2, 'permissions.scopes', 'is unknown.', '"scope"'],
  [
    'command: x\npermissions: { write_requires_approval: "yes" }\n',
    2,
    'permissions.write_requires_approval',
    'true or false',
    undefined,
  ],
  ['command: x\npermissions: { tools: { drop: deny } }\n', 2, 'permissions.tools', 'ignored here', 'policies.tools'],
  ['command: x\nscopes: [a]\npermissions: { scope: [b] }\n', 2, 'scopes', 'differ', 'Keep one'],
  ['command: x\ntools: [a]\nallowedTools: [b]\n', 3, 'allowedTools', 'both', 'Keep one'],
  ['id: "a b"\ncommand: x\n', 1, 'id', 'the name is not valid', 'Rename it'],
])(verifies('config:invalid-alone', 'one server, one clear error: %j'), async (text, line, field, said, fix) => {
  const configuration = await load({ '.mcp/servers/s.yaml': text, '.mcp/servers/good.yaml': 'command: node\n' });
  const errors = configuration.problems.filter(({ severity }) => severity === 'error');
  expect(errors).toMatchObject([{ file: '.mcp/servers/s.yaml', line, field }]);
  expect(errors[0]?.message).toContain(said);
  if (fix !== undefined) expect(errors[0]?.fix).toContain(fix);
  expect(invalid(configuration, errors[0]?.server ?? '').problems).toContainEqual(errors[0]);
  expect(ready(configuration, 'good').enabled).toBe(true);
});

test(verifies('config:unknown-keys', 'other unknown keys are warnings'), async () => {
  const configuration = await one(
    'command: x\ncolour: red\ntransprt: y\noptions:\n  healthcheck: z\n  read_only: no\n',
  );
  expect(configuration.problems.map(({ severity, line, field }) => [severity, line, field])).toEqual([
    ['warning', 2, 'colour'],
    ['warning', 3, 'transprt'],
    ['warning', 5, 'options.healthcheck'],
  ]);
  expect(ready(configuration, 's').access.readOnly).toBe(false);
});

test('a guard without a value is up', async () => {
  for (const written of ['', '~', '""', '"${UNSET:-}"', '1', '"TRUE"']) {
    expect(ready(await one(`command: x\noptions:\n  read_only: ${written}\n`), 's').access.readOnly).toBe(true);
  }
  for (const written of ['false', '"off"', '0', '"${UNSET:no}"']) {
    expect(ready(await one(`command: x\noptions:\n  read_only: ${written}\n`), 's').access.readOnly).toBe(false);
  }
});

test('scopes that run programs are remarked on, wherever they stand', async () => {
  for (const [text, field] of [
    ['command: x\nscopes:\n  - read:files\n  - execute:commands\n', 'scopes.1'],
    ['command: x\npermissions:\n  scope:\n    - execute:*\n', 'permissions.scope.0'],
  ] as const) {
    const configuration = await one(text);
    expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', line: 4, field, server: 's' });
    expect(onlyProblem(configuration).message).toContain('run programs');
  }
  const own = await load({ 'quartermaster.yaml': 'servers:\n  a: { command: x, scopes: [execute:all] }\n' });
  expect(onlyProblem(own)).toMatchObject({ severity: 'warning', line: 2, field: 'servers.a.scopes.0' });
});

test('secrets are pointed out in the transport and in each fallback', async () => {
  const configuration = await one(`transport:
  url: https://example.com/mcp
  headers: { Authorization: Bearer abcd1234efgh5678 }
fallback:
  - { command: x, args: [--token=qrst5678uvwx], env: { API_KEY: ijkl5678mnop } }
`);
  expect(configuration.problems.map(({ severity, line, field }) => [severity, line, field])).toEqual([
    ['warning', 3, 'transport.headers.Authorization'],
    ['warning', 5, 'fallback.0.env.API_KEY'],
    ['warning', 5, 'fallback.0.args.0'],
  ]);
  expect(configuration.secrets).toEqual(expect.arrayContaining(['abcd1234efgh5678', 'qrst5678uvwx', 'ijkl5678mnop']));
});

test('two documents in one file are one mistake, told with its line', async () => {
  const configuration = await one('id: a\ncommand: x\n---\nid: b\ncommand: y\n');
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'error',
    file: '.mcp/servers/s.yaml',
    line: 3,
    server: 's',
  });
  expect(onlyProblem(configuration).message).toContain('more than one document');
  expect([...configuration.servers.keys()]).toEqual(['s']);
});

test(verifies('config:orphans', 'a file that sync made is reported when its source is gone'), async () => {
  const made = (source: string) =>
    JSON.stringify({ id: 'a', transport: { type: 'stdio', command: 'x' }, metadata: { source } });
  const orphan = await load({ '.mcp/servers/a.json': made('ops/adk/servers/a.yaml') });
  expect(ready(orphan, 'a').enabled).toBe(true);
  expect(onlyProblem(orphan)).toMatchObject({
    severity: 'warning',
    field: 'metadata.source',
    server: 'a',
    message: expect.stringContaining('was made from "ops/adk/servers/a.yaml", which does not exist any more'),
    fix: expect.stringContaining('`qm sync --prune`'),
  });
  const sound = await load({
    '.mcp/servers/a.json': made('ops/adk/servers/a.yaml'),
    'ops/adk/servers/a.yaml': 'id: a\ntransport: { type: stdio, command: x }\n',
  });
  expect(sound.problems).toEqual([]);
  expect((await load({ '.mcp/servers/a.json': made('elsewhere/a.yaml') })).problems).toEqual([]);
});
