// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { doctorSchema, lsSchema, trustSchema } from '../../../src/faces/cli/json-shapes.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { configure, makeWorkspace, type QmOptions, runQm, serveQm } from '../qm.fixture.ts';
import { runOnScreen } from '../screen.fixture.ts';

const echo = stdioServer('echo-stdio.mjs');
/** A person without `trust.paths`. */
const asks = { XDG_CONFIG_HOME: '/nonexistent' };

/** A server that leaves a file behind when it is started. */
function marking(workspace: string, mark = 'started'): object {
  const code = `require('fs').writeFileSync(${JSON.stringify(join(workspace, mark))}, ''); process.argv.splice(1, 0, ''); import(${JSON.stringify(fixturePath('echo-stdio.mjs'))})`;
  return { command: process.execPath, args: ['-e', code] };
}

const qm = (workspace: string, [command = '', ...args]: readonly string[], options: QmOptions = {}) =>
  runQm([command, '--workspace', workspace, ...args], { ...options, env: { ...asks, ...options.env } });

async function statesOf(workspace: string): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await qm(workspace, ['ls', '--json']);
  return Object.fromEntries(lsSchema.parse(JSON.parse(stdout)).servers.map(({ name, state }) => [name, state]));
}

async function shown(workspace: string, args: readonly string[] = ['--show'], options: QmOptions = {}) {
  const { stdout } = await qm(workspace, ['trust', ...args, '--json'], options);
  return trustSchema.parse(JSON.parse(stdout));
}

test(
  verifies('trust:ask', 'a cloned repository starts nothing: ls, explain, tools, doctor and serve only report it'),
  async () => {
    const workspace = await makeWorkspace({});
    await configure(workspace, { servers: { evil: marking(workspace) } });
    expect(await statesOf(workspace)).toEqual({ evil: 'untrusted' });
    const explained = await qm(workspace, ['explain', 'evil.echo', '--agent', 'tester']);
    expect(explained.stdout).toContain('is not trusted yet');
    const hub = await serveQm(workspace, { env: asks });
    await eventually(() => hub.stderr().includes('"trust.pending"'), 'the line in the log');
    expect(await statesOf(workspace)).toEqual({ evil: 'untrusted' });
    hub.signal('SIGTERM');
    await hub.ended();
    expect(existsSync(join(workspace, 'started'))).toBe(false);
  },
);

test(verifies('trust:ask', 'qm trust shows what waits, approves by name, and a running hub starts it'), async () => {
  const workspace = await makeWorkspace({
    servers: { one: echo, two: { url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': '${KEY:-}' } } },
  });
  const hub = await serveQm(workspace, { env: asks });
  const refused = await qm(workspace, ['trust']);
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain('2 servers of this workspace are waiting for your approval.');
  expect(refused.stderr).toContain('receives the value of KEY');
  const before = await shown(workspace);
  expect(before.items.map(({ name, state }) => [name, state])).toEqual([
    ['one', 'waiting'],
    ['two', 'waiting'],
    [null, 'waiting'],
  ]);
  const { code, stderr } = await qm(workspace, ['trust', 'one']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/\nNext: \S*qm doctor --workspace \S+\n$/);
  expect((await qm(workspace, ['trust', 'one'])).stderr).not.toContain('Next:');
  await eventually(async () => (await statesOf(workspace)).one === 'connected', 'the approved server');
  expect(await statesOf(workspace)).toMatchObject({ two: 'untrusted' });
  await qm(workspace, ['trust', '--revoke', 'one']);
  expect(await statesOf(workspace)).toMatchObject({ one: 'untrusted' });
  expect((await shown(workspace)).items[0]?.state).toBe('declined');
  hub.signal('SIGTERM');
  await hub.ended();
});

test(
  verifies('trust:all', 'a digest approves exactly what was reviewed, and --trust what is on disk at the start'),
  async () => {
    const workspace = await makeWorkspace({ servers: { one: echo } });
    const { digest } = await shown(workspace);
    const wrong = await qm(workspace, [
      'trust',
      '--digest',
      digest.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    ]);
    expect(wrong.code).toBe(6);
    expect(wrong.stderr).toContain(digest);
    expect((await qm(workspace, ['trust', '--digest', digest])).code).toBe(0);
    expect(await statesOf(workspace)).toEqual({ one: 'idle' });
    await configure(workspace, { servers: { one: echo, two: echo } });
    expect(await statesOf(workspace)).toEqual({ one: 'idle', two: 'untrusted' });

    const hub = await serveQm(workspace, { env: asks, args: ['--trust'] });
    expect((await statesOf(workspace)).two).not.toBe('untrusted');
    await configure(workspace, { servers: { one: echo, two: echo, three: marking(workspace) } });
    await eventually(async () => (await statesOf(workspace)).three === 'untrusted', 'the later server');
    hub.signal('SIGTERM');
    await hub.ended();
    expect(existsSync(join(workspace, 'started'))).toBe(false);
  },
);

test(verifies('trust:ask', 'an agent that can write the configuration cannot start a program'), async () => {
  const workspace = await makeWorkspace({ servers: { one: echo } });
  await qm(workspace, ['trust', '--all']);
  const hub = await serveQm(workspace, { env: asks });
  await eventually(async () => (await statesOf(workspace)).one === 'connected', 'the server');
  await configure(workspace, { servers: { one: marking(workspace, 'one'), two: marking(workspace, 'two') } });
  await writeFile(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { three: marking(workspace, 'three') } }));
  await eventually(async () => (await statesOf(workspace)).three === 'untrusted', 'the new server to be seen');
  expect(await statesOf(workspace)).toEqual({ one: 'connected', two: 'untrusted', three: 'untrusted' });
  hub.signal('SIGTERM');
  await hub.ended();
  for (const mark of ['one', 'two', 'three']) expect(existsSync(join(workspace, mark)), mark).toBe(false);
});

