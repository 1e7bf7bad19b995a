// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { HubError } from '../../../base/index.ts';
import type { ServerSpec, TransportSpec } from '../../../domain/index.ts';
import type { Probe, ProbeAttempt } from '../../../upstream/index.ts';
import { adviceFor } from './doctor-advice.ts';

const http: TransportSpec = { type: 'http', url: 'https://mcp.example.test/v1?key=hush', headers: {} };
const withToken: TransportSpec = { ...http, headers: { Authorization: 'Bearer hush-hush', Accept: '*/*' } };
const stdio: TransportSpec = {
  type: 'stdio',
  command: 'npx',
  args: ['-y', 'a server', '--key', 'hush'],
  env: {},
  cwd: '/w',
};

function spec(transport: TransportSpec, fallbacks: readonly TransportSpec[] = []): ServerSpec {
  return {
    name: 'my-hub.v2',
    source: { file: '.mcp.json', line: 3 },
    hides: [],
    description: undefined,
    enabled: true,
    shared: false,
    transport,
    fallbacks,
    tools: {},
    limits: { timeoutMs: 1, maxMs: 1, concurrency: 1, ratePerMin: undefined, graceMs: 1 },
    access: {
      scopes: undefined,
      readOnly: false,
      writeRequiresApproval: false,
      trustAnnotations: false,
      source: { file: '.mcp.json' },
    },
    restrictedBy: [],
    isolation: 'shared',
    roots: 'none',
    reaches: [],
    cache: undefined,
    instead: undefined,
    connectionKey: '',
  };
}

function attempt(more: Partial<ProbeAttempt>): ProbeAttempt {
  return {
    transport: 'http',
    implicit: false,
    verdict: 'unreachable',
    httpStatus: undefined,
    protocolVersion: undefined,
    sessionId: null,
    durationMs: 1,
    error: undefined,
    ...more,
  };
}

function advise(server: ServerSpec, ...attempts: ProbeAttempt[]): string[] {
  const verdict = attempts.find((each) => each.verdict !== 'unreachable')?.verdict ?? 'unreachable';
  const probe: Probe = {
    server: server.name,
    verdict,
    attempts,
    catalog: undefined,
    remembered: undefined,
    durationMs: 1,
  };
  const redact = (text: string): string => text.replaceAll('hush', '[redacted]');
  return adviceFor(server, probe, { timeoutMs: 15_000, isConfigured: true, redact });
}

test('a login that is missing: which header, which variable, where', () => {
  expect(advise(spec(http), attempt({ verdict: 'needs-auth', httpStatus: 401 }))).toEqual([
    'Give server my-hub.v2 (.mcp.json:3) "headers": {"Authorization": "Bearer ${MY_HUB_V2_TOKEN}"} and set MY_HUB_V2_TOKEN in .env or in the environment of the hub.',
  ]);
});

test('of a server that was written from a preset the variable of its file is named', () => {
  const locked = attempt({ verdict: 'needs-auth', httpStatus: 401 });
  const server = { ...spec(http), name: 'notion', source: { file: 'ops/adk/servers/notion.yaml', line: 1 } };
  expect(advise(server, locked)).toEqual([
    'Set NOTION_MCP_TOKEN in .env or in the environment of the hub: a token, if nobody can log in with a browser.',
  ]);
  expect(advise({ ...server, transport: withToken }, locked)[0]).toContain('renew the token');
  expect(advise({ ...server, source: { file: '.mcp.json' } }, locked)[0]).toContain('NOTION_TOKEN');
});

