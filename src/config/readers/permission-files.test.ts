import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { type CallArguments, type Configuration, type Decision, decideOn } from '../../domain/index.ts';
import { compilePolicy } from '../../governance/index.ts';
import { load, onlyProblem } from '../workspace.fixture.ts';

const place = 'catalog/policies/mcp_permissions.yaml';
const servers = JSON.stringify({
  servers: Object.fromEntries(
    ['github', 'postgres', 'notes', 'files', 'a', 'a.b'].map((name) => [name, { url: `https://${name}.example/mcp` }]),
  ),
});

const document = `default_permission: REQUIRE_APPROVAL
server_defaults:
  notes:
    default: ALWAYS
    description: Notes of the team
  postgres: REQUIRE_APPROVAL
tools:
  "github.get_issue":
    permission: ALWAYS
    description: Reads one issue
  "github.create_issue":
    permission: REQUIRE_APPROVAL
    approval_message: "Create an issue?"
  "github.delete_repo": NEVER
  "github.drop_branch": ALWAYS
  "notes.delete_note": ALWAYS
  "a.b.c": ALWAYS
environments:
  development:
    description: On a laptop
    default_permission: ALWAYS
    overrides:
      "github.merge": REQUIRE_APPROVAL
      "postgres.list_*": ALWAYS
  production:
    default_permission: REQUIRE_APPROVAL
    overrides:
      "github.get_issue": REQUIRE_APPROVAL
      "notes.*": NEVER
context_rules:
  - name: try-outs
    condition:
      tool_pattern: "github.*"
      args_match:
        repo: "*/test-*"
    permission: ALWAYS
  - name: small
    condition:
      tool: "postgres.pay"
      args_match:
        amount: { less_than: 10 }
    permission: ALWAYS
  - name: frozen
    condition:
      tool_pattern: "github.*"
      args_match:
        branch: "release-[0-9]"
    permission: NEVER
  - condition:
      tool_pattern: "files.*"
      args_match:
        path: "/tmp/*"
    permission: ALWAYS
dangerous_patterns:
  - pattern: "*.delete_*"
    permission: REQUIRE_APPROVAL
  - pattern: "*.drop_*"
    permission: NEVER
approval:
  default_timeout_minutes: 30
audit:
  log_all_invocations: true
rate_limits:
  global: { calls_per_minute: 60, calls_per_hour: 1000 }
  servers:
    github: { calls_per_minute: 30 }
`;

interface More {
  readonly env?: Readonly<Record<string, string>>;
  readonly own?: string;
  readonly at?: string;
}

async function loaded(text: string, { env = {}, own = servers, at = place }: More = {}): Promise<Configuration> {
  return load({ 'quartermaster.yaml': own, [at]: text }, env);
}

function decide(configuration: Configuration, name: string, args: CallArguments = {}): Decision {
  const [server = '', ...rest] = name.split('.');
  const tool = rest.join('.');
  const listed = compilePolicy(configuration, ['dev']).decide(server, tool, `${server}_${tool}`, null);
  return decideOn(listed, { args });
}

async function effects(
  environment: string | undefined,
  calls: readonly (readonly [string, CallArguments?])[],
): Promise<string[]> {
  const configuration = await loaded(
    document,
    environment === undefined ? {} : { env: { MAGSAG_ENVIRONMENT: environment } },
  );
  return calls.map(([name, args]) => decide(configuration, name, args).effect);
}

