// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { invalid, onlyProblem, own, ready } from '../workspace.fixture.ts';

test('a stdio server with everything', async () => {
  const configuration = await own(
    `servers:
  files:
    command: [npx, -y]
    args: ["@scope/server", "\${WORKSPACE_ROOT}", 8080, true, 1.0]
    env: { A: "\${A}", PORT: 0080, ON: yes }
    cwd: sub
    description: Files of the workspace
    enabled: false
    shared: true
    tools: [read_file]
    excludeTools: [delete_file]
    limits: { timeout_s: 1.5, max_s: 20, concurrency: 64, rate_per_min: 30, grace_s: 90 }
    fallback:
      - { type: sse, url: "http://localhost/\${A:+sse}" }
      - { command: other }
    scopes: [read:files]
    readOnly: true
    writeRequiresApproval: true
    trustAnnotations: true
    instead: Read the files yourself.
    cache: { ttl_s: 60, max_mb: 0.5, tools: [read_file], resources: false }
`,
    { A: 'value of a' },
  );
  expect(configuration.problems).toEqual([]);
  const { connectionKey, ...spec } = ready(configuration, 'files');
  expect(connectionKey).toMatch(/^[0-9a-f]{64}$/);
  expect(spec).toEqual({
    name: 'files',
    source: { file: 'quartermaster.yaml', line: 2 },
    hides: [],
    description: 'Files of the workspace',
    enabled: false,
    shared: true,
    transport: {
      type: 'stdio',
      command: 'npx',
      args: ['-y', '@scope/server', configuration.workspace, '8080', 'true', '1.0'],
      env: { A: 'value of a', PORT: '0080', ON: 'yes' },
      cwd: join(configuration.workspace, 'sub'),
      guard: 'npm',
    },
    tools: { include: ['read_file'], exclude: ['delete_file'] },
    restrictedBy: [],
    fallbacks: [
      { type: 'sse', url: 'http://localhost/sse', headers: {} },
      { type: 'stdio', command: 'other', args: [], env: {}, cwd: configuration.workspace },
    ],
    limits: { timeoutMs: 1_500, maxMs: 20_000, concurrency: 64, ratePerMin: 30, graceMs: 90_000 },
    access: {
      scopes: ['read:files'],
      readOnly: true,
      writeRequiresApproval: true,
      trustAnnotations: true,
      source: { file: 'quartermaster.yaml', line: 16 },
    },
    isolation: 'shared',
    roots: 'none',
    reaches: [],
    cache: { ttlMs: 60_000, maxBytes: 524_288, tools: ['read_file'], resources: false },
    instead: 'Read the files yourself.',
  });
});

test('an http server, and the defaults', async () => {
  const configuration = await own(
    'servers:\n  api:\n    url: https://example.com/mcp\n    type: streamable-http\n    headers: { Authorization: "Bearer ${T}" }\n  cli: { command: node, type: local }\n',
    { T: 'topsecret' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'api').transport).toEqual({
    type: 'http',
    url: 'https://example.com/mcp',
    headers: { Authorization: 'Bearer topsecret' },
  });
  expect(ready(configuration, 'cli')).toMatchObject({
    description: undefined,
    enabled: true,
    shared: false,
    tools: {},
    limits: { timeoutMs: 60_000, maxMs: 600_000, concurrency: 256, graceMs: 3_600_000 },
    transport: { args: [], env: {}, cwd: configuration.workspace },
  });
  expect(configuration.secrets).toEqual(['topsecret']);
});

test('a long silence limit raises the total; a total below it is pointed out', async () => {
  const configuration = await own(
    'servers:\n  a: { command: x, limits: { timeout_s: 900 } }\n  b: { command: x, limits: { timeout_s: 9, max_s: 5 } }\n',
  );
  expect(ready(configuration, 'a').limits).toMatchObject({ timeoutMs: 900_000, maxMs: 900_000 });
  expect(ready(configuration, 'b').limits).toMatchObject({ timeoutMs: 9_000, maxMs: 5_000 });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', line: 3, server: 'b' });
});

test('a cache needs its time, and nothing else', async () => {
  const configuration = await own('servers:\n  a: { command: x, cache: { ttl_s: 1.5 } }\n  b: { command: x }\n');
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'a').cache).toEqual({
    ttlMs: 1_500,
    maxBytes: 16_777_216,
    tools: undefined,
    resources: true,
  });
  expect(ready(configuration, 'b').cache).toBeUndefined();
});

