import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { compilePolicy } from '../../governance/index.ts';
import { invalid, load, ready } from '../workspace.fixture.ts';
import { looksRestrictive, restrictionRole } from './restriction-words.ts';

type Files = Readonly<Record<string, string>>;

/** One server `up` in each format, with more keys. */
const formats: Readonly<Record<string, (more: Readonly<Record<string, unknown>>) => Files>> = {
  'Claude and Copilot': (more) => json('.mcp.json', { mcpServers: { up: { command: 'x', ...more } } }),
  'Copilot alone': (more) => json('.github/mcp.json', { mcpServers: { up: { command: 'x', ...more } } }),
  'VS Code': (more) => json('.vscode/mcp.json', { servers: { up: { command: 'x', ...more } } }),
  Cursor: (more) => json('.cursor/mcp.json', { mcpServers: { up: { command: 'x', ...more } } }),
  Gemini: (more) => json('.gemini/settings.json', { mcpServers: { up: { command: 'x', ...more } } }),
  OpenCode: (more) => json('opencode.json', { mcp: { up: { type: 'local', command: ['x'], ...more } } }),
  'OpenCode 2': (more) =>
    json('opencode.json', { mcp: { servers: { up: { type: 'local', command: ['x'], ...more } } } }),
  Codex: (more) => ({ '.codex/config.toml': toml(more) }),
  Squad: (more) => json('.squad/mcp-config.json', { servers: { up: { command: 'x', ...more } } }),
  'a server file': (more) => json('.mcp/servers/up.json', { command: 'x', ...more }),
  'enabled tools': (more) => json('enabled-tools.json', { mcp_servers: { up: { command: 'x', ...more } } }),
  'a product': (more) => json('product.json', { mcp: { servers: { up: { command: 'x', ...more } } } }),
};

function json(file: string, content: unknown): Files {
  return { [file]: JSON.stringify(content, undefined, 1) };
}

function toml(more: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(more).map(([key, value]) => `${key} = ${JSON.stringify(value).replace(/":/g, '"=')}\n`);
  return `[mcp_servers.up]\ncommand = "x"\n${lines.join('')}`;
}

const names = Object.keys(formats);
const make = (format: string, more: Readonly<Record<string, unknown>>): Files => formats[format]?.(more) ?? {};

const spellings = (...words: string[]): string[] =>
  words.flatMap((word) => [word, word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]);

test.each(names)(verifies('config:restrictions', '%s: every word for tools to hide hides them'), async (format) => {
  for (const word of spellings('disabledTools', 'excludeTools', 'excludedTools', 'deniedTools', 'blockedTools')) {
    expect(ready(await load(make(format, { [word]: ['drop'] })), 'up').tools, word).toEqual({ exclude: ['drop'] });
  }
});

test.each(names)(
  verifies('config:restrictions', '%s: every word for tools to offer offers only them'),
  async (format) => {
    for (const word of spellings('allowedTools', 'includeTools', 'enabledTools')) {
      expect(ready(await load(make(format, { [word]: ['look'] })), 'up').tools, word).toEqual({ include: ['look'] });
    }
  },
);

test.each(names)(
  verifies('config:restrictions', '%s: two lists of tools to expose are an error, whichever key the format knows'),
  async (format) => {
    for (const more of [
      { allowedTools: ['look'], includeTools: ['look', 'drop'] },
      { enabledTools: ['look', 'drop'], allowedTools: ['look'] },
      { includeTools: ['look', 'drop'], enabledTools: ['look'] },
    ]) {
      const found = invalid(await load(make(format, more)), 'up');
      expect(found.problems[0]?.message, JSON.stringify(more)).toContain('a second list of tools to expose');
    }
  },
);

test.each(['Claude and Copilot', 'Cursor', 'Squad'])(
  verifies('config:restrictions', '%s: a map of allowed tools allows only those that are on'),
  async (format) => {
    for (const [more, include] of [
      [{ allowedTools: { look: true, drop: false } }, ['look']],
      [{ allowedTools: {} }, []],
      [{ enabledTools: { look: {} } }, ['look']],
      [{ tools: { allowed: { look: true } } }, ['look']],
    ] as const) {
      expect(ready(await load(make(format, more)), 'up').tools, JSON.stringify(more)).toEqual({ include });
    }
  },
);

test.each(['Claude and Copilot', 'Cursor', 'Squad'])(
  verifies('config:restrictions', '%s: a list under a key that only restricts has to be understood'),
  async (format) => {
    for (const more of [
      { disabledTools: [{ name: 'drop' }] },
      { allowedTools: [{ name: 'look' }] },
      { allowedTools: 'look' },
      { excludeTools: [['drop']] },
      { tools: { denied: [{ name: 'drop' }] } },
      { allowedTools: { look: 'sometimes' } },
    ]) {
      expect(invalid(await load(make(format, more)), 'up').problems.length, JSON.stringify(more)).toBeGreaterThan(0);
    }
  },
);