test(verifies('trust:acts', 'changes by qm add, enable and disable are approved, and no others'), async () => {
  const workspace = await makeWorkspace({ servers: { waits: echo } });
  const [command = '', ...args] = [process.execPath, fixturePath('echo-stdio.mjs')];
  const added = await qm(workspace, ['add', 'own', '--no-start', '--', command, ...args]);
  expect(added.code).toBe(0);
  expect(await statesOf(workspace)).toEqual({ waits: 'untrusted', own: 'idle' });
  expect((await qm(workspace, ['disable', 'own'])).code).toBe(0);
  expect((await qm(workspace, ['enable', 'own'])).code).toBe(0);
  expect(await statesOf(workspace)).toEqual({ waits: 'untrusted', own: 'idle' });
  // A change to the rules that waited before is not approved on the way.
  const text = { servers: { waits: echo, own: echo }, agents: { tester: { servers: ['own'] } } };
  await configure(workspace, text);
  await qm(workspace, ['trust', '--all']);
  await configure(workspace, { ...text, agents: { tester: { servers: ['waits', 'own'] } } });
  await qm(workspace, ['add', 'more', '--no-start', '--', command, ...args]);
  const { items } = await shown(workspace);
  expect(items.find(({ kind }) => kind === 'policy')).toMatchObject({
    state: 'waiting',
    changes: ['+ agents.tester.servers: waits'],
  });
  expect(items.find(({ name }) => name === 'more')?.state).toBe('approved');
});

test(verifies('trust:ask', 'at a terminal qm trust asks one by one, and remembers a no'), async () => {
  const workspace = await makeWorkspace({ servers: { one: echo, two: echo } });
  const screen = runOnScreen(['trust'], { workspace, columns: 100, env: asks });
  await eventually(() => screen.stderr().includes('Approve all of this?'), 'the question');
  screen.type('c\r');
  await eventually(() => screen.stderr().includes('one: Approve?'), 'the first question');
  screen.type('y\r');
  await eventually(() => screen.stderr().includes('two: Approve?'), 'the second question');
  screen.type('n\r');
  expect(await screen.ended).toBe(0);
  const { items } = await shown(workspace);
  expect(items.map(({ name, state }) => [name, state])).toEqual([
    ['one', 'approved'],
    ['two', 'declined'],
    [null, 'approved'],
  ]);
});

test(verifies('cli:fits', 'the questions of qm trust are wrapped between words'), async () => {
  const workspace = await makeWorkspace({ servers: { one: echo, two: echo } });
  const screen = runOnScreen(['trust'], { workspace, columns: 80, env: { ...asks, NO_COLOR: '1' } });
  await eventually(() => screen.stderr().includes('Enter: not now'), 'the question');
  const [first, last] = screen.stderr().split('\n').slice(-2);
  expect(first).toBe('Approve all of this? [y]es, [c]hoose one by one, [n]o and do not ask again,');
  expect(last).toContain('Enter: not now ');
  screen.type('\r');
  expect(await screen.ended).toBe(0);
  // Afterwards only the states are shown, not everything again.
  expect(screen.stdout()).toContain('waiting   one');
  expect(screen.stderr().split('one new')).toHaveLength(2);
});

