// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { cannotRead } from './files/source-file.ts';
import { loadConfiguration } from './load-configuration.ts';
import { client, createWorkspace, invalid, load, onlyProblem, own, ready } from './workspace.fixture.ts';

const oneServer = 'servers:\n  files:\n    command: node\n';

test('an empty directory gives an empty configuration that says how to begin', async () => {
  const configuration = await load({});
  expect(configuration).toMatchObject({
    naming: 'prefixed',
    ledger: { sync: 'os', keep: { days: 7, megabytes: 1024 }, runs: { days: 7, megabytes: 1024 } },
    policy: undefined,
    files: [],
    secrets: [],
    shortSecrets: [],
  });
  expect([configuration.servers.size, configuration.agents.size]).toEqual([0, 0]);
  const problem = onlyProblem(configuration);
  expect(problem.severity).toBe('warning');
  expect(problem.message).toContain(configuration.workspace);
  expect(problem.fix).toContain('`qm add`');
});

test.each([
  [['claude_desktop_config.json'], ' The hub does not read "claude_desktop_config.json".'],
  [['servers.mcp.yaml', 'mcp.toml'], ' The hub does not read "mcp.toml" and "servers.mcp.yaml".'],
  [['a.mcp.json', 'b.mcp.json', 'my-mcp.json', 'mcpx.json'], ' The hub does not read "a.mcp.json" and 2 more files.'],
  [['package.json', 'readme.md'], ''],
])('where nothing is found, %j is named', async (names, said) => {
  const configuration = await load(Object.fromEntries(names.map((name) => [name, '{}'])));
  expect(onlyProblem(configuration).message).toBe(`No configuration found in ${configuration.workspace}.${said}`);
});

test('a workspace that does not exist is said to be so', async () => {
  const workspace = join(await createWorkspace(), 'nowhere');
  expect(onlyProblem(await loadConfiguration({ env: {} }, { workspace }))).toMatchObject({
    severity: 'error',
    file: '.',
  });
});

test(verifies('config:in-place', 'servers of both files come together, each with its place'), async () => {
  const configuration = await load({
    'quartermaster.yaml': oneServer,
    '.mcp.json': '{\n  "mcpServers": {\n    "api": { "url": "https://example.com/mcp" }\n  }\n}\n',
  });
  expect(configuration.problems).toEqual([]);
  expect(configuration.files).toEqual(['quartermaster.yaml', '.mcp.json']);
  expect(ready(configuration, 'files').source).toEqual({ file: 'quartermaster.yaml', line: 2 });
  expect(ready(configuration, 'api').source).toEqual({ file: '.mcp.json', line: 3 });
});

test(
  verifies('config:precedence', 'the stronger file wins, and the hidden server is mentioned but not judged'),
  async () => {
    const configuration = await load({
      'quartermaster.yaml': oneServer,
      '.mcp.json': '{\n"mcpServers": {\n"files": { "command": "other", "args": ["${NOT_SET}"] } } }',
    });
    expect(ready(configuration, 'files').transport).toMatchObject({ command: 'node' });
    expect(onlyProblem(configuration)).toMatchObject({
      severity: 'warning',
      file: '.mcp.json',
      line: 3,
      server: 'files',
      message: 'Server "files" of .mcp.json:3 is overridden by the one in quartermaster.yaml:2.',
    });
  },
);

test('an invalid server hides a weaker one too: a mistake must not switch to another program', async () => {
  const configuration = await load({
    'quartermaster.yaml': 'servers:\n  files: {}\n',
    '.mcp.json': '{"mcpServers":{"files":{"command":"other"}}}',
  });
  expect(invalid(configuration, 'files').source.file).toBe('quartermaster.yaml');
});

test(verifies('config:invalid-alone', 'a bad server leaves the others alone'), async () => {
  const configuration = await own('servers:\n  bad: { comand: x }\n  worse: 7\n  empty:\n  good: { command: node }\n');
  expect([...configuration.servers].map(([name, server]) => [name, server.kind])).toEqual([
    ['bad', 'invalid'],
    ['worse', 'invalid'],
    ['empty', 'invalid'],
    ['good', 'ready'],
  ]);
  expect(invalid(configuration, 'bad').problems).toEqual(
    configuration.problems.filter((problem) => problem.server === 'bad'),
  );
});