describe('in an environment', () => {
  test(
    verifies('magsag:permissions', 'names come first, then context rules, then patterns, then defaults'),
    async () => {
      const calls = [
        ['github.get_issue'],
        ['github.create_issue'],
        ['github.other'],
        ['github.merge'],
        ['postgres.list_tables'],
        ['postgres.query'],
        ['notes.read'],
        ['files.read'],
      ] as const;
      expect(await effects('development', calls)).toEqual([
        'allow',
        'ask',
        'allow',
        'ask',
        'allow',
        'ask',
        'allow',
        'allow',
      ]);
      expect(await effects('production', calls)).toEqual(['ask', 'ask', 'ask', 'ask', 'ask', 'ask', 'deny', 'ask']);
    },
  );

  test(verifies('magsag:permissions', 'a restriction counts, whatever a name or a context rule allows'), async () => {
    const calls = [
      ['github.delete_repo', { repo: 'me/test-x' }],
      ['github.drop_branch'],
      ['notes.delete_note'],
      ['github.get_issue', { branch: 'release-7' }],
      ['github.get_issue', { branch: 'release-x' }],
      ['github.get_issue', { branch: ['release-7'] }],
    ] as const;
    expect(await effects('development', calls)).toEqual(['deny', 'deny', 'ask', 'deny', 'allow', 'deny']);
  });

  test('context rules look at arguments, and what they do not understand allows nothing', async () => {
    const calls = [
      ['github.close', { repo: 'me/test-x' }],
      ['github.close', { repo: 'me/x' }],
      ['github.close', {}],
      ['github.close', { repo: 7 }],
      ['postgres.pay', { amount: 9.5 }],
      ['postgres.pay', { amount: 10 }],
      ['postgres.pay', { amount: '9' }],
      ['files.write', { path: '/tmp/x' }],
      ['files.write', { path: '/tmp/../etc/passwd' }],
      ['files.write', { path: '/tmp/%2e%2e/etc' }],
    ] as const;
    expect(await effects('production', calls)).toEqual([
      ...['allow', 'ask', 'ask', 'ask'],
      ...['allow', 'ask', 'ask'],
      ...['allow', 'ask', 'ask'],
    ]);
  });

  test('a name that fits tools of two servers allows neither', async () => {
    const configuration = await loaded('default_permission: NEVER\ntools: { a.b.c: ALWAYS, files.read: ALWAYS }\n');
    const policy = compilePolicy(configuration, ['dev']);
    expect(policy.decide('a', 'b.c', 'x', null).effect).toBe('deny');
    expect(policy.decide('a.b', 'c', 'x', null).effect).toBe('deny');
    expect(policy.decide('files', 'read', 'x', null).effect).toBe('allow');
  });

  test('the decision names file and line, and the message for the person who is asked', async () => {
    const configuration = await loaded(document, { env: { MAGSAG_ENVIRONMENT: 'development' } });
    expect(decide(configuration, 'github.create_issue').reason).toEqual({
      kind: 'rule',
      pattern: 'github.create_issue',
      source: { file: place, line: 11 },
      message: 'Create an issue?',
    });
    expect(decide(configuration, 'postgres.query').reason).toMatchObject({
      pattern: 'postgres.*',
      source: { line: 6 },
    });
    expect(decide(configuration, 'github.drop_branch').reason).toMatchObject({
      pattern: '*.drop_*',
      source: { line: 57 },
    });
    expect(decide(configuration, 'github.close', { branch: 'release-1' }).reason).toMatchObject({
      limits: 'args_match {"branch":"release-[0-9]"}',
    });
  });
});

describe('the environment', () => {
  test(
    verifies('magsag:environment', 'unknown or not chosen, the strictest of all applies, and a note says so'),
    async () => {
      const calls = [['github.get_issue'], ['notes.read'], ['github.merge'], ['files.read']] as const;
      const strictest = ['ask', 'deny', 'ask', 'ask'];
      expect(await effects(undefined, calls)).toEqual(strictest);
      expect(await effects('', calls)).toEqual(strictest);
      expect(await effects('elsewhere', calls)).toEqual(strictest);
      expect(onlyProblem(await loaded(document))).toMatchObject({ severity: 'note', file: place, line: 1 });
      const other = await loaded(document, { env: { MAGSAG_ENVIRONMENT: 'elsewhere' } });
      expect(onlyProblem(other).message).toContain('no environment "elsewhere"');
    },
  );

  test(
    verifies('magsag:environment', 'is chosen by quartermaster.yaml before the variable, and never by .env'),
    async () => {
      const own = `${servers.slice(0, -1)},"environment":"production"}`;
      const chosen = await loaded(document, { own, env: { MAGSAG_ENVIRONMENT: 'development' } });
      expect(decide(chosen, 'notes.read').effect).toBe('deny');
      const files = { 'quartermaster.yaml': servers, [place]: document, '.env': 'MAGSAG_ENVIRONMENT=development\n' };
      expect(decide(await load(files), 'notes.read').effect).toBe('deny');
      const wrong = await loaded(document, { own: `${servers.slice(0, -1)},"environment":["development"]}` });
      expect(wrong.problems).toMatchObject([
        { severity: 'error', field: 'environment', fatal: true },
        { severity: 'note' },
      ]);
      expect(decide(wrong, 'notes.read').effect).toBe('deny');
    },
  );
});

test('a file in the root counts too, and both only restrict', async () => {
  const files = {
    'quartermaster.yaml': `${servers.slice(0, -1)},"policies":{"tools":{"github.x":"deny","github.*":"allow"}}}`,
    'mcp_permissions.yaml': 'default_permission: ALWAYS\n',
    [place]: 'default_permission: ALWAYS\ntools: { github.y: NEVER }\n',
  };
  const configuration = await load(files);
  expect(configuration.problems).toEqual([]);
  expect(['github.x', 'github.y', 'github.z'].map((name) => decide(configuration, name).effect)).toEqual([
    'deny',
    'deny',
    'allow',
  ]);
});

test('resources and prompts have the defaults of their server, in every spelling', async () => {
  const text =
    'default_permission: ALWAYS\nserver_defaults: { notes: NEVER }\ndangerous_patterns: [{ pattern: "*secret*", permission: NEVER }]\n';
  const policy = compilePolicy(await loaded(text), ['dev']);
  expect(policy.decideRead('notes', 'prompt:greet').effect).toBe('deny');
  expect(policy.decideRead('github', 'resource:memo://plan').effect).toBe('allow');
  expect(policy.decideRead('github', 'resource:memo://SECRET/x').effect).toBe('deny');
  expect(policy.decideRead('github', 'resource:memo://s%65cret/x').effect).toBe('deny');
});