test(verifies('doctor:verdicts', 'a declined server looks declined, and is no failure'), async () => {
  const workspace = await makeWorkspace({ servers: { one: echo, two: echo } });
  await qm(workspace, ['trust', 'two']);
  expect((await qm(workspace, ['doctor', 'one'])).code).toBe(6);
  await qm(workspace, ['trust', '--decline', 'one']);
  const { code, stdout } = await qm(workspace, ['doctor', '--json']);
  expect(code).toBe(0);
  const { servers } = doctorSchema.parse(JSON.parse(stdout));
  expect(servers.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['one', 'declined'],
    ['two', 'reachable'],
  ]);
  const read = await qm(workspace, ['doctor', 'one']);
  expect(read.stdout).toBe('- one  declined\n  → You declined it. `qm trust one` approves it after all.\n');
  expect(read.stderr).toBe('1 server: 1 declined.\n');
});

test(verifies('trust:ask', 'Ctrl-C at the question approves nothing'), async () => {
  const workspace = await makeWorkspace({ servers: { one: echo } });
  const screen = runOnScreen(['trust'], { workspace, columns: 100, env: asks });
  await eventually(() => screen.stderr().includes('Approve?'), 'the question');
  screen.type('\x03');
  expect(await screen.ended).toBe(130);
  expect(await statesOf(workspace)).toEqual({ one: 'untrusted' });
});

test(
  verifies('trust:ask', 'serve at a terminal asks before it starts, and about later changes when told to'),
  async () => {
    const workspace = await makeWorkspace({ servers: { one: echo } });
    const screen = runOnScreen(['serve', '--port', '0'], { workspace, columns: 100, env: asks });
    await eventually(() => screen.stderr().includes('Approve?'), 'the question');
    screen.type('y\r');
    await eventually(async () => (await statesOf(workspace)).one === 'connected', 'the server');
    await configure(workspace, { servers: { one: echo, two: echo } });
    await eventually(() => screen.stderr().includes('Type t and press Enter'), 'the hint');
    screen.type('t\n');
    await eventually(() => screen.stderr().split('Approve?').length === 3, 'the second question');
    screen.type('y\r');
    await eventually(async () => (await statesOf(workspace)).two === 'connected', 'the second server');
    screen.signal('SIGINT');
    expect(await screen.ended).toBe(130);
  },
);

test.each([
  [['trust', 'nobody'], 2, 'No server "nobody" is configured.'],
  [['trust', 'on'], 2, 'Did you mean one?'],
  [['trust', '--all', '--show'], 2, 'Only one of'],
  [['trust', '--decline'], 2, 'Name the servers to decline.'],
  [['trust', 'one', '--all'], 2, 'do not go with'],
  [['trust', '--digest', 'x'], 6, 'has the digest sha256:'],
])('qm %j ends with %i and says: %s', async (args, code, text) => {
  const workspace = await makeWorkspace({ servers: { one: echo } });
  const result = await qm(workspace, args);
  expect(result.code).toBe(code);
  expect(result.stderr).toContain(text);
  expect(await statesOf(workspace)).toEqual({ one: 'untrusted' });
});

test.each(['trust: [', 'trust: { path: [] }', 'trust: { paths: [relative] }', 'other: 1'])(
  verifies('trust:all', 'settings of the user that cannot be understood are an error: %s'),
  async (text) => {
    const workspace = await makeWorkspace({ servers: { one: echo } });
    const home = await makeWorkspace();
    const { mkdir } = await import('node:fs/promises');
    await mkdir(join(home, 'quartermaster'));
    await writeFile(join(home, 'quartermaster', 'config.yaml'), text);
    const { code, stderr } = await qm(workspace, ['ls'], { env: { XDG_CONFIG_HOME: home } });
    expect(code).toBe(3);
    expect(stderr).toContain(join(home, 'quartermaster', 'config.yaml'));
  },
);