test.each([
  ['unclosed quote', 'servers:\n  a:\n    command: "x\n', 4],
  ['tab', 'servers:\n\ta: {}\n', 2],
  ['second document', 'version: 1\n---\nversion: 1\n', 2],
  ['not YAML at all', '}{', 1],
])('YAML that cannot be parsed: %s', async (_what, text, line) => {
  const configuration = await load({
    'quartermaster.yaml': text,
    '.mcp.json': '{"mcpServers":{"a":{"command":"node"}}}',
  });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file: 'quartermaster.yaml', line });
  expect(onlyProblem(configuration).message).toMatch(/line \d+, column \d+/);
  expect([...configuration.servers.keys()]).toEqual(['a']);
});

test('when the file with the restrictions cannot be read, other files’ servers are there but denied', async () => {
  const configuration = await load({
    'quartermaster.yaml': 'agents: [',
    '.mcp.json': '{"mcpServers":{"a":{"command":"node"}}}',
  });
  expect(ready(configuration, 'a').enabled).toBe(true);
  expect(configuration.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny' }]);
  expect(onlyProblem(configuration).message).toContain('denies every tool');
});

test.each([
  ['.mcp.json', '{'],
  ['opencode.jsonc', '{ "permission": { "up_delete": "deny" '],
  ['.codex/config.toml', '[mcp_servers.up]\ncommand = "node"\ndisabled_tools = ["delete"\n'],
  ['.gemini/settings.json', '{ "mcpServers": { "up": { "command": "node", "excludeTools": ["delete"] } '],
  ['.cursor/mcp.json', '{ "mcpServers": '],
])(
  verifies('config:bad-files', '%s: a broken client file may restrict a server of another file'),
  async (file, text) => {
    const configuration = await load({ 'quartermaster.yaml': oneServer, [file]: text });
    expect(configuration.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny', source: { file } }]);
    const problem = onlyProblem(configuration);
    expect(problem).toMatchObject({ severity: 'error', file });
    expect(problem.message).toContain('Until it is corrected, a hub that starts denies every tool.');
  },
);

const tooBig = `# ${'x'.repeat(5 * 1024 * 1024)}\n`;
const bomb = Array.from({ length: 9 }, (_, i) =>
  i === 0
    ? 'a0: &a0 [x, x, x, x, x, x, x, x, x]'
    : `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
).join('\n');

test.each([
  ['over 5 MB', tooBig, 'over 5 MB'],
  ['not UTF-8', Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]), 'UTF-8'],
  ['UTF-16', Buffer.from('\ufeffversion: 1', 'utf16le'), 'UTF-8'],
  ['an alias bomb', bomb, 'aliases'],
  ['an alias inside itself', 'servers: &a\n  b: *a\n', 'alias'],
  ['endless brackets', `servers: ${'['.repeat(100_000)}`, 'nested'],
  ['endless dashes', `${'- '.repeat(100_000)}x`, 'nested'],
  ['a list', '- a\n', 'must contain a map'],
  ['another version', 'version: 2\nservers: {}\n', 'version'],
  ['a section twice', 'servers: {}\nversion: 1\nservers: {}\n', 'in line 1 and in line 3'],
])('nothing is used of a file that is %s', async (_what, content, said) => {
  const problem = onlyProblem(await load({ 'quartermaster.yaml': content }));
  expect(problem).toMatchObject({ severity: 'error', file: 'quartermaster.yaml' });
  expect(problem.message).toContain(said);
});

test.each([
  ['empty', '', 'empty'],
  ['a list', '[]', 'mcpServers'],
  ['endless brackets', '['.repeat(100_000), 'nested'],
  ['a wrapper twice', '{"mcpServers":{},\n"mcpServers":{}}', 'in line 1 and in line 2'],
  ['a wrapper that is a list', '{"mcpServers":[]}', 'must be an object'],
])('nothing is used of a client file that is %s', async (_what, content, said) => {
  const problem = onlyProblem(await client(content));
  expect(problem).toMatchObject({ severity: 'error', file: '.mcp.json' });
  expect(problem.message).toContain(said);
});

test('a directory, a dead link or a loop of links in the place of the file is one problem each', async () => {
  for (const [make, said] of [
    [(path: string) => mkdir(path), 'is a directory'],
    [(path: string) => symlink('nowhere', path), 'link to a file that does not exist'],
    [(path: string) => symlink('quartermaster.yaml', path), 'ELOOP'],
  ] as const) {
    const workspace = await createWorkspace();
    await make(join(workspace, 'quartermaster.yaml'));
    const configuration = await loadConfiguration({ env: {} }, { workspace });
    expect(onlyProblem(configuration).message).toContain(said);
    expect(configuration.policy?.rules[0]?.effect).toBe('deny');
  }
});

test('permission denied is told from other failures', () => {
  expect(cannotRead('EACCES')).toMatchObject({ kind: 'unreadable', message: 'cannot be read: permission denied' });
  expect(cannotRead('EIO')).toMatchObject({ kind: 'unreadable', message: 'cannot be read (EIO)' });
});

test('a byte-order mark and Windows line ends are no obstacle', async () => {
  const configuration = await load({
    'quartermaster.yaml': `\ufeff${oneServer.replaceAll('\n', '\r\n')}`,
    '.mcp.json': '\ufeff{\r\n"mcpServers": {\r\n"a": {"command": "node"}}}',
  });
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'a').source.line).toBe(3);
});

test('an empty own file is an empty configuration', async () => {
  for (const text of ['', '\n', '# nothing yet\n', 'servers:\nagents:\npolicies:\nserve:\n']) {
    const configuration = await own(text);
    expect(configuration.problems).toEqual([]);
    expect(configuration.policy).toBeUndefined();
  }
});

test('a file with the other ending is pointed out', async () => {
  const configuration = await load({ 'quartermaster.yml': oneServer });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file: 'quartermaster.yml' });
});

test('names that JavaScript objects treat specially do no harm', async () => {
  const yaml = `
servers:
  __proto__: { command: evil }
  constructor: { command: node }
  toString: { command: node, env: { constructor: a, hasOwnProperty: b } }
  bad: { command: node, env: { __proto__: polluted } }
agents:
  constructor: { servers: [constructor], tools: { __proto__: { include: [] } } }
  valueOf: { servers: [toString] }
policies: { tools: { "constructor.*": deny } }
__proto__: { polluted: yes }
`;
  const configuration = await load({
    'quartermaster.yaml': yaml,
    '.mcp.json': '{"mcpServers":{"__proto__":{"command":"x"},"prototype":{"command":"y"}},"__proto__":{"polluted":1}}',
  });
  expect(ready(configuration, 'constructor').transport).toMatchObject({ command: 'node' });
  expect(ready(configuration, 'toString').transport).toMatchObject({ env: { constructor: 'a', hasOwnProperty: 'b' } });
  expect(configuration.servers.get('__proto__')?.kind).toBe('invalid');
  expect(configuration.servers.get('bad')?.kind).toBe('invalid');
  expect(configuration.agents.get('valueOf')?.servers).toEqual(['toString']);
  expect(configuration.agents.get('constructor')?.servers).toEqual([]);
  expect('polluted' in {}).toBe(false);
});

test('the configuration is frozen through and through', async () => {
  const configuration = await own(
    `${oneServer}agents: { tester: { servers: [files] } }\npolicies: { tools: { "*": deny } }\n`,
  );
  const spec = ready(configuration, 'files');
  const parts = [
    configuration,
    configuration.problems,
    configuration.serve,
    spec,
    spec.transport,
    spec.limits,
    configuration.policy?.rules[0],
  ];
  expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true));
  expect(Object.isFrozen(configuration.agents.get('tester')?.servers)).toBe(true);
});

test('problems come file by file, from top to bottom', async () => {
  const configuration = await load({
    '.mcp.json': '{"mcpServers":{\n"x y":{"command":"a"},\n"z":{}}}',
    'quartermaster.yaml': 'servers:\n  a: {}\nnope: 1\nagents:\n  b: { servers: [c] }\n',
  });
  expect(configuration.problems.map(({ file, line }) => `${file}:${line}`)).toEqual([
    'quartermaster.yaml:2',
    'quartermaster.yaml:3',
    'quartermaster.yaml:5',
    '.mcp.json:2',
    '.mcp.json:3',
  ]);
});

const key = fc.constantFrom(
  ...['servers', 'agents', 'policies', 'mcpServers', 'a', 'command', 'args', 'env', 'url', 'headers', 'tools', 'type'],
  ...['limits', 'include', '__proto__', 'constructor', 'serve', 'naming', '', '*', 'a.b', '${X}', 'id', 'transport'],
  ...['agentServers', 'toolRestrictions', 'fallback', 'permissions', 'scope', 'options', 'read_only', 'metadata'],
  ...['mcp_servers', 'enabledTools', 'mcp', 'name', 'source', 'allowedTools', 'enabled', 'disabled', 'server_id'],
  ...['slug', 'requires', 'requires.mcp'],
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom<unknown>(null, true, 0, -1, 1.5, '', 'x', 'http', 'ws', 'mcp', '${X}', '${', 'deny', '*'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('any')), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
  ),
})).any;
const fuzzed = [
  'quartermaster.yaml',
  '.mcp.json',
  '.squad/mcp-config.json',
  'catalog/agents/a/agent.yaml',
  'catalog/agents/b/agent.yaml',
  '.mcp/servers/a.yaml',
  '.mcp/servers/b.json',
];

test('whatever the files hold, there is a configuration', async () => {
  const names = [...fuzzed, 'enabled-tools.json', 'product.json', '.squad/team.md', '.env'];
  const workspace = await createWorkspace(Object.fromEntries(names.map((name) => [name, ''])));
  const property = fc.asyncProperty(
    fc.array(value, { minLength: names.length, maxLength: names.length }),
    async (all) => {
      await Promise.all(names.map((name, at) => writeFile(join(workspace, name), JSON.stringify(all[at]) ?? '')));
      const configuration = await loadConfiguration({ env: {} }, { workspace });
      for (const problem of configuration.problems) expect(problem.message).not.toMatch(/undefined|\[object/);
      for (const server of configuration.servers.values()) {
        if (server.kind === 'invalid') expect(server.problems.some(({ severity }) => severity === 'error')).toBe(true);
      }
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test('thousands of mistakes are cut short instead of overflowing', async () => {
  const keys = Array.from({ length: 5_000 }, (_, index) => `"k${index}":1`).join(',');
  const configuration = await client(`{"mcpServers":{"a":{"command":"node",${keys}}}}`);
  expect(configuration.problems.length).toBeLessThan(100);
  expect(configuration.problems.some(({ message }) => message.includes('more problems'))).toBe(true);
  expect(ready(configuration, 'a').transport.type).toBe('stdio');
});

test('a file with more servers than a file may have is not used, and every tool is denied', async () => {
  const servers = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, { command: 'x' }]));
  const most = await client({ mcpServers: servers(1_000) });
  expect([most.servers.size, most.policy, most.problems]).toEqual([1_000, undefined, []]);
  const more = await client({ mcpServers: servers(1_001) });
  expect([more.servers.size, more.policy?.rules.map(({ effect }) => effect)]).toEqual([0, ['deny']]);
  expect(onlyProblem(more).message).toContain('has more than 1000 servers');
});

test('each of many servers repeats only a few of the problems of its file', async () => {
  const count = 900;
  const named = (start: string, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${start}${index}`, value]));
  const content = { mcp: named('s', { type: 'local', command: ['x'] }), permission: named('p', 1) };
  const { problems } = await load({ 'opencode.json': JSON.stringify(content) });
  expect(problems.length).toBeLessThan(10 * count);
});
