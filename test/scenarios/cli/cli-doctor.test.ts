// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { access, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { DoctorAnswer, DoctorServer } from '../../../src/faces/cli/doctor/diagnosis-shapes.ts';
import { doctorSchema, errorSchema, lsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { readCalls } from '../../../src/ledger/index.ts';
import { pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { startHttpFixture } from '../../support/fixture-servers.ts';
import { stdioServer } from '../../support/hub.ts';
import { layoutOf, ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, type QmOptions, type QmResult, runQm, serveQm, startQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';
import { runOnScreen } from '../screen.fixture.ts';

/** Nothing listens here. */
const nobody = 'http://127.0.0.1:9/mcp';
const echo = stdioServer('echo-stdio.mjs');

/** The URL of a fixture that ends with the test. */
async function urlOf(file: string, args: readonly string[] = []): Promise<string> {
  const fixture = await startHttpFixture(file, args);
  onTestFinished(() => fixture.stop());
  return fixture.url;
}

/** In this process, where a test is about the answer alone. */
function doctorHere(workspace: string, args: readonly string[] = [], env: QmOptions['env'] = {}): Promise<QmResult> {
  const options = { cwd: tmpdir(), env: { PATH: process.env.PATH ?? '', HOME: tmpdir(), ...env } };
  return runHere(['doctor', '--workspace', workspace, '--timeout', '5', ...args], options);
}

function doctor(workspace: string, args: readonly string[] = [], options: QmOptions = {}): Promise<QmResult> {
  return runQm(['doctor', '--workspace', workspace, '--timeout', '5', ...args], options);
}

async function diagnose(
  servers: Record<string, object>,
  args: readonly string[] = [],
  options: QmOptions = {},
): Promise<{ code: number | null; answer: DoctorAnswer; row: (name: string) => DoctorServer; workspace: string }> {
  const workspace = await makeWorkspace({ servers });
  const { code, stdout, stderr } = await doctor(workspace, ['--json', ...args], options);
  expect(stderr).toBe('');
  const answer = doctorSchema.parse(JSON.parse(stdout));
  const row = (name: string): DoctorServer => {
    const found = answer.servers.find((server) => server.name === name);
    if (found === undefined) throw new Error(`no word of ${name}`);
    return found;
  };
  return { code, answer, row, workspace };
}

test(
  verifies('doctor:verdicts', 'a server that answers is reachable, with its transport, protocol version and tools'),
  async () => {
    const [legacy, modern, old] = await Promise.all([
      urlOf('echo-http.mjs', ['--era', 'legacy', '--sessions']),
      urlOf('echo-http.mjs', ['--era', 'modern']),
      urlOf('echo-sse.mjs', ['--streamable', '405']),
    ]);
    const { code, answer, row } = await diagnose({
      child: echo,
      legacy: { url: legacy },
      modern: { url: modern },
      old: { url: old },
      second: { url: nobody, fallback: [echo] },
      off: { command: 'not-there', enabled: false },
    });
    expect(code).toBe(0);
    expect(answer.problems).toEqual([]);
    expect(row('child')).toMatchObject({ verdict: 'reachable', transport: 'stdio', protocolVersion: '2025-11-25' });
    expect(row('child')).toMatchObject({ httpStatus: null, sessionId: null, nextSteps: [] });
    expect(row('child').tools).toContain('raw_args');
    expect(row('legacy')).toMatchObject({ verdict: 'reachable', transport: 'http', httpStatus: 200 });
    expect(row('legacy').sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(row('modern')).toMatchObject({ protocolVersion: '2026-07-28', sessionId: null });
    expect(row('old')).toMatchObject({ verdict: 'reachable', transport: 'sse' });
    expect(row('old').attempts).toMatchObject([
      { transport: 'http', implicit: false, verdict: 'unreachable', httpStatus: 405 },
      { transport: 'sse', implicit: true, verdict: 'reachable' },
    ]);
    expect(row('second').attempts).toMatchObject([
      { transport: 'http', verdict: 'unreachable', error: { code: 'UPSTREAM_UNAVAILABLE' } },
      { transport: 'stdio', verdict: 'reachable', error: null },
    ]);
    expect(row('off')).toMatchObject({ verdict: 'disabled', attempts: [], durationMs: null });
  },
);

test(
  verifies('doctor:verdicts', '401, 403 and 451 count as answers and are reported with the header to check'),
  async () => {
    const [locked, refused, law] = await Promise.all([
      urlOf('bad-http.mjs', ['401']),
      urlOf('bad-http.mjs', ['403']),
      urlOf('echo-sse.mjs', ['--streamable', '451']),
    ]);
    const headers = { Authorization: 'Bearer ${MY_KEY}' };
    const options = { env: { MY_KEY: 'correct-horse-battery' } };
    const servers = {
      locked: { url: locked, fallback: [echo] },
      keyed: { url: locked, headers },
      refused: { url: refused, headers },
      law: { url: law },
      fine: echo,
    };
    const { code, answer, row, workspace } = await diagnose(servers, [], options);
    expect(code).toBe(1);
    expect(row('locked')).toMatchObject({ verdict: 'needs-auth', transport: 'http', httpStatus: 401, tools: null });
    // An answer ends the chain: the fallback was not tried.
    expect(row('locked').attempts).toHaveLength(1);
    expect(row('locked').nextSteps[0]).toContain('"Bearer ${LOCKED_TOKEN}"} and set LOCKED_TOKEN');
    expect(row('keyed').nextSteps[0]).toMatch(/the header Authorization of server keyed \(quartermaster\.yaml:\d+\)/);
    expect(row('refused')).toMatchObject({ verdict: 'auth-failed', httpStatus: 403 });
    expect(row('refused').nextSteps[0]).toMatch(/scopes.*licence/);
    expect(row('law')).toMatchObject({ verdict: 'auth-failed', httpStatus: 451 });
    expect(JSON.stringify(answer)).not.toContain('correct-horse');

    const read = await doctor(workspace, ['locked', 'refused'], options);
    expect(read.code).toBe(1);
    expect(read.stdout).toContain('! locked  needs-auth');
    expect(read.stdout).toContain('✗ refused  auth-failed');
    expect(read.stderr).toMatch(
      /^2 servers: 1 needs-auth, 1 auth-failed\. Recorded in the audit log as run doctor-[0-9a-z]+\.\n$/,
    );
    expect((await doctor(workspace, ['refused'], options)).code).toBe(1);
    expect((await doctor(workspace, ['fine'], options)).code).toBe(0);
  },
);

test(verifies(
  'doctor:verdicts',
  'a failed server is unreachable, with the failure of each transport and the next step',
), async () => {
  const modes = ['429', '500', 'garbage', 'html', 'redirect', 'hang'];
  const urls = await Promise.all(modes.map((mode) => urlOf('bad-http.mjs', [mode])));
  const bad = Object.fromEntries(modes.map((mode, index) => [`http-${mode}`, { url: urls[index] }]));
  const { code, row } = await diagnose(
    {
      ...bad,
      nobody: { url: nobody },
      unknown: { url: 'http://no-such-host.invalid/mcp' },
      missing: { command: 'uvx', args: ['mcp-server-fetch'], env: { PATH: '/nowhere' } },
      folder: { command: 'node', cwd: 'not-there' },
      dies: { command: 'sh', args: ['-c', 'echo no database >&2; exit 3'] },
      silent: stdioServer('bad.mjs', ['never-answers']),
      unlisted: { command: process.execPath, args: ['-e', greetsOnly] },
      both: { url: nobody, fallback: [{ command: 'also-not-there' }] },
    },
    ['--timeout', '2'],
  );
  expect(code).toBe(1);
  const said = (name: string): string => {
    const { verdict, attempts, nextSteps } = row(name);
    expect(verdict, name).toBe('unreachable');
    return [...attempts.map(({ transport, error }) => `${transport}: ${error?.message}`), ...nextSteps].join('\n');
  };
  expect(said('http-429')).toMatch(/throttling \(429\)[\s\S]*try again in 7 s/);
  expect(said('http-500')).toMatch(/HTTP 500[\s\S]*look at its logs/);
  expect(said('http-garbage')).toMatch(/not MCP[\s\S]*check the path in the url/);
  expect(said('http-html')).toMatch(/text\/html/);
  expect(said('http-redirect')).toMatch(/Redirects are not followed/);
  expect(said('http-hang')).toMatch(/(did not answer|was not done)[\s\S]*--timeout 16/);
  expect(said('nobody')).toMatch(/Nothing listens at 127\.0\.0\.1:9/);
  expect(said('unknown')).toContain('no-such-host.invalid');
  expect(said('missing')).toMatch(/"uvx" was not found[\s\S]*Install uv[\s\S]*quartermaster\.yaml:\d+/);
  expect(said('folder')).toMatch(/working folder[\s\S]*correct its cwd/);
  expect(said('dies')).toMatch(/code 3[\s\S]*no database[\s\S]*by hand[\s\S]*sh -c 'echo no database >&2; exit 3'/);
  expect(said('silent')).toMatch(/(did not answer|did not finish)[\s\S]*bad\.mjs never-answers/);
  expect(said('unlisted')).toMatch(/did not list its tools: nothing here/);
  expect(said('both')).toMatch(/^http: [\s\S]*\nstdio: [\s\S]*Nothing listens[\s\S]*also-not-there/);
}, 180_000);

/** Completes the legacy handshake, then fails to list its tools. */
const greetsOnly = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const capabilities = { tools: {} };
  const serverInfo = { name: 'x', version: '1' };
  const greeting = { result: { protocolVersion: '2025-06-18', capabilities, serverInfo } };
  const answer = method === 'initialize' ? greeting : { error: { code: -32603, message: 'nothing here' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
});`;

test('configuration problems come first, file by file; an invalid server is not tried and is reported once', async () => {
  const workspace = await makeWorkspace({ servers: { echo } });
  await writeFile(
    join(workspace, '.mcp.json'),
    '{"mcpServers":{\n"half":{"command":"${NOT_THERE}"},\n"echo":{"command":"x"}}}',
  );
  const { code, stdout } = await doctorHere(workspace);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^\.mcp\.json\n {2}warning line 3, .*overridden by/);
  expect(stdout).toMatch(
    /\n\n✗ half {2}invalid\n {2}→ \.mcp\.json:2 Server "half": "command" needs the variable NOT_THERE, .* Set NOT_THERE in /,
  );
  expect(stdout.match(/needs the variable/g)).toHaveLength(1);
  expect(stdout).toMatch(/✓ echo {2}reachable/);

  const json = await doctorHere(workspace, ['half', '--json']);
  expect(json.code).toBe(1);
  const answer = doctorSchema.parse(JSON.parse(json.stdout));
  expect(answer).toMatchObject({ run: null, servers: [{ name: 'half', verdict: 'invalid', attempts: [] }] });
  expect(answer.problems).toMatchObject([{ server: 'half', file: '.mcp.json', line: 2 }]);
});

test('an unreadable file without restrictions is reported, and the servers of other files are tried', async () => {
  const workspace = await makeWorkspace({ servers: { echo } });
  await writeFile(join(workspace, '.mcp.json'), '{"mcpServers":{');
  const { code, stdout, stderr } = await doctor(workspace);
  expect(stdout).toMatch(/^\.mcp\.json\n {2}error line 1/);
  expect(stdout).toMatch(/✓ echo {2}reachable/);
  expect(stderr).toMatch(/^1 server: 1 reachable\./);
  expect(code).toBe(1);
});

test('usage errors and configuration errors have different exit codes, and leave nothing behind', async () => {
  const workspace = await makeWorkspace({ servers: { 'echo-one': echo } });
  const broken = await makeWorkspace('servers: [');
  const cases: readonly [code: number, where: string, args: readonly string[], says: RegExp][] = [
    [2, workspace, ['echo-onne'], /No server "echo-onne" is configured\. Did you mean echo-one\?/],
    [2, workspace, ['elsewhere'], /Configured servers: echo-one\./],
    [2, workspace, ['--timeout', 'soon'], /"soon" is not a number of seconds/],
    [2, workspace, ['--timeout', '0'], /not a number of seconds/],
    [2, workspace, ['--run', '../x'], /cannot be a run id/],
    [3, broken, [], /No server was tried: quartermaster\.yaml:\d+ has to be corrected first/],
    [3, broken, ['any'], /No server was tried/],
    [0, await makeWorkspace('version: 1'), [], /^No servers are configured here\. Add one /],
  ];
  for (const [expected, where, args, says] of cases) {
    const { code, stderr } = await doctorHere(where, args);
    expect(stderr, args.join(' ')).toMatch(says);
    expect(code, args.join(' ')).toBe(expected);
    await expect(access(join(where, '.runs'))).rejects.toThrow('ENOENT');
    await expect(access(layoutOf(where).folder)).rejects.toThrow('ENOENT');
  }
  const { stdout, stderr } = await doctorHere(broken, ['--json']);
  expect(doctorSchema.parse(JSON.parse(stdout))).toMatchObject({ run: null, servers: [], problems: [{ line: 1 }] });
  expect(errorSchema.parse(JSON.parse(stderr)).error.code).toBe('CONFIG_INVALID');
});

test(verifies('doctor:recorded', 'each probe is recorded on the ledger, under the requested run'), async () => {
  const [locked, legacy] = await Promise.all([
    urlOf('bad-http.mjs', ['401']),
    urlOf('echo-http.mjs', ['--era', 'legacy', '--sessions']),
  ]);
  const { answer, row, workspace } = await diagnose(
    {
      locked: { url: locked },
      legacy: { url: legacy },
      second: { url: nobody, fallback: [echo] },
      gone: { url: nobody },
    },
    ['--run', 'check-1'],
  );
  expect(answer.run).toBe('check-1');
  const lines = new Map((await readCalls(ledgerOf(workspace), { run: 'check-1' })).map((line) => [line.server, line]));
  expect(lines.size).toBe(4);
  for (const line of lines.values()) expect(line).toMatchObject({ agent: 'operator', tool: 'doctor' });
  expect(lines.get('locked')).toMatchObject({
    status: 'error',
    outcome: 'needs_login',
    transport: 'http',
    http_status: 401,
    protocol_version: null,
  });
  expect(lines.get('locked')?.args).toEqual({ transports: ['http'] });
  expect(lines.get('legacy')).toMatchObject({
    status: 'ok',
    transport: 'http',
    http_status: 200,
    session_id: row('legacy').sessionId,
    protocol_version: row('legacy').protocolVersion,
    args: { transports: ['http'], tools: expect.arrayContaining(['add', 'counter', 'echo']) },
  });
  expect(lines.get('second')).toMatchObject({ status: 'ok', transport: 'stdio', retries: 1 });
  expect(lines.get('gone')).toMatchObject({ outcome: 'unavailable', transport: 'http', http_status: null });
});

test(verifies('doctor:apart', 'a hub that runs in the workspace is not affected'), async () => {
  const workspace = await makeWorkspace({ servers: { echo } });
  const hub = await serveQm(workspace);
  const status = async () =>
    lsSchema.parse(JSON.parse((await runQm(['ls', '--json', '--workspace', workspace])).stdout));
  await eventually(async () => ((await status()).servers[0]?.tools === undefined ? undefined : true), 'its tools');
  const children = pidsOfHub(hub.pid);
  const { code, stdout } = await doctor(workspace);
  expect(code).toBe(0);
  expect(stdout).toMatch(/✓ echo {2}reachable/);
  expect(pidsOfHub(hub.pid)).toEqual(children);
  expect(await status()).toMatchObject({ hub: hub.url, servers: [{ state: 'connected' }] });
  hub.signal('SIGTERM');
  expect((await hub.ended()).code).toBe(0);
});

test('without a terminal, each result is printed as soon as it is known', async () => {
  const workspace = await makeWorkspace({ servers: { silent: stdioServer('bad.mjs', ['never-answers']), echo } });
  const running = startQm(['doctor', '--workspace', workspace, '--timeout', '600']);
  expect(await running.line()).toMatch(/^✓ echo {2}reachable/);
  running.signal('SIGINT');
  const { code, stdout, stderr } = await running.ended();
  expect(code).toBe(130);
  expect(stdout).not.toContain('silent');
  expect(stdout).not.toContain('\u001b');
  expect(stderr).toContain('Stopped; 1 server was not tried to the end.');
});

test('a closed pipe ends the probes quietly', async () => {
  const workspace = await makeWorkspace({
    servers: { silent: stdioServer('bad.mjs', ['never-answers']), slow: stdioServer('bad.mjs', ['slow-start']), echo },
  });
  const running = startQm(['doctor', '--workspace', workspace, '--timeout', '600']);
  await running.line();
  running.child.stdout.destroy();
  expect(await running.ended()).toMatchObject({ code: 130, stderr: '' });
});

test(verifies('doctor:stop', 'Ctrl-C ends the probes and their children, even stubborn ones'), async () => {
  const workspace = await makeWorkspace({
    servers: {
      silent: stdioServer('bad.mjs', ['never-answers']),
      deaf: { command: 'sh', args: ['-c', "trap '' TERM INT HUP; while :; do sleep 1; done"] },
      hung: { url: await urlOf('bad-http.mjs', ['hang']) },
    },
  });
  const running = startQm(['doctor', '--workspace', workspace, '--timeout', '600', '--run', 'stopped', '--json']);
  await eventually(() => pidsOfHub(running.pid).length >= 2 || undefined, 'the servers to start');
  running.signal('SIGINT');
  const { code, stdout, stderr } = await running.ended();
  expect(code).toBe(130);
  expect(stdout).toBe('');
  expect(errorSchema.parse(JSON.parse(stderr)).error.code).toBe('CANCELLED');
  const lines = await readCalls(ledgerOf(workspace), { run: 'stopped' });
  expect(lines.map(({ server, outcome }) => `${server} ${outcome}`).sort()).toEqual([
    'deaf cancelled',
    'hung cancelled',
    'silent cancelled',
  ]);
});

test(verifies('doctor:stop', 'on a terminal, lines are redrawn in place and the cursor is restored'), async () => {
  const workspace = await makeWorkspace({ servers: { silent: stdioServer('bad.mjs', ['never-answers']), echo } });
  const running = runOnScreen(['doctor', '--timeout', '600'], { workspace, columns: 40 });
  await eventually(() => /✓.*echo.*reachable/.test(running.stderr()) || undefined, 'the first verdict');
  expect(running.stderr()).toContain('trying stdio');
  expect(running.stderr()).toContain('\u001b[?25l');
  expect(running.stderr()).not.toContain('\u001b[?25h');
  expect(running.stdout()).toBe('');
  running.signal('SIGINT');
  expect(await running.ended).toBe(130);
  const seen = running.stderr();
  expect(seen.lastIndexOf('\u001b[?25h')).toBeGreaterThan(seen.lastIndexOf('\u001b[?25l'));
  expect(running.stdout()).toContain('reachable');
});

test('on a terminal, results are in the order of the configuration, and no fact is broken across lines', async () => {
  const workspace = await makeWorkspace({
    servers: { away: { url: nobody }, slow: stdioServer('bad.mjs', ['slow-start']), echo },
  });
  const running = runOnScreen(['doctor'], { workspace, columns: 40, env: { NO_COLOR: '1' } });
  expect(await running.ended).toBe(1);
  const lines = running.stdout().split('\n');
  expect(lines.filter((line) => /^[✓✗]/.test(line)).map((line) => line.split(' ')[1])).toEqual([
    'away',
    'slow',
    'echo',
  ]);
  expect(lines.filter((line) => line.length > 40)).toEqual([]);
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}9 tools: echo, add, .*…$/));
});

test("a server's output is shown with control characters escaped and secrets redacted", async () => {
  const script = 'printf "\\033[2Jowned $KEY" >&2; exit 1';
  const workspace = await makeWorkspace({
    servers: { evil: { command: 'sh', args: ['-c', script, '${KEY}'], env: { KEY: '${KEY}' } } },
  });
  const options = { env: { KEY: 'correct-horse-battery' } };
  const { stdout, stderr } = await doctorHere(workspace, [], options.env);
  expect(stdout).toContain('owned [redacted]');
  expect(stdout + stderr).not.toContain('\u001b');
  expect(stdout + stderr).not.toContain('correct-horse');
  const json = await doctorHere(workspace, ['--json'], options.env);
  expect(json.stdout).not.toContain('correct-horse');
});

test('a secret in a host name is redacted, whatever its letter case', async () => {
  const workspace = await makeWorkspace({ servers: { tenant: { url: 'http://${TENANT}.invalid/mcp' } } });
  const options = { env: { TENANT: 'SecretTenantXYZ' } };
  for (const more of [[], ['--json']]) {
    const { stdout, stderr } = await doctorHere(workspace, more, options.env);
    expect(stdout).toContain('[redacted].invalid');
    expect((stdout + stderr).toLowerCase()).not.toContain('secrettenant');
  }
});
