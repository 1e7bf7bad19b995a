import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stopSchema } from '../../../src/faces/cli/json-shapes.ts';
import { readCalls, readOpenCalls } from '../../../src/ledger/index.ts';
import { ledgerPlaces } from '../../../src/storage/index.ts';
import { isAlive, pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { stdioServer } from '../../support/hub.ts';
import { initializeRequest } from '../../support/mcp-clients.ts';
import { layoutOf, ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { makeWorkspace, type QmResult, type RunningQm, runQm, serveQm, startQm } from '../qm.fixture.ts';

const env = { QM_FOREGROUND: '', QM_HUB_IDLE: '600' };
const echo = stdioServer('echo-stdio.mjs');
const team = { servers: { echo }, agents: { tester: { servers: ['echo'] } } };

interface Answer {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly data?: { readonly code?: string } };
}

function qm(
  workspace: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<QmResult> {
  return runQm([...args, '--workspace', workspace], { env: { ...env, ...more } });
}

/** The process of the hub that serves the workspace, ended after the test. */
async function hubPid(workspace: string): Promise<number> {
  const { pid } = JSON.parse(await readFile(layoutOf(workspace).serve, 'utf8')) as { pid: number };
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return pid;
}

function send({ child }: RunningQm, ...messages: object[]): void {
  for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

async function answerTo(client: RunningQm, id: number): Promise<Answer> {
  const [answer] = await answersTo(client, id);
  if (answer === undefined) throw new Error(`There is no answer to ${id}.`);
  return answer;
}

/** Answers come in any order: a refusal is faster than a result. */
async function answersTo(client: RunningQm, ...ids: readonly number[]): Promise<Answer[]> {
  const found = new Map<unknown, Answer>();
  while (!ids.every((id) => found.has(id))) {
    const message = JSON.parse(await client.line()) as Answer;
    if (message.method === undefined) found.set(message.id, message);
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

async function begin(workspace: string, run: string): Promise<RunningQm> {
  const client = startQm(['stdio', '--agent', 'tester', '--run', run, '--workspace', workspace], { env });
  send(client, initializeRequest('2025-11-25', 1), { method: 'notifications/initialized' });
  await answerTo(client, 1);
  return client;
}

function call(id: number, name: string, args: object = {}): object {
  return { id, method: 'tools/call', params: { name, arguments: args } };
}

async function end(client: RunningQm): Promise<void> {
  client.child.stdin.end();
  expect((await client.ended()).code).toBe(0);
}

test(
  verifies('hub:background', 'three clients without a hub start one, which they share and which ends when unused'),
  async () => {
    const limited = { ...team, servers: { echo: { ...echo, limits: { rate_per_min: 2 } } } };
    const workspace = await makeWorkspace(limited);
    const clients = await Promise.all(['a', 'b', 'c'].map((run) => begin(workspace, run)));
    const pid = await hubPid(workspace);
    for (const client of clients)
      send(client, call(2, 'echo_add', { a: 1, b: 2 }), call(3, 'echo_add', { a: 1, b: 2 }));
    const answers: Answer[] = [];
    for (const client of clients) answers.push(...(await answersTo(client, 2, 3)));
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(2);
    expect(answers.filter(({ error }) => error?.data?.code === 'RATE_LIMITED')).toHaveLength(4);
    for (const client of clients) expect(pidsOfHub(client.pid)).toEqual([]);
    for (const client of clients) await end(client);
    process.kill(pid, 'SIGTERM');
    await eventually(() => !isAlive(pid) || undefined, 'the hub to end');
    expect(pidsOfHub(pid)).toEqual([]);
    const runs = await Promise.all(['a', 'b', 'c'].map((run) => readCalls(ledgerOf(workspace), { run })));
    expect(runs.map((calls) => calls.length)).toEqual([2, 2, 2]);
  },
);

test(verifies('hub:background', 'a hub that nobody uses any more ends by itself'), async () => {
  const workspace = await makeWorkspace(team);
  const brief = { QM_HUB_IDLE: '1' };
  expect(await qm(workspace, ['call', 'echo.add', 'a=1', 'b=2', '--agent', 'tester'], brief)).toMatchObject({
    code: 0,
    stdout: '3\n',
  });
  const pid = await hubPid(workspace);
  await eventually(() => !isAlive(pid) || undefined, 'the hub to end');
  await eventually(() => pidsOfHub(pid).length === 0 || undefined, 'its servers to end');
  expect((await qm(workspace, ['ls'])).stderr).toContain('No hub is running here');
});

test(
  verifies('stdio:hub-lost', 'three clients whose background hub is killed start another one, and no answer is lost'),
  async () => {
    const workspace = await makeWorkspace(team);
    const clients = await Promise.all(['a', 'b', 'c'].map((run) => begin(workspace, run)));
    const first = await hubPid(workspace);
    for (const client of clients) send(client, call(2, 'echo_slow', { ms: 60_000 }));
    await eventually(
      async () => (await readOpenCalls(ledgerPlaces(layoutOf(workspace)))).length === 3 || undefined,
      'the calls to be sent',
    );
    process.kill(first, 'SIGKILL');
    for (const client of clients) {
      expect(await answerTo(client, 2)).toMatchObject({ error: { data: { code: 'HUB_LOST', retryable: false } } });
    }
    for (const client of clients) {
      send(client, call(3, 'echo_add', { a: 1, b: 1 }));
      expect(await answerTo(client, 3)).toMatchObject({ result: { content: [{ text: '2' }] } });
    }
    const second = await hubPid(workspace);
    expect(second).not.toBe(first);
    for (const client of clients) {
      expect(pidsOfHub(client.pid)).toEqual([]);
      await end(client);
    }
  },
);

test(verifies('hub:one', 'the commands of the operator work with a hub in the background'), async () => {
  const workspace = await makeWorkspace(team);
  const tools = await qm(workspace, ['tools', '--agent', 'tester', '--json']);
  expect(JSON.parse(tools.stdout)).toContainEqual(expect.objectContaining({ name: 'echo_add' }));
  const pid = await hubPid(workspace);
  const doctor = await qm(workspace, ['doctor', '--json']);
  expect(JSON.parse(doctor.stdout)).toMatchObject({ servers: [{ name: 'echo', verdict: 'reachable' }] });
  const inspected = await qm(workspace, ['inspect', 'echo', '--json']);
  expect(JSON.parse(inspected.stdout)).toMatchObject({ name: 'echo', transport: 'stdio' });
  const ls = await qm(workspace, ['ls', '--json']);
  expect(JSON.parse(ls.stdout)).toMatchObject({
    hub: expect.stringMatching(/^unix:/),
    servers: [{ name: 'echo', state: 'connected', tools: 9 }],
  });
  const issued = await qm(workspace, ['token', 'issue', '--agent', 'tester']);
  expect(issued.stdout).toMatch(/^qm_/);
  expect((await qm(workspace, ['reload'])).code).toBe(0);
  expect(await hubPid(workspace)).toBe(pid);
  // One copy of the server, whoever asks: it counts its calls.
  const counted = await qm(workspace, ['call', 'echo.counter', '--agent', 'tester']);
  expect(counted.stdout).toBe('1\n');
  expect((await qm(workspace, ['call', 'echo.counter', '--agent', 'tester'])).stdout).toBe('2\n');
});

test(
  verifies('hub:hand-over', 'qm serve takes over from a hub in the background without dropping a call'),
  async () => {
    const workspace = await makeWorkspace(team);
    const clients = await Promise.all(['a', 'b'].map((run) => begin(workspace, run)));
    const background = await hubPid(workspace);
    for (const client of clients) send(client, call(2, 'echo_slow', { ms: 1500 }));
    const beside = qm(workspace, ['call', 'echo.slow', 'ms=1500', '--agent', 'tester']);
    await eventually(async () => {
      const text = await readFile(layoutOf(workspace).serve, 'utf8');
      return text.includes('background') || undefined;
    }, 'the entry of the hub');
    const serving = serveQm(workspace, { env });
    // Requests that come while the hubs change wait for the next one.
    const sent = new Set<number>();
    for (let id = 10; id < 40; id += 1) {
      for (const client of clients) send(client, call(id, 'echo_add', { a: id, b: 1 }));
      sent.add(id);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const hub = await serving;
    for (const client of clients) {
      const open = new Set([2, ...sent]);
      while (open.size > 0) {
        const message = JSON.parse(await client.line()) as Answer;
        if (typeof message.id !== 'number' || message.method !== undefined) continue;
        const wanted = message.id === 2 ? 'waited 1500 ms' : String(message.id + 1);
        expect(message).toMatchObject({ result: { content: [{ text: wanted }] } });
        open.delete(message.id);
      }
    }
    expect(await beside).toMatchObject({ code: 0, stdout: 'waited 1500 ms\n' });
    await eventually(() => !isAlive(background) || undefined, 'the hub in the background to end');
    for (const client of clients) await end(client);
    hub.signal('SIGTERM');
    expect((await hub.ended()).code).toBe(0);
    const calls = await readCalls(ledgerOf(workspace));
    expect(calls.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
    expect(calls).toHaveLength(2 * 31 + 1);
  },
);

test(verifies('hub:variables', 'a command says which of its variables the hub does not have'), async () => {
  const workspace = await makeWorkspace({
    // biome-ignore lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
    servers: { echo: { ...echo, env: { WORD: '${QM_TEST_WORD:-none}' } } },
  });
  const args = ['call', 'echo.add', 'a=1', 'b=2', '--agent', 'x'];
  expect((await qm(workspace, args)).stderr).toBe('');
  await hubPid(workspace);
  const other = await qm(workspace, args, { QM_TEST_WORD: 'a-secret-word' });
  expect(other).toMatchObject({ code: 0, stdout: '3\n' });
  expect(other.stderr).toContain('The running hub does not have QM_TEST_WORD');
  expect(other.stderr).not.toContain('a-secret-word');
});

test(verifies('hub:background', 'qm stop ends it after its calls, and says so if none runs'), async () => {
  const workspace = await makeWorkspace(team);
  const client = await begin(workspace, 'a');
  const pid = await hubPid(workspace);
  send(client, call(2, 'echo_slow', { ms: 500 }));
  await eventually(
    async () => (await readOpenCalls(ledgerPlaces(layoutOf(workspace)))).length === 1 || undefined,
    'the call to be sent',
  );
  const stopped = await qm(workspace, ['stop', '--json']);
  expect(stopSchema.parse(JSON.parse(stopped.stdout))).toEqual({ stopped: pid });
  expect(isAlive(pid)).toBe(false);
  expect(await answerTo(client, 2)).toMatchObject({ result: { content: [{ text: 'waited 500 ms' }] } });
  // The client goes on: it starts the next hub.
  send(client, call(3, 'echo_add', { a: 1, b: 1 }));
  expect(await answerTo(client, 3)).toMatchObject({ result: { content: [{ text: '2' }] } });
  await hubPid(workspace);
  await end(client);
  expect((await qm(workspace, ['stop'])).stderr).toMatch(/^Stopped the hub \(process \d+\)\./);
  expect((await qm(workspace, ['stop'])).stderr).toBe('No hub is running here.\n');
  const hub = await serveQm(workspace, { env });
  expect((await qm(workspace, ['stop'])).stderr).toBe(`Stopped the hub (process ${hub.pid}).\n`);
  expect((await hub.ended()).code).toBe(0);
});

test('a hub that cannot start says why, and leaves nothing behind', async () => {
  const workspace = await makeWorkspace('servers: [');
  const { code, stderr } = await qm(workspace, ['call', 'echo.add', '--agent', 'tester']);
  expect(code).toBe(3);
  expect(stderr).toMatch(/quartermaster\.yaml:\d+/);
  await expect(readFile(layoutOf(workspace).serve)).rejects.toMatchObject({ code: 'ENOENT' });
});

test(verifies('hub:background-start', 'it starts outside the workspace and loads no code of it'), async () => {
  const workspace = await makeWorkspace(team);
  const traces = await realpath(await mkdtemp(join(tmpdir(), 'qm-traces-')));
  onTestFinished(() => rm(traces, { recursive: true, force: true }));
  const preload = async (folder: string, trace: string): Promise<string> => {
    const path = join(folder, 'preload.cjs');
    const file = JSON.stringify(join(traces, trace));
    await writeFile(path, `require('node:fs').appendFileSync(${file}, process.pid + ' ' + process.cwd() + '\\n');`);
    return path;
  };
  const [theirs, ours] = [await preload(workspace, 'workspace'), await preload(traces, 'outside')];
  await qm(workspace, ['call', 'echo.echo', 'text=hi', '--agent', 'tester'], {
    NODE_OPTIONS: `--require ${theirs} --require ${ours}`,
  });
  const pid = await hubPid(workspace);
  const seen = async (trace: string): Promise<string[]> => (await readFile(join(traces, trace), 'utf8')).split('\n');
  expect(await seen('outside')).toContain(`${pid} /`);
  expect((await seen('workspace')).filter((line) => line.startsWith(`${pid} `))).toEqual([]);
});