test('lists of tools may be empty, which is not the same as absent', async () => {
  const configuration = await own(
    'servers:\n  a: { command: x, tools: [] }\n  b: { command: x, tools: ["*"], excludeTools: [] }\n',
  );
  expect(ready(configuration, 'a').tools).toEqual({ include: [] });
  expect(ready(configuration, 'b').tools).toEqual({ include: ['*'], exclude: [] });
});

test.each([
  ['comand: x', 'servers.s.comand', 'the key "comand" is unknown', 'Did you mean "command"?'],
  ['command: x, exclude_tools: []', 'servers.s.exclude_tools', 'unknown', 'Did you mean "excludeTools"?'],
  [
    'command: x, limits: { timeout: 4 }',
    'servers.s.limits.timeout',
    'in "limits" is unknown',
    'Did you mean "timeout_s"?',
  ],
  ['command: x, zebra: 1', 'servers.s.zebra', 'unknown', 'Known keys are'],
  ['command: x, args: y', 'servers.s.args', '"args" must be a list', undefined],
  ['command: x, args: [[y]]', 'servers.s.args.0', '"args.0" must be text', undefined],
  ['command: x, env: [A]', 'servers.s.env', '"env" must be a map', undefined],
  ['command: x, env: { A: }', 'servers.s.env.A', '"env.A" must be text', undefined],
  ['command: { a: b }', 'servers.s.command', '"command" must be text or a list', undefined],
  ['command: ""', 'servers.s.command', '"command" must', undefined],
  ['command: []', 'servers.s.command', '"command" must', undefined],
  ['command: x, enabled: maybe', 'servers.s.enabled', 'must be true or false', undefined],
  ['command: x, tools: "*"', 'servers.s.tools', '"tools" must be a list', undefined],
  ['command: x, tools: ', 'servers.s.tools', '"tools" must be a list', undefined],
  ['command: x, limits: { concurrency: 0 }', 'servers.s.limits.concurrency', 'at least 1', undefined],
  ['command: x, limits: { concurrency: 1.5 }', 'servers.s.limits.concurrency', 'whole number', undefined],
  ['command: x, limits: { timeout_s: 0 }', 'servers.s.limits.timeout_s', 'more than 0', undefined],
  ['command: x, limits: { max_s: 99999999 }', 'servers.s.limits.max_s', 'at most', undefined],
  ['command: x, cache: { max_mb: 1 }', 'servers.s.cache.ttl_s', 'ttl_s', undefined],
  ['command: x, cache: true', 'servers.s.cache', '"cache" must be a map', undefined],
  ['command: x, type: ws', 'servers.s.type', 'must be one of stdio', undefined],
  ['command: x, url: "http://x"', 'servers.s.url', 'both "command" and "url"', 'Keep'],
  ['type: http, command: x', 'servers.s.type', 'does not go with "command"', 'type: stdio'],
  ['type: stdio, url: "http://x"', 'servers.s.type', 'does not go with "url"', 'type: http'],
  ['type: http', 'servers.s.url', '"url" is missing', 'url'],
  ['enabled: true', 'servers.s.command', '"command" or "url" is missing', 'url'],
  ['command: x, command: y', 'servers.s.command', 'written twice, in line 2 and in line 2', 'Keep one'],
])(verifies('config:invalid-alone', 'a server with { %s } is invalid'), async (body, field, said, fix) => {
  const configuration = await own(`servers:\n  s: { ${body} }\n  good: { command: node }\n`);
  const problem = onlyProblem(configuration);
  expect(problem).toMatchObject({ severity: 'error', file: 'quartermaster.yaml', line: 2, field, server: 's' });
  expect(problem.message).toContain(said);
  expect(problem.message).toContain('Server "s"');
  if (fix !== undefined) expect(problem.fix).toContain(fix);
  expect(invalid(configuration, 's').problems).toEqual([problem]);
  expect(ready(configuration, 'good').transport.type).toBe('stdio');
});

test('lines are those of the field', async () => {
  const configuration = await own('# top\nservers:\n  s:\n    command: x\n    env:\n      A: ok\n      B: [1]\n');
  expect(onlyProblem(configuration)).toMatchObject({ line: 7, field: 'servers.s.env.B' });
});