test.each([
  [
    'npx',
    ['-y', '@modelcontextprotocol/server-git@1.0.0', '--repository', '.'],
    /never had one.*"builtin: git" with args: \[--repository, \.\], in place of type, command and args\.$/,
    /never had one.*the command `qm builtin git --repository \.` in place of it\.$/,
  ],
  [
    'npx',
    ['-y', '@modelcontextprotocol/server-fetch'],
    /never had one.*"builtin: fetch", in place/,
    /the command `qm builtin fetch` in place of it\.$/,
  ],
  [
    'npx',
    ['@modelcontextprotocol/server-postgres', 'x'],
    /COMMIT.*"builtin: pg-readonly", in place.*the URL as PG_RO_URL/,
    /COMMIT.*`qm builtin pg-readonly` in place of it, and the URL as PG_RO_URL in its env\.$/,
  ],
])('a package that a built-in server replaces: %s %j', (command, args, ours, others) => {
  // Other clients read `.mcp.json` too, and know no built-in servers.
  const theirs = spec({ type: 'stdio', command, args, env: {}, cwd: '/w' });
  const gone = attempt({ transport: 'stdio', error: new HubError('UPSTREAM_LOST', '') });
  expect(advise(theirs, gone)).toEqual([expect.stringMatching(others), expect.stringContaining('by hand')]);
  expect(advise(theirs, attempt({ transport: 'stdio', verdict: 'reachable' }))).toEqual([
    expect.stringMatching(others),
  ]);
  for (const file of ['quartermaster.yaml', '.mcp/servers/x.yaml', 'ops/adk/servers/x.yaml']) {
    expect(advise({ ...theirs, source: { file } }, gone)[0]).toMatch(ours);
  }
});

test("the advice for the database of Squad's example covers its variable and its tools", () => {
  const [, ...args] = ['npx', '-y', '@modelcontextprotocol/server-postgres'];
  const env = { DATABASE_URL: 'postgres://app@db.example/app' };
  const server = {
    ...spec({ type: 'stdio', command: 'npx', args, env, cwd: '/w' }),
    source: { file: '.squad/mcp-config.json' },
    tools: { include: ['query', 'list_tables', 'describe_table'] },
  };
  const [advice] = advise(server, attempt({ transport: 'stdio', error: new HubError('UPSTREAM_LOST', '') }));
  expect(advice).toMatch(
    /"builtin": "pg-readonly", in place of type, command and args, rename DATABASE_URL in its env to PG_RO_URL, and write execute_query in place of query in its tools\.$/,
  );
});

test('a built-in server that does not open says itself what it wants', () => {
  const server = spec({ type: 'builtin', builtin: 'git', args: ['--repository', '.'], env: {}, cwd: '/w' });
  const unopened = new HubError('UPSTREAM_UNAVAILABLE', '', { hint: 'Name a repository.', details: { server: 'x' } });
  expect(advise(server, attempt({ transport: 'builtin', error: unopened }))).toEqual([
    'Name a repository. It is configured in .mcp.json:3.',
  ]);
  const lost = new HubError('UPSTREAM_UNAVAILABLE', '', {
    hint: 'It comes back.',
    details: { reason: 'it was closed' },
  });
  expect(advise(server, attempt({ transport: 'builtin', error: lost }))).toEqual([
    'Run it by hand and read its output:\ncd /w && qm builtin git --repository .',
  ]);
});

test('a login that does not do any more: which header holds it, and never what it holds', () => {
  const [step = ''] = advise(spec(withToken), attempt({ verdict: 'needs-auth', httpStatus: 401 }));
  expect(step).toContain('the header Authorization of server my-hub.v2 (.mcp.json:3)');
  expect(step).toContain('renew the token');
  expect(step).not.toContain('hush');
});

test('a refusal: scopes and licence, or that nothing was sent, or the law', () => {
  const refused = (status: number): ProbeAttempt => attempt({ verdict: 'auth-failed', httpStatus: status });
  expect(advise(spec(withToken), refused(403))[0]).toMatch(/check the scopes of the token.*licence/);
  expect(advise(spec(http), refused(403))[0]).toMatch(/No credential goes with the request/);
  expect(advise(spec(withToken), refused(451))[0]).toMatch(/legal reasons \(451\).*region/);
});

test('the header is looked for at the transport that was refused', () => {
  const server = spec(http, [withToken]);
  const away = attempt({ error: new HubError('UPSTREAM_UNAVAILABLE', 'away') });
  const first = attempt({ verdict: 'needs-auth', httpStatus: 401 });
  expect(advise(server, first)[0]).toContain('MY_HUB_V2_TOKEN');
  expect(advise(server, away, attempt({ implicit: true }), first)[0]).toContain('renew the token');
});