test('a list that only describes tools restricts nothing', async () => {
  const described = { tools: [{ name: 'look', description: 'Looks' }] };
  expect(ready(await load(make('Cursor', described)), 'up').tools).toEqual({});
});

test.each(names)(verifies('config:restrictions', '%s: every word that switches off does'), async (format) => {
  for (const more of [{ disabled: true }, { disable: true }, { enabled: false }, { isActive: false }]) {
    expect(ready(await load(make(format, more)), 'up').enabled, JSON.stringify(more)).toBe(false);
  }
  for (const more of [{ disabled: false }, { disable: false }, { enabled: true }, { isActive: true }]) {
    expect(ready(await load(make(format, more)), 'up').enabled, JSON.stringify(more)).toBe(true);
  }
});

test.each(names)(verifies('config:restrictions', '%s: read-only and a rate are read'), async (format) => {
  for (const word of ['readOnly', 'read_only', 'readonly']) {
    expect(ready(await load(make(format, { [word]: true })), 'up').access.readOnly, word).toBe(true);
  }
  expect(ready(await load(make(format, { rate_limit: 30 })), 'up').limits.ratePerMin).toBe(30);
  for (const rates of [
    { rate_limit: 1, ratePerMin: 100 },
    { ratePerMin: 100, rateLimit: 1 },
  ]) {
    expect(ready(await load(make(format, rates)), 'up').limits.ratePerMin, JSON.stringify(rates)).toBe(1);
  }
});

test.each(names)(
  verifies('config:restrictions', '%s: a restriction of the wrong shape is an error'),
  async (format) => {
    for (const more of [
      { disabledTools: 'drop' },
      { allowedTools: 3 },
      { excludeTools: { drop: 'no' } },
      { disable: 'yes' },
      { rate_limit: 'few' },
      { readOnly: 'perhaps' },
    ]) {
      const [word] = Object.keys(more);
      const found = invalid(await load(make(format, more)), 'up');
      expect(found.problems[0], JSON.stringify(more)).toMatchObject({ severity: 'error', server: 'up' });
      expect(found.problems[0]?.field, JSON.stringify(more)).toContain(word);
      expect(found.problems[0]?.line).toBeGreaterThan(0);
      expect(found.unclear).toBe(true);
    }
  },
);

const notUnderstood = [
  ...['maxCallsPerMinute', 'rateLimits', 'quota', 'limit', 'throttle', 'toolPermissions', 'permission', 'policy'],
  ...['allowList', 'denylist', 'deny', 'block_tools_like', 'blacklist', 'whitelist', 'forbidden', 'restrictTo'],
  ...['requireApproval', 'confirmWrites', 'approvalMode', 'roles', 'sandboxMode', 'hiddenTools', 'toolFilter', 'acl'],
  ...['off', 'access', 'agents', 'users', 'availableTo', 'except', 'omit', 'selectedTools', 'toolset', 'toolsets'],
  ...['private', 'visible', 'rules', 'isolated', 'budget', 'visible_to', 'skip-tools'],
  ...['alwaysDeny', 'alwaysAsk', 'alwaysBlock', 'autoReject', 'alwaysRequireApproval', 'auth_denied_tools', 'log-deny'],
  ...['traceDeny', 'never', 'banned', 'reject', 'rejectTools', 'prohibited', 'write', 'exposedTools', 'tool_names'],
  ...['callsPerMinute', 'requests_per_second', 'callspermin', 'perAgent', 'rpm', 'maximum_calls', 'callBudget', 'cap'],
  ...[
    'noWrite',
    'no_delete',
    'nowrite',
    'withoutShell',
    'mute',
    'mutedTools',
    'bannedtools',
    'preventWrites',
    'revoked',
  ],
  ...['excludeResources', 'includePrompts', 'disabledResources', 'enableWrites', 'allowWrite', 'localOnly'],
];

test.each(names)(
  verifies('config:restrictions', '%s: what looks like a restriction makes the server invalid'),
  async (format) => {
    for (const word of notUnderstood) {
      const found = invalid(await load(make(format, { [word]: ['x'] })), 'up');
      expect(found.problems, word).toMatchObject([
        { severity: 'error', server: 'up', field: expect.stringContaining(word), fix: expect.any(String) },
      ]);
      expect(found.unclear, word).toBe(true);
    }
  },
);

test.each(names)(
  verifies('config:restrictions', '%s: what only widens elsewhere, or is patience, is no error'),
  async (format) => {
    const words = [
      'autoApprove',
      'alwaysAllow',
      'auto_approve',
      'trust',
      'maxRetries',
      'enable_debug',
      'timeout_ms',
      'link',
    ];
    for (const word of words) expect(ready(await load(make(format, { [word]: ['x'] })), 'up').enabled, word).toBe(true);
  },
);