test(verifies('config:duplicate-name', 'a server twice is invalid, and both lines are named'), async () => {
  const configuration = await own('servers:\n  a: { command: x }\n  b: { command: x }\n  a: { command: y }\n');
  expect(invalid(configuration, 'a').source.line).toBe(2);
  expect(onlyProblem(configuration).message).toContain('in line 2 and in line 4');
  expect(ready(configuration, 'b').enabled).toBe(true);
});

test.each(['has blank', 'slash/y', 'ü', '', 'x'.repeat(65), 'a:b'])(
  '%s is no name for a server or an agent',
  async (name) => {
    const quoted = JSON.stringify(name);
    const configuration = await own(`servers:\n  ${quoted}: { command: x }\nagents:\n  ${quoted}: { servers: [] }\n`);
    expect(invalid(configuration, name).problems[0]?.fix).toContain('Rename it');
    expect(configuration.problems).toHaveLength(2);
    expect(configuration.agents.get(name)?.servers).toEqual([]);
  },
);

test(verifies('config:agents', 'agents with routes, filters and rules'), async () => {
  const configuration = await own(`servers:
  files: { command: x }
  api: { command: y }
agents:
  tester:
    servers: [files, api]
    tools: { files: { include: [read_file], exclude: [b] } }
    policies: { tools: { "files.write_*": deny } }
  idle:
`);
  expect(configuration.problems).toEqual([]);
  expect(configuration.agents.get('tester')).toEqual({
    name: 'tester',
    source: { file: 'quartermaster.yaml', line: 5 },
    servers: ['files', 'api'],
    tools: new Map([['files', { include: ['read_file'], exclude: ['b'], lines: { include: 7, exclude: 7 } }]]),
    policy: {
      source: { file: 'quartermaster.yaml', line: 8 },
      rules: [{ pattern: 'files.write_*', effect: 'deny', source: { file: 'quartermaster.yaml', line: 8 } }],
    },
  });
  expect(configuration.agents.get('idle')).toMatchObject({ servers: undefined, policy: undefined });
});

test("servers may be named in the words of agents' files", async () => {
  const configuration = await own(
    'servers: { a: { command: x } }\nagents:\n  tester:\n    requires: { mcp: [a, b] }\n',
  );
  expect(configuration.agents.get('tester')?.servers).toEqual(['a', 'b']);
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'warning',
    line: 4,
    field: 'agents.tester.requires.mcp.1',
  });
});

test.each([
  'server: [a]',
  'servers: a',
  'servers: ',
  'tools: { a: { inclde: [x] } }',
  'tools: { a: { include: } }',
  'policies: { tools: { "a.x": dney } }',
  'policies: { tools: { x: deny } }',
  'policies: { tols: {} }',
  'servers: [a], servers: [b]',
  'servers: [a], requires: { mcp: [a] }',
  'requires: [a]',
  'requires: { mcp: a }',
  'requires: { mcp: [{ id: a }] }',
  'requires: {}',
  'requires: ',
  'requires: { mcp: [a], skills: [] }',
])('an agent with { %s } gets nothing rather than too much', async (body) => {
  const configuration = await own(`servers: { a: { command: x, shared: true } }\nagents:\n  tester: { ${body} }\n`);
  const agent = configuration.agents.get('tester');
  expect(agent?.servers).toEqual([]);
  expect(agent?.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny' }]);
  const errors = configuration.problems.filter(({ severity }) => severity === 'error');
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors)
    expect(error).toMatchObject({ line: 3, message: expect.stringContaining('gets no tools') });
});

test('an agent twice gets nothing', async () => {
  const configuration = await own(
    'servers: { a: { command: x } }\nagents:\n  t: { servers: [a] }\n  t: { servers: [a] }\n',
  );
  expect(onlyProblem(configuration).message).toContain('in line 3 and in line 4');
  expect(configuration.agents.get('t')?.servers).toEqual([]);
});

test('rules keep their lines and their order', async () => {
  const configuration = await own(
    'servers: { github: { command: x } }\npolicies:\n  tools:\n    "github.create_issue": require-approval\n    "*.delete_*": deny\n    "*": allow\n',
  );
  expect(configuration.problems).toEqual([]);
  expect(configuration.policy?.rules.map(({ pattern, effect, source }) => [pattern, effect, source.line])).toEqual([
    ['github.create_issue', 'require-approval', 4],
    ['*.delete_*', 'deny', 5],
    ['*', 'allow', 6],
  ]);
});

