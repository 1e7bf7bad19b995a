import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstListMs } from '../../../src/calls/index.ts';
import { addSchema, lsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { listTimeout } from '../../../src/faces/mcp/index.ts';
import { pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { fixturePath } from '../../support/fixture-servers.ts';
import { gatewayForTest } from '../../support/gateway.ts';
import { openStage, stdioServer } from '../../support/hub.ts';
import { legacyClient, modernClient, namesOf } from '../../support/mcp-clients.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { verifies } from '../../support/verifies.ts';
import { settledView } from '../../support/views.ts';
import { eventually, within } from '../../support/within.ts';
import { makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';

const echo = stdioServer('echo-stdio.mjs');
const hung = stdioServer('bad.mjs', ['never-answers']);
const late = stdioServer('bad.mjs', ['slow-start']);

async function tokenFor(workspace: string): Promise<string> {
  const { stdout } = await runQm(['token', 'issue', '--agent', 'tester', '--json', '--workspace', workspace]);
  return (JSON.parse(stdout) as { token: string }).token; // the command's documented shape
}

async function serversOf(workspace: string) {
  const { stdout } = await runQm(['ls', '--json', '--workspace', workspace]);
  return lsSchema.parse(JSON.parse(stdout)).servers;
}

test(verifies('contact:early', 'serve starts servers that it has never seen before any client asks'), async () => {
  const workspace = await makeWorkspace({ servers: { echo } });
  await serveQm(workspace);
  await eventually(async () => ((await serversOf(workspace))[0]?.tools === 9 ? true : undefined), 'its tools');
});

test(verifies('contact:early', 'a server that nobody called is let go, and one in use stays'), async () => {
  const stage = await openStage();
  await stage.start({ servers: { idle: echo, used: echo } }, { discover: true });
  await stage.until('idle', 'connected');
  expect(await stage.say('used_echo', { message: 'hi' })).toBe('hi');
  await eventually(async () => (await stage.names()).includes('idle_echo'), 'the list of the other');
  // Its timer starts only after the list, so that one step of the clock might come too early.
  await eventually(() => {
    stage.clock.advance(5 * 60_000);
    return stage.status('idle').state === 'idle';
  }, 'the unused server to be let go');
  expect(stage.status('used').state).toBe('connected');
  await eventually(() => (stage.children().length === 1 ? true : undefined), 'its process to end');
  expect(await stage.names()).toContain('idle_echo');
  expect(await stage.say('idle_echo', { message: 'again' })).toBe('again');
});

test(verifies('contact:early', 'a server that a reload brings is started too'), async () => {
  const stage = await openStage();
  await stage.start({ servers: { first: echo } }, { discover: true, watch: true });
  await stage.configure({ servers: { first: echo, second: echo } });
  await eventually(() => (stage.hub.status().length === 2 ? true : undefined), 'the reload');
  await stage.until('second', 'connected');
});

test(verifies('contact:status', 'the status tool is there while a server is missing, and then gone'), async () => {
  const workspace = await makeWorkspace({ servers: { echo, late } });
  const hub = await serveQm(workspace);
  const client = await legacyClient(`${hub.url}/mcp`, await tokenFor(workspace), '2025-06-18', {}, codex);
  const first = namesOf((await client.request('tools/list')).message);
  if (first.includes('quartermaster_status')) {
    const { message } = await client.call('quartermaster_status');
    expect(message.result?.content?.[0]?.text).toMatch(/^- (late|echo) is still starting\./m);
  }
  const all = await eventually(async () => {
    const names = namesOf((await client.request('tools/list')).message);
    return names.includes('late_echo') && names.includes('echo_add') ? names : undefined;
  }, 'both servers');
  expect(all).not.toContain('quartermaster_status');
  // A client may still have it in its list.
  const { message } = await client.call('quartermaster_status');
  expect(message.result?.content?.[0]?.text).toMatch(/^All your MCP servers are available\./);
  const { stdout } = await runQm(['calls', '--json', '--workspace', workspace]);
  expect(stdout).toMatch(/"tool":"quartermaster_status"[^\n]*"status":"ok"|"status":"ok"[^\n]*"quartermaster_status"/);
});

test(verifies('contact:status', 'no tool of a server gets the name of the status tool'), async () => {
  const stage = await openStage();
  const named = stdioServer('named-tools.mjs', ['status', 'other']);
  await stage.start({ servers: { quartermaster: named, hung } });
  const names = await eventually(async () => {
    const seen = await stage.names();
    return seen.includes('quartermaster_other') ? seen : undefined;
  }, 'its tools');
  expect(names).not.toContain('quartermaster_status');
  expect(names.filter((name) => name.startsWith('quartermaster_status_'))).toHaveLength(1);
});

test(verifies('contact:hasty', 'only a client that cannot wait gets its list early'), () => {
  expect(listTimeout(codex)).toBeLessThan(900);
  for (const other of [{ name: 'claude-code' }, undefined, null, 'codex-mcp-client', { name: 7 }, []]) {
    expect(listTimeout(other)).toBe(firstListMs);
  }
});

test(verifies('contact:hasty', 'Codex gets what is known, and waits where nothing is'), async () => {
  const clock = createMovingClock();
  const config = {
    servers: { echo, hung },
    agents: { tester: { servers: ['echo', 'hung'] }, other: { servers: ['hung'] } },
  };
  const gateway = await gatewayForTest(config, { clock, cold: true });
  await eventually(async () => {
    const { entries } = await settledView(gateway.hub, 'tester', 10);
    return entries.has('echo_add') ? true : undefined;
  }, 'the quick server');
  const lists = async (agent: string) => {
    const client = await legacyClient(gateway.url, await gateway.token(agent), '2025-06-18', {}, codex);
    let answered = false;
    const list = client.request('tools/list').then(({ message }) => {
      answered = true;
      return namesOf(message);
    });
    return { list, isAnswered: () => answered };
  };
  const something = await lists('tester');
  const nothing = await lists('other');
  expect(await something.list).toEqual(expect.arrayContaining(['echo_add', 'quartermaster_status']));
  await (await lists('tester')).list;
  expect(nothing.isAnswered()).toBe(false);
  clock.advance(25_000);
  expect(await nothing.list).toEqual(['quartermaster_status']);
});

const codex = { name: 'codex-mcp-client', version: '0.166.0' };

test(verifies('contact:taught', 'the next hub lists what doctor discovered without starting anything'), async () => {
  const workspace = await makeWorkspace({ servers: { echo } });
  expect((await runQm(['doctor', '--workspace', workspace])).code).toBe(0);
  expect((await serversOf(workspace))[0]).toMatchObject({ state: 'idle', tools: 9 });
  const hub = await serveQm(workspace);
  const client = await legacyClient(`${hub.url}/mcp`, await tokenFor(workspace));
  expect(namesOf((await client.request('tools/list')).message)).toContain('echo_add');
  expect(pidsOfHub(hub.pid)).toEqual([]);
});

test(verifies('contact:taught', 'doctor tells a running hub to try again what it had given up'), async () => {
  const workspace = await makeWorkspace();
  const marker = join(workspace, 'ready');
  const script = `require('node:fs').existsSync(${JSON.stringify(marker)}) ? import(${JSON.stringify(fixturePath('echo-stdio.mjs'))}) : process.exit(1)`;
  const config = { version: 1, servers: { flaky: { command: process.execPath, args: ['-e', script] } } };
  await writeFile(join(workspace, 'quartermaster.yaml'), JSON.stringify(config));
  await serveQm(workspace);
  const state = async () => (await serversOf(workspace))[0]?.state;
  await eventually(async () => ((await state()) === 'open-circuit' ? true : undefined), 'the breaker');
  await writeFile(marker, '');
  expect((await runQm(['doctor', '--workspace', workspace])).code).toBe(0);
  await eventually(async () => ((await state()) === 'connected' ? true : undefined), 'the hub');
}, 180_000);

test(verifies('contact:taught', 'add starts the new server once and says how many tools it has'), async () => {
  const workspace = await makeWorkspace();
  const words = ['--workspace', workspace, '--json', '--', process.execPath, fixturePath('echo-stdio.mjs')];
  const alone = await runQm(['add', 'one', ...words]);
  expect(addSchema.parse(JSON.parse(alone.stdout))).toMatchObject({ tools: 9, hub: null });
  expect((await serversOf(workspace))[0]).toMatchObject({ name: 'one', tools: 9 });
  await serveQm(workspace);
  const beside = await runQm(['add', 'two', ...words]);
  expect(addSchema.parse(JSON.parse(beside.stdout))).toMatchObject({ tools: 9, hub: { applied: true } });
  const dying = [process.execPath, fixturePath('bad.mjs'), 'exits-at-start'];
  const failed = await runQm(['add', 'three', '--workspace', workspace, '--', ...dying]);
  expect(failed).toMatchObject({ code: 0, stdout: expect.stringContaining('Added server three') });
  expect(failed.stderr).toMatch(/Added, but it does not answer yet\. .*\nNext: .*doctor three/);
});

test('initialize does not wait for a server that hangs', async () => {
  const workspace = await makeWorkspace({ servers: { hung } });
  const hub = await serveQm(workspace);
  const token = await tokenFor(workspace);
  // The server never answers, so only a handshake that does not wait for it is answered at all before its deadline.
  const client = await within(legacyClient(`${hub.url}/mcp`, token), 'the handshake', 25_000);
  expect(client.initialized.result?.instructions).toContain('- hung is still starting.');
});

test(verifies('contact:status', 'the status tool is recorded, and fills no disk'), async () => {
  const stage = await openStage();
  await stage.start({ servers: { hung } });
  const before = (await stage.ledger()).length;
  for (let time = 0; time < 200; time++)
    expect(await stage.call('quartermaster_status')).toMatchObject({ kind: 'result' });
  const lines = (await stage.ledger()).slice(before);
  expect(lines.length).toBe(120);
  expect(lines[0]).toMatchObject({ server: null, tool: 'quartermaster_status', decision: 'allow', status: 'ok' });
});

test('a token that is revoked while its first list waits gets no list', async () => {
  const clock = createMovingClock();
  const gateway = await gatewayForTest({ servers: { hung } }, { clock, cold: true });
  const issued = await gateway.tokens.issue({ agent: 'tester' });
  const legacy = await legacyClient(gateway.url, issued.token);
  const modern = modernClient(gateway.url, issued.token);
  const lists = [legacy.request('tools/list'), modern.request('resources/list')];
  await eventually(() => (gateway.hub.status()[0]?.state === 'connecting' ? true : undefined), 'the wait');
  await gateway.tokens.revoke(issued.id);
  clock.advance(25_000);
  for (const { status, text } of await Promise.all(lists)) {
    expect(status).toBe(401);
    expect(text).not.toContain('tools');
  }
});

test('a read that waits for a server holds no more than so much, and a long name does not wait', async () => {
  const stage = await openStage();
  await stage.start({ servers: { hung } });
  const read = (uri: string) =>
    stage.hub.call({
      kind: 'resource',
      caller: stage.hub.callerFor({ agent: 'tester' }),
      name: uri,
      argumentsText: JSON.stringify({ uri }),
      args: { uri },
      meta: '',
      channel: undefined,
    });
  expect(await read(`memo://${'x'.repeat(5000)}`).result).toMatchObject({ error: { code: 'RESOURCE_UNKNOWN' } });
  const waiting = Array.from({ length: 1024 }, (_, index) => read(`memo://${index}`));
  expect(await read('memo://one-more').result).toMatchObject({ error: { code: 'RESOURCE_UNKNOWN' } });
  for (const { call } of waiting) call.cancel('by the client');
  await Promise.all(waiting.map(({ result }) => result));
});