test.each([
  [{ httpStatus: 404 }, /not at this path \(404\).*often ends in \/mcp/],
  [{ httpStatus: 302 }, /Redirects are not followed/],
  [{ httpStatus: 503 }, /failed \(503\): look at its logs/],
  [{ httpStatus: 200 }, /not with MCP: check the path/],
  [{ httpStatus: 429, error: new HubError('UPSTREAM_THROTTLED', '', { details: { retryAfterMs: 6500 } }) }, /in 7 s/],
  [{ httpStatus: 429 }, /too many requests \(429\): try again later/],
  [{ error: new HubError('UPSTREAM_TIMEOUT', '') }, /does not answer.*--timeout 120/],
  [{ error: refusedBy('ECONNREFUSED') }, /Nothing listens at mcp\.example\.test: start the server/],
  [{ error: refusedBy('ENOTFOUND') }, /The name mcp\.example\.test is not known here/],
  [{ error: refusedBy('CERT_HAS_EXPIRED') }, /network, proxy, certificate/],
])('over HTTP %j', (more, says) => {
  const [step = ''] = advise(spec(http), attempt(more));
  expect(step).toMatch(says);
  expect(step).not.toContain('hush');
});

test('a child: how to get its program, or how to run it by hand, without its secrets', () => {
  const child = (error: HubError): string[] => advise(spec(stdio), attempt({ transport: 'stdio', error }));
  const missing = new HubError('UPSTREAM_UNAVAILABLE', '', { hint: 'Install Node.', details: { command: 'npx' } });
  expect(child(missing)).toEqual(['Install Node. It is configured in .mcp.json:3.']);
  const byHand = "cd /w && npx -y 'a server' --key [redacted]";
  expect(child(new HubError('UPSTREAM_LOST', ''))).toEqual([`Run it by hand and read its output:\n${byHand}`]);
  expect(child(new HubError('UPSTREAM_GARBLED', ''))[0]).toMatch(/must contain only MCP messages/);
  expect(child(new HubError('UPSTREAM_TIMEOUT', ''))[0]).toMatch(/download.*--timeout 120/);
});

test('each transport that failed gets its own advice, the one that nobody asked for none', () => {
  const steps = advise(
    spec(http, [stdio]),
    attempt({ httpStatus: 404 }),
    attempt({ transport: 'sse', implicit: true, httpStatus: 404 }),
    attempt({ transport: 'stdio', error: new HubError('UPSTREAM_LOST', '') }),
  );
  expect(steps).toHaveLength(2);
  expect(steps[0]).toContain('(404)');
  expect(steps[1]).toContain('by hand');
});

function refusedBy(code: string): HubError {
  return new HubError('UPSTREAM_UNAVAILABLE', code, { cause: Object.assign(new Error(code), { code }) });
}

test('a secret in the name of a host is hidden, though parsing an address changes its letters', () => {
  const refused = attempt({
    error: new HubError('UPSTREAM_UNAVAILABLE', 'x', { cause: Object.assign(new Error('x'), { code: 'ENOTFOUND' }) }),
  });
  for (const url of ['http://hush.invalid/mcp', 'http://user:x@hush.invalid', 'http://HUSH.hush.invalid?a@b']) {
    const [advice] = advise(spec({ ...http, url }), refused);
    expect(advice).toContain('[redacted].invalid is not known here');
  }
});

test('a package that npm does not have is named, with the place of the entry', () => {
  const stderrTail = [
    'npm error code E404',
    'npm error 404 Not Found - GET https://registry.npmjs.org/nope - Not found',
    "npm error 404  The requested resource 'nope@*' could not be found or you do not have permission to access it.",
    'npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log',
  ].join('\n');
  const error = new HubError('UPSTREAM_UNAVAILABLE', 'exited', { details: { stderrTail } });
  expect(advise(spec(stdio), attempt({ transport: 'stdio', error }))).toEqual([
    'npm has no package "nope", or you may not read it: check the name and the version. It is configured in .mcp.json:3.',
  ]);
  const other: TransportSpec = { ...stdio, command: 'node' };
  expect(advise(spec(other), attempt({ transport: 'stdio', error }))[0]).toContain('Run it by hand');
});