test.each([
  'policies: deny',
  'policies: { tools: [a] }',
  'policies: { tool: { "a.b": deny } }',
  'policies: { tools: { "a.b": denny } }',
  'policies: { tools: { "a.b": } }',
  'policies: { tools: { files: deny } }',
  'policies: { tools: { "a.b": allow, "a.b": deny } }',
  'policy: { tools: { "a.b": deny } }',
  'agnets: { tester: { servers: [] } }',
  'agents: [tester]',
])('restrictions that cannot be read deny everything: %s', async (text) => {
  const configuration = await own(`servers: { a: { command: x } }\n${text}\n`);
  expect(configuration.policy?.rules).toMatchObject([
    { pattern: '*', effect: 'deny', source: { file: 'quartermaster.yaml' } },
  ]);
  expect(configuration.problems.filter(({ severity }) => severity === 'error')).toMatchObject([
    { line: 2, message: expect.stringContaining('every tool is denied') },
  ]);
});

test(verifies('config:unknown-keys', 'other unknown sections are errors that deny nothing'), async () => {
  const configuration = await own('servers: { a: { command: x } }\nnameing: preserved\n');
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', line: 2, fix: 'Did you mean "naming"?' });
  expect(configuration).toMatchObject({ policy: undefined, naming: 'prefixed' });
});

test('names of servers that are not there are warnings, wildcards and known prefixes are not', async () => {
  const configuration = await own(`servers:
  acme.eu: { command: x }
  broken: {}
agents:
  t:
    servers: [acme.eu, broken, acne.eu]
    tools: { gone: {} }
    policies: { tools: { "gone.x": deny } }
policies: { tools: { "acme.eu.list": deny, "*.x": deny, "a*.x": deny, "broken.*": deny, "nobody.x": deny } }
`);
  const warnings = configuration.problems.filter(({ severity }) => severity === 'warning');
  expect(warnings.map(({ line, field }) => [line, field])).toEqual([
    [6, 'agents.t.servers.2'],
    [7, 'agents.t.tools.gone'],
    [8, 'agents.t.policies.tools.gone.x'],
    [9, 'policies.tools.nobody.x'],
  ]);
  expect(warnings[0]?.fix).toBe('Did you mean "acme.eu"?');
  expect(configuration.agents.get('t')?.servers).toEqual(['acme.eu', 'broken', 'acne.eu']);
});

test('settings, whole and in part', async () => {
  const configuration = await own(
    'version: 1\nnaming: preserved\nledger: { sync: always }\nserve: { allowedHosts: [hub.example], clientSessionIdle_s: 60 }\n',
  );
  expect(configuration.problems).toEqual([]);
  expect(configuration).toMatchObject({ naming: 'preserved', ledger: { sync: 'always' } });
  expect(configuration.serve).toEqual({
    allowedHosts: ['hub.example'],
    allowedOrigins: [],
    maxBodyBytes: 4_194_304,
    clientSessionIdleMs: 60_000,
    maxClientSessions: 10_000,
  });
});

test.each([
  ['naming: short', 'naming'],
  ['ledger: { sync: never }', 'ledger.sync'],
  ['serve: { maxBodyBytes: -1 }', 'serve.maxBodyBytes'],
  ['serve: { allowedHosts: x }', 'serve.allowedHosts'],
  ['serve: { port: 1 }', 'serve.port'],
  ['servers: []', 'servers'],
])('a wrong setting is an error and the default stays: %s', async (text, field) => {
  const configuration = await own(`${text}\n`);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', line: 1, field });
  expect(configuration).toMatchObject({
    naming: 'prefixed',
    ledger: { sync: 'os', keep: { days: 7, megabytes: 1024 }, runs: { days: 7, megabytes: 1024 } },
    serve: { maxBodyBytes: 4_194_304 },
  });
});

test('a role without an entry is told, with the name that was probably meant', async () => {
  const configuration = await own(
    'servers: { s: { command: x } }\nagents:\n  tester: { servers: [s] }\n  ada: { role: testr }\n  bo: { role: tester }\n',
  );
  expect(onlyProblem(configuration)).toMatchObject({
    severity: 'warning',
    line: 4,
    field: 'agents.ada.role',
    message: 'Agent "ada": its role "testr" has no entry and therefore no effect.',
    fix: 'Did you mean "tester"?',
  });
});