test.each([
  ['default_permission: SOMETIMES', 'default_permission'],
  ['default_permissions: NEVER', 'default_permissions'],
  ['categories: {}', 'categories'],
  ['tools: { create_issue: NEVER }', 'tools.create_issue'],
  ['tools: { "github.?": NEVER }', 'tools.github.?'],
  ['tools: { github.x: { allowed: true } }', 'tools.github.x.permission', 'tools.github.x.allowed'],
  ['tools: []', 'tools'],
  ['tools:', 'tools'],
  ['environments: { production: { default: NEVER } }', 'environments.production.default'],
  ['context_rules: [{ permission: ALWAYS }]', 'context_rules.0.condition'],
  ['context_rules: [{ condition: { tool: "a.*" }, permission: ALWAYS }]', 'context_rules.0.condition.tool'],
  ['context_rules: [{ condition: { tool: a.x, tool_pattern: a.* }, permission: ALWAYS }]', 'context_rules.0.condition'],
  [
    'context_rules: [{ condition: { context_match: { x: y } }, permission: ALWAYS }]',
    'context_rules.0.condition.context_match',
  ],
  [
    'context_rules: [{ condition: { args_match: { x: {} } }, permission: ALWAYS }]',
    'context_rules.0.condition.args_match',
  ],
  [
    'context_rules: [{ condition: { args_match: { x: { over: 1 } } }, permission: ALWAYS }]',
    'context_rules.0.condition.args_match.x.over',
  ],
  ['rate_limits: { global: { calls_per_day: 5 } }', 'rate_limits.global.calls_per_day'],
])(verifies('magsag:not-understood', '%s is an error, and nothing is allowed'), async (text, ...fields) => {
  const configuration = await loaded(`${text}\n`);
  expect(configuration.problems).toMatchObject(
    fields.map((field) => ({ severity: 'error', file: place, line: 1, field, fatal: true })),
  );
  expect(decide(configuration, 'github.get_issue').effect).toBe('deny');
});

test.each(['', '# nothing\n', '- a\n', 'a: [\n'])('%j denies everything', async (text) => {
  const configuration = await loaded(text);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file: place, fatal: true });
  expect(decide(configuration, 'github.get_issue').effect).toBe('deny');
});

test('ALWAYS for a pattern among tools has no effect, as in MAGSAG', async () => {
  const configuration = await loaded('tools: { "github.*": ALWAYS, "notes.*": NEVER }\n');
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', line: 1, field: 'tools.github.*' });
  expect([decide(configuration, 'github.x').effect, decide(configuration, 'notes.x').effect]).toEqual(['ask', 'deny']);
});

const permissions = fc.constantFrom('ALWAYS', 'REQUIRE_APPROVAL', 'NEVER');
const names = fc.constantFrom('github.x', 'github.y', 'notes.x');
const patterns = fc.constantFrom('github.*', '*.x', '*');
const files = fc.record(
  {
    default_permission: permissions,
    server_defaults: fc.dictionary(fc.constantFrom('github', 'notes'), permissions),
    tools: fc.dictionary(names, permissions),
    environments: fc.dictionary(
      fc.constantFrom('one', 'two'),
      fc.record(
        { default_permission: permissions, overrides: fc.dictionary(fc.oneof(names, patterns), permissions) },
        { requiredKeys: [] },
      ),
    ),
    context_rules: fc.array(
      fc.record({
        condition: fc.record({ tool_pattern: patterns, args_match: fc.constantFrom({}, { a: 'x*' }, { a: 5 }) }),
        permission: permissions,
      }),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);
const strictness = { allow: 0, ask: 1, deny: 2 };

test('no list shows less than a call may do, no file widens, and no added restriction does', async () => {
  const calls = fc.record({ a: fc.constantFrom('x1', 'y', 5, null) }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(
      files,
      names,
      calls,
      fc.constantFrom('one', 'three', ''),
      async (file, name, args, environment) => {
        const more: More = { env: { MAGSAG_ENVIRONMENT: environment } };
        const configuration = await loaded(JSON.stringify(file), more);
        const [server = '', tool = ''] = name.split('.');
        const listed = compilePolicy(configuration, ['dev']).decide(server, tool, 'x', null);
        const called = decideOn(listed, { args });
        expect(strictness[called.effect]).toBeGreaterThanOrEqual(strictness[listed.effect]);
        const stricter = { ...file, dangerous_patterns: [{ pattern: '*.x', permission: 'REQUIRE_APPROVAL' }] };
        const after = decide(await loaded(JSON.stringify(stricter), more), name, args);
        expect(strictness[after.effect]).toBeGreaterThanOrEqual(strictness[called.effect]);
        const none = decide(await loaded(JSON.stringify(file)), name, args);
        expect(strictness[none.effect]).toBeGreaterThanOrEqual(
          strictness[environment === 'one' ? called.effect : 'allow'],
        );
      },
    ),
    { numRuns: 100 },
  );
});