test('a word that is read is no riddle', () => {
  for (const word of ['tools', 'allowed_tools', 'DisabledTools', 'isActive', 'rate_limit']) {
    expect(restrictionRole(word), word).toBeDefined();
  }
  for (const word of [
    'accessToken',
    'timeout',
    'startup_timeout_sec',
    'oauthScopes',
    'description',
    'rated',
    'maximise',
    ...['name', 'icon', 'notes', 'node', 'note', 'notify', 'nonce', 'normalize', 'number', 'north'],
    ...['noProxy', 'no_proxy', 'noCache', 'no-color', 'noVerify', 'noTelemetry', 'serial_no'],
    ...['enableAllProjectMcpServers', 'mcp.toolApproval'],
    ...['capabilities', 'capture', 'percentage', 'period', 'persist', 'mutex', 'mutable', 'bandwidth', 'banner'],
  ]) {
    expect(looksRestrictive(word), word).toBe(false);
  }
});

test.each<[string, unknown, object]>([
  ['lists', { include: ['look'], exclude: ['drop'] }, { include: ['look'], exclude: ['drop'] }],
  ['switches', { look: true, drop: false }, { exclude: ['drop'] }],
  [
    'maps',
    { look: { enabled: true }, drop: { enabled: false }, cut: { disabled: true } },
    { exclude: ['drop', 'cut'] },
  ],
])(verifies('config:restrictions', '"tools" as a map of %s is understood'), async (_what, tools, filter) => {
  for (const format of names.filter((each) => each !== 'Codex')) {
    expect(ready(await load(make(format, { tools })), 'up').tools, format).toEqual(filter);
  }
});

test(verifies('config:restrictions', 'a restriction beside the servers makes all of them invalid'), async () => {
  for (const files of [
    json('.mcp.json', { disabledTools: ['x'], mcpServers: { up: { command: 'x' } } }),
    json('.cursor/mcp.json', { permissions: {}, mcpServers: { up: { command: 'x' } } }),
    json('enabled-tools.json', { toolLimits: 1, mcp_servers: { up: { command: 'x' } } }),
  ]) {
    expect(invalid(await load(files), 'up').problems).toMatchObject([{ severity: 'error', line: 2 }]);
  }
  const squad = await load(json('.squad/mcp-config.json', { permissions: {}, servers: { up: { command: 'x' } } }));
  expect(squad.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny' }]);
  expect(squad.problems).toMatchObject([{ severity: 'error', fatal: true }]);
});

test(
  verifies('config:restrictions', 'limits and permissions that are not known are errors in server files'),
  async () => {
    for (const text of [
      'command: x\nlimits: { burst: 3 }\n',
      'command: x\npermissions: { colour: red }\n',
      'command: x\npermissions: { extra: { deny: [drop] } }\n',
    ]) {
      expect(invalid(await load({ '.mcp/servers/up.yaml': text }), 'up').unclear, text).toBe(true);
    }
  },
);

test(verifies('config:restrictions', 'rate_limit is rate_per_min, at the server and in its limits'), async () => {
  for (const [file, indent] of [
    ['quartermaster.yaml', 'servers:\n  up:\n    command: x\n    '],
    ['.mcp/servers/up.yaml', 'command: x\n'],
  ] as const) {
    for (const text of [
      'rate_limit: 30',
      'limits: { rate_limit: 30 }',
      'limits: { rate_per_min: 30, rate_limit: 30 }',
    ]) {
      expect(ready(await load({ [file]: `${indent}${text}\n` }), 'up').limits.ratePerMin, text).toBe(30);
    }
    const differs = await load({ [file]: `${indent}limits: { rate_per_min: 30, rate_limit: 31 }\n` });
    expect(invalid(differs, 'up').problems[0]?.message).toContain('differ');
  }
});

test(
  verifies('config:restrictions', 'an empty list of scopes grants nothing; one that sync spelled out says nothing'),
  async () => {
    for (const files of [
      { 'quartermaster.yaml': 'servers:\n  up:\n    command: x\n    scopes: []\n' },
      { '.mcp/servers/up.yaml': 'command: x\nscopes: []\n' },
      { '.mcp/servers/up.yaml': 'command: x\npermissions: { scope: [] }\n' },
    ] as Files[]) {
      const configuration = await load(files);
      const policy = compilePolicy(configuration, ['a']);
      const hints = { readOnly: true, destructive: false } as never;
      expect(policy.decide('up', 'look', 'up_look', hints)).toMatchObject({
        effect: 'deny',
        reason: { kind: 'no-scope' },
      });
      expect(policy.decideRead('up', 'prompt:x')).toMatchObject({ effect: 'deny', reason: { kind: 'no-scope' } });
    }
    const made = {
      command: 'x',
      scopes: [],
      permissions: { scope: [], tools: {}, extra: {} },
      metadata: { source_digest: 'a' },
    };
    expect(ready(await load(json('.mcp/servers/up.json', made)), 'up').access.scopes).toBeUndefined();
  },
);
