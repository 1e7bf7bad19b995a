import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { healthSchema } from '../../../src/faces/api/index.ts';
import { lsSchema, serveLineSchema, tokenIssueSchema } from '../../../src/faces/cli/json-shapes.ts';
import { readCalls, readOpenCalls } from '../../../src/ledger/index.ts';
import { ledgerPlaces } from '../../../src/storage/index.ts';
import { pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { stdioServer } from '../../support/hub.ts';
import { legacyClient, modernClient, textOf } from '../../support/mcp-clients.ts';
import { layoutOf, ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { configure, makeWorkspace, runQm, serveQm, startQm } from '../qm.fixture.ts';

const team = { servers: { echo: stdioServer('echo-stdio.mjs') }, agents: { tester: { servers: ['echo'] } } };

async function issue(workspace: string, ...more: string[]): Promise<{ token: string; id: string }> {
  const args = ['token', 'issue', '--agent', 'tester', '--json', '--workspace', workspace, ...more];
  return tokenIssueSchema.parse(JSON.parse((await runQm(args)).stdout));
}

test('serve prints its address, other commands find it, and a revoked token is refused at once', async () => {
  const workspace = await makeWorkspace(team);
  const hub = await serveQm(workspace);
  const line = serveLineSchema.parse(JSON.parse(hub.firstLine));
  expect(line).toMatchObject({ workspace, database: null });
  expect((await stat(line.adminTokenFile)).mode & 0o777).toBe(0o600);
  expect((await stat(join(layoutOf(workspace).folder, 'serve.json'))).mode & 0o777).toBe(0o600);

  const { token, id } = await issue(workspace);
  const client = modernClient(`${hub.url}/mcp`, token);
  expect(textOf((await client.call('echo', { message: 'hi' })).message)).toBe('hi');
  const ls = await runQm(['ls', '--json', '--workspace', workspace]);
  const { hub: address, servers } = lsSchema.parse(JSON.parse(ls.stdout));
  expect(address).toBe(hub.url);
  expect(servers).toMatchObject([{ name: 'echo', state: 'connected', tools: 9 }]);

  const session = await legacyClient(`${hub.url}/mcp`, token);
  expect((await runQm(['token', 'revoke', id, '--workspace', workspace])).code).toBe(0);
  expect((await client.call('echo', { message: 'hi' })).status).toBe(401);
  expect((await session.request('tools/list')).status).toBe(401);
  hub.signal('SIGINT');
  expect(await hub.ended()).toMatchObject({ code: 130 });
  expect(hub.stdout()).toBe(`${hub.firstLine}\n`);
});

test('a second hub in the same workspace is refused until the first has ended', async () => {
  const workspace = await makeWorkspace(team);
  const hub = await serveQm(workspace);
  const second = await runQm(['serve', '--port', '0', '--workspace', workspace]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(`A hub already serves ${workspace} at ${hub.url} (process ${hub.pid})`);
  hub.signal('SIGKILL');
  await hub.ended();
  const third = await serveQm(workspace);
  third.signal('SIGTERM');
  expect((await third.ended()).code).toBe(0);
});

test(verifies('hub:stop', 'SIGTERM lets a call in flight finish, then closes servers and files'), async () => {
  const workspace = await makeWorkspace(team);
  const hub = await serveQm(workspace);
  const client = modernClient(`${hub.url}/mcp`, (await issue(workspace)).token);
  const slow = client.call('echo_slow', { ms: 1500 });
  await eventually(
    async () => (await readOpenCalls(ledgerPlaces(layoutOf(workspace)))).length > 0 || undefined,
    'the call to be sent',
  );
  expect(pidsOfHub(hub.pid).length).toBeGreaterThan(0);
  hub.signal('SIGTERM');
  expect(textOf((await slow).message)).toBe('waited 1500 ms');
  expect((await hub.ended()).code).toBe(0);
  expect((await readCalls(ledgerOf(workspace))).map(({ tool, outcome }) => [tool, outcome])).toEqual([['slow', 'ok']]);
  await expect(stat(join(layoutOf(workspace).folder, 'serve.json'))).rejects.toThrow('ENOENT');
});

test(
  verifies('hub:interrupted', 'a call that outlasts the grace period of SIGTERM is recorded as interrupted'),
  async () => {
    const workspace = await makeWorkspace(team);
    // Advances the clock past the grace period, so that the test does not wait for it.
    const jump = encodeURIComponent(
      'const now = performance.now.bind(performance); process.on("SIGUSR2", () => { performance.now = () => now() + 11000; })',
    );
    const hub = await serveQm(workspace, { env: { NODE_OPTIONS: `--import data:text/javascript,${jump}` } });
    const client = modernClient(`${hub.url}/mcp`, (await issue(workspace)).token);
    const slow = client.call('echo_slow', { ms: 60_000 }).catch(() => undefined);
    await eventually(
      async () => (await readOpenCalls(ledgerPlaces(layoutOf(workspace)))).length > 0 || undefined,
      'the call to be sent',
    );
    hub.signal('SIGTERM');
    await eventually(() => hub.stderr().includes('stopping') || undefined, 'the hub to begin stopping');
    hub.signal('SIGUSR2');
    expect((await hub.ended()).code).toBe(0);
    await slow;
    expect((await readCalls(ledgerOf(workspace))).map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['slow', 'interrupted'],
    ]);
  },
);

test('a second signal ends the hub and its servers at once', async () => {
  const workspace = await makeWorkspace(team);
  const hub = await serveQm(workspace);
  const client = modernClient(`${hub.url}/mcp`, (await issue(workspace)).token);
  const lost = client.call('echo_slow', { ms: 60_000 }).catch(() => 'lost');
  await eventually(
    async () => (await readOpenCalls(ledgerPlaces(layoutOf(workspace)))).length > 0 || undefined,
    'the call to be sent',
  );
  hub.signal('SIGINT');
  await eventually(() => hub.stderr().includes('stopping') || undefined, 'the hub to begin stopping');
  // Signals that come together are one request, so it is repeated until it counts.
  const again = setInterval(() => hub.signal('SIGINT'), 100);
  expect((await hub.ended()).code).toBe(130);
  clearInterval(again);
  expect(await lost).toBe('lost');
});

test('an uncaught exception is logged, and everything is closed', async () => {
  const workspace = await makeWorkspace(team);
  const defect = encodeURIComponent('process.on("SIGUSR2", () => { throw new Error("made up") })');
  const hub = await serveQm(workspace, { env: { NODE_OPTIONS: `--import data:text/javascript,${defect}` } });
  hub.signal('SIGUSR2');
  const { code, stderr } = await hub.ended();
  expect(code).toBe(1);
  expect(stderr).toMatch(/"event":"process\.defect-found","error":"made up"/);
  await expect(stat(join(layoutOf(workspace).folder, 'serve.json'))).rejects.toThrow('ENOENT');
});

test('an unhandled rejection is logged, and the hub continues', async () => {
  const workspace = await makeWorkspace(team);
  const defect = encodeURIComponent('process.on("SIGUSR2", () => { Promise.reject(new Error("made up")) })');
  const hub = await serveQm(workspace, { env: { NODE_OPTIONS: `--import data:text/javascript,${defect}` } });
  hub.signal('SIGUSR2');
  await eventually(() => hub.stderr().includes('process.rejection-unhandled') || undefined, 'the log');
  expect(hub.stderr()).toMatch(/"event":"process.rejection-unhandled","error":"made up","stack":"Error: made up/);
  const client = modernClient(`${hub.url}/mcp`, (await issue(workspace)).token);
  expect(textOf((await client.call('echo_slow', { ms: 1 })).message)).toBe('waited 1 ms');
});

test('while the hub cannot be reached no token is issued, and a revocation takes effect', async () => {
  const workspace = await makeWorkspace(team);
  const hub = await serveQm(workspace);
  const { token, id } = await issue(workspace);
  const client = modernClient(`${hub.url}/mcp`, token);
  expect((await client.request('tools/list')).status).toBe(200);
  await rm(join(layoutOf(workspace).folder, 'serve.json'));
  const refused = await runQm(['token', 'issue', '--agent', 'tester', '--workspace', workspace]);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/Nothing was changed, because "token\.issued \w+" cannot be recorded\./);
  const revoked = await runQm(['token', 'revoke', id, '--workspace', workspace]);
  expect(revoked.stderr).toContain(`The audit log lacks this act, "token.revoked ${id}".`);
  await eventually(async () => (await client.request('tools/list')).status === 401 || undefined, 'the token to end');
});

test('configuration problems are reported at the start and after a change', async () => {
  const workspace = await makeWorkspace({ ...team, agents: { tester: { servers: ['echo', 'nowhere'] } } });
  const hub = startQm(['serve', '--port', '0', '--workspace', workspace]);
  await eventually(() => hub.stderr().includes('Ctrl-C stops the hub') || undefined, 'the banner');
  expect(hub.stderr()).toMatch(/serves http:\/\/127\.0\.0\.1:\d+\/mcp/);
  expect(hub.stderr()).toMatch(/warning quartermaster\.yaml:\d+ .*"nowhere"/);
  expect(hub.stderr()).toContain('token issue --agent tester --workspace');
  await configure(workspace, { ...team, agents: { tester: { servers: ['echo', 'elsewhere'] } } });
  await eventually(
    () => /config.problem-found.*elsewhere|elsewhere.*config.problem-found/.test(hub.stderr()) || undefined,
    'the log',
  );
  await configure(workspace, 'servers: [');
  await eventually(() => hub.stderr().includes('config.refused') || undefined, 'the refusal');
  hub.signal('SIGTERM');
  expect(await hub.ended()).toMatchObject({ code: 0, stdout: '' });
});

test('a port in use is a clear error, and leaves nothing behind', async () => {
  const workspace = await makeWorkspace(team);
  const hub = await serveQm(workspace);
  const other = await makeWorkspace(team);
  const port = new URL(hub.url).port;
  const refused = await runQm(['serve', '--port', port, '--workspace', other]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`Port ${port} is taken by the hub of ${workspace} (process ${hub.pid}).`);
  expect(refused.stderr).toContain(`--port 0, or end that hub with \`qm stop --workspace ${workspace}\`.`);
  const stranger = createServer().listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  const { port: taken } = stranger.address() as AddressInfo; // a server on a port
  const beside = await runQm(['serve', '--port', String(taken), '--workspace', other]);
  stranger.close();
  expect(beside.code).toBe(1);
  expect(beside.stderr).toMatch(/the port is taken\. Take a free port with --port 0, or stop the program/);
  await expect(stat(join(layoutOf(other).folder, 'serve.json'))).rejects.toThrow('ENOENT');
  expect((await runQm(['serve', '--port', '70000', '--workspace', other])).code).toBe(2);
});

test('the API requires the admin token, validates its input and returns errors from the table', async () => {
  const workspace = await makeWorkspace(team);
  const hub = await serveQm(workspace);
  const admin = (await readFile(join(layoutOf(workspace).folder, 'admin-token'), 'utf8')).trim();
  const { token } = await issue(workspace);
  expect(await api(hub.url, 'GET', '/api/health')).toMatchObject({
    status: 401,
    body: { error: { code: 'UNAUTHENTICATED' } },
  });
  expect((await api(hub.url, 'GET', '/api/health', { token })).status).toBe(401);
  const health = await api(hub.url, 'GET', '/api/health', { token: admin });
  expect(healthSchema.parse(health.body)).toMatchObject({ status: 'ok', workspace, ledger: 'good', callsInFlight: 0 });
  const bad = await api(hub.url, 'POST', '/api/tokens', { token: admin, body: '{"agent":"a","rights":"all"}' });
  expect(bad).toMatchObject({ status: 400, body: { error: { code: 'INVALID_PARAMS' } } });
  const large = await api(hub.url, 'POST', '/api/tokens', { token: admin, body: 'x'.repeat(100_000) });
  expect(large).toMatchObject({ status: 413, body: { error: { code: 'REQUEST_TOO_LARGE' } } });
  expect((await api(hub.url, 'GET', '/api/nothing', { token: admin })).status).toBe(404);
  expect((await api(hub.url, 'DELETE', '/api/tokens/0000000000', { token: admin })).status).toBe(404);
  await configure(workspace, 'servers: [');
  expect(await api(hub.url, 'POST', '/api/reload', { token: admin })).toMatchObject({
    status: 500,
    body: { error: { code: 'CONFIG_INVALID' } },
  });
  expect((await api(hub.url, 'GET', '/api/servers', { token: admin })).body).toMatchObject({
    servers: [{ name: 'echo' }],
  });
});

function api(
  url: string,
  method: string,
  path: string,
  { token, body }: { readonly token?: string; readonly body?: string } = {},
): Promise<{ readonly status: number | undefined; readonly body: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    const outgoing = request(new URL(path, url), { method, headers, agent: false }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode, body: text === '' ? undefined : JSON.parse(text) }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