test(verifies('trust:acts', 'enabling a server does not approve what was changed while it was disabled'), async () => {
  const workspace = await makeWorkspace({ servers: { one: { ...echo, enabled: true }, two: echo } });
  await qm(workspace, ['trust', '--all']);
  expect((await qm(workspace, ['disable', 'one'])).code).toBe(0);
  const before = await readFile(join(workspace, 'quartermaster.yaml'), 'utf8');
  await configure(workspace, { servers: { one: { ...marking(workspace), enabled: false }, two: echo } });
  const enabled = await qm(workspace, ['enable', 'one']);
  expect(enabled.code).toBe(0);
  expect(enabled.stderr).toContain('run `qm trust one`');
  expect((await shown(workspace)).items.find(({ name }) => name === 'one')?.state).toBe('waiting');
  expect((await qm(workspace, ['call', 'one.echo', '--agent', 'tester'])).code).not.toBe(0);
  expect(existsSync(join(workspace, 'started'))).toBe(false);
  // The version that was approved before it was disabled needs no approval.
  await writeFile(join(workspace, 'quartermaster.yaml'), before);
  expect((await qm(workspace, ['enable', 'one'])).stderr).not.toContain('qm trust one');
  expect(await statesOf(workspace)).toEqual({ one: 'idle', two: 'idle' });
});

test(verifies('trust:ask', 'the first answer in a new state folder is kept'), async () => {
  const workspace = await makeWorkspace({ servers: { one: echo, two: echo } });
  const home = await makeWorkspace();
  const env = { ...asks, QM_STATE_DIR: join(home, 'state') };
  const screen = runOnScreen(['trust'], { workspace, columns: 100, env });
  await eventually(() => screen.stderr().includes('Approve all of this?'), 'the question');
  screen.type('c\r');
  await eventually(() => screen.stderr().includes('one: Approve?'), 'the first question');
  screen.type('y\r');
  await eventually(() => screen.stderr().includes('two: Approve?'), 'the second question');
  screen.type('n\r');
  expect(await screen.ended).toBe(0);
  const { items } = await shown(workspace, ['--show'], { env });
  expect(items.map(({ state }) => state)).toEqual(['approved', 'declined', 'approved']);
});

test(verifies('trust:ask', 'declining an approved server ends it, and a script that changed is named'), async () => {
  const workspace = await makeWorkspace({});
  await writeFile(join(workspace, 'server.mjs'), `import ${JSON.stringify(fixturePath('echo-stdio.mjs'))};\n`);
  await configure(workspace, { servers: { one: { command: process.execPath, args: ['server.mjs'] } } });
  await qm(workspace, ['trust', '--all']);
  await writeFile(join(workspace, 'server.mjs'), '// another\n');
  const waits = await qm(workspace, ['trust', '--show']);
  expect(waits.stderr).toMatch(/- file server\.mjs: .*\n.*\+ file server\.mjs: /);
  await qm(workspace, ['trust', 'one']);
  await qm(workspace, ['trust', '--decline', 'one']);
  expect(await statesOf(workspace)).toEqual({ one: 'untrusted' });
});

test(
  verifies('trust:rights', 'without a hub, qm ls says which file is missing, and qm trust approves that'),
  async () => {
    const workspace = await makeWorkspace({});
    await configure(workspace, {});
    await writeFile(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { one: echo } }));
    await qm(workspace, ['trust', '--all']);
    await configure(workspace, { policies: { tools: { 'one.echo': 'deny' } } });
    await qm(workspace, ['trust', '--all']);
    await rm(join(workspace, 'quartermaster.yaml'));
    expect((await qm(workspace, ['ls'])).stderr).toContain('Still using the configuration from');
    expect((await qm(workspace, ['call', 'one.echo', '--agent', 'tester'])).code).not.toBe(0);
    expect((await qm(workspace, ['trust', '--rules'])).code).toBe(0);
    expect((await qm(workspace, ['ls'])).stderr).not.toContain('Still using');
  },
);

test('if only the rules wait, a pipe is told the option that approves them', async () => {
  const servers = { one: echo };
  const workspace = await makeWorkspace({ servers });
  expect((await qm(workspace, ['trust', '--all'])).code).toBe(0);
  await writeFile(
    join(workspace, 'quartermaster.yaml'),
    JSON.stringify({ servers, policies: { tools: { a: 'deny' } } }),
  );
  const refused = await qm(workspace, ['trust']);
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain('A change to the rules of this workspace is waiting for your approval.');
  expect(refused.stderr).toContain('Approve the rules (`qm trust --rules`)');
  expect(refused.stderr).not.toContain('qm trust NAME');
  expect((await qm(workspace, ['ls'])).stderr).toContain('warning quartermaster.yaml The rules changed');
});
