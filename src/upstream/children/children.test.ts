import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import { isAlive, pidsIn, until } from './fixtures/processes.mjs';
import { type Child, type Children, createChildren } from './index.ts';

const path = '/usr/bin:/bin';
let folder: string;
let children: Children;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-children-')));
  children = createChildren(
    { clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom },
    { baseEnv: { PATH: path, HOME: '/nowhere' }, graceMs: 150 },
  );
});

afterEach(async () => {
  await children.close();
  await rm(folder, { recursive: true });
});

test('arguments arrive as they were configured', async () => {
  const args = ['a b', `it's "quoted"`, '$(touch pwned)', '`id`', 'one\ntwo', '', '-e', '*', '\\n', '€'];
  const told = await startEcho(args, {});
  expect(told.args).toEqual(args);
  expect(told.cwd).toBe(folder);
});

test(
  verifies(
    'children:environment',
    'a child gets the base environment, what is configured, its cookie, and nothing else',
  ),
  async () => {
    // Where /bin/sh is bash, it adds `_` and SHLVL to whatever it executes.
    const {
      QUARTERMASTER_CHILD: cookie,
      _,
      SHLVL,
      ...env
    } = (await startEcho([], { HOME: '/home/x', TOKEN: 'a\nb' })).env;
    expect(env).toEqual({ PATH: path, HOME: '/home/x', TOKEN: 'a\nb' });
    expect(cookie).toMatch(new RegExp(`^[0-9a-z]{16}:${process.pid}:[0-9]+:[0-9]+:1$`));
  },
);

test('nobody can configure the cookie away', async () => {
  const { env } = await startEcho([], { QUARTERMASTER_CHILD: 'mine' });
  expect(env.QUARTERMASTER_CHILD).toContain(`:${process.pid}:`);
});

test('variables that no shell hands on arrive all the same', async () => {
  const configured = { 'npm_config_@scope:registry': 'x', IFS: ',', PPID: '1', PWD: '/elsewhere', UID: '7' };
  const { QUARTERMASTER_CHILD: _, ...env } = (await startEcho([], configured)).env;
  expect(env).toEqual({ PATH: path, HOME: '/nowhere', ...configured });
});

test('no byte of the protocol is lost at the gate', async () => {
  const child = await start('cat', []);
  const bytes = `\n\n{"id":1}\n${'x'.repeat(300_000)}\n`;
  child.stdin.end(bytes);
  expect(await text(child.stdout)).toBe(bytes);
  expect(await child.exited).toEqual({ code: 0, signal: null, stderrTail: '' });
});

test(
  verifies('children:stderr', 'the last of stderr is there with the exit, whatever was flooded before'),
  async () => {
    const before = process.memoryUsage().rss;
    const child = await start(process.execPath, [fixture('flood.mjs'), '300']);
    child.stdout.resume();
    const exit = await child.exited;
    expect(exit.code).toBe(3);
    expect(exit.stderrTail.length).toBeLessThanOrEqual(8_192);
    expect(exit.stderrTail).toMatch(/x\nthe last line\n$/);
    expect(child.stderrTail()).toBe(exit.stderrTail);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 << 20);
  },
);

test(verifies('children:stop', 'stop: EOF is enough for a polite child'), async () => {
  const child = await start('cat', []);
  await child.stop();
  expect(await child.exited).toMatchObject({ code: 0, signal: null });
});

test(verifies('children:stop', 'stop: SIGTERM follows when EOF is ignored'), async () => {
  const child = await start('sh', ['-c', 'trap "exit 7" TERM; echo; while :; do sleep 0.02; done']);
  await firstLine(child);
  await child.stop();
  expect(await child.exited).toMatchObject({ code: 7, signal: null });
});

test.each([
  'ignores-eof',
  'ignores-term',
  'grandchild-in-group',
  'grandchild-in-own-session',
  'double-forked',
  'forks-upon-term',
  'leaves-grandchild',
])(verifies('children:stop', 'stop: nothing is left of a child that %s'), async (kind) => {
  const { child, pids } = await startStubborn(kind);
  await Promise.all([child.stop(), child.stop()]);
  await child.exited;
  expect([...pids, ...pidsIn(join(folder, 'pids'))].filter(isAlive)).toEqual([]);
});

test(
  verifies(
    'children:stop',
    'stop: SIGKILL follows when SIGTERM is ignored, also where no cookie is left to find it by',
  ),
  async () => {
    const file = join(folder, 'pids');
    const child = await start('env', ['-i', `PATH=${path}`, '/bin/sh', fixture('leaf.sh'), file]);
    await until(() => pidsIn(file).length === 1, 'it is up');
    await child.stop();
    expect(await child.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
  },
);

test('stop counts after the exit too', async () => {
  const child = await start('true', []);
  await child.exited;
  await child.stop();
  child.kill();
  await expect(child.stop()).resolves.toBeUndefined();
});

test('kill does not wait for manners', async () => {
  const { child, pids } = await startStubborn('ignores-term');
  child.kill();
  expect(await child.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
  await child.stop();
  expect(pids.filter(isAlive)).toEqual([]);
});

test("what a child leaves behind ends after the child's own exit", async () => {
  const { child, pids } = await startStubborn('leaves-grandchild');
  child.stdin.end();
  expect(await child.exited).toMatchObject({ code: 0 });
  await until(() => !pids.some(isAlive), 'the grandchild is gone');
});

test('writing to a child that is gone breaks nothing', async () => {
  const child = await start('true', []);
  await child.exited;
  await new Promise((resolve) => child.stdin.write('late\n', resolve));
});

test('a command that cannot be started says so, and starts nothing', async () => {
  await expect(start('no-such-tool', [])).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringContaining('no-such-tool'),
    details: { server: 'files' },
  });
  expect(children.watchdogPid).toBeUndefined();
});

test('an argument that no process can take is refused without repeating it', async () => {
  const error = await start('cat', ['sec\0ret']).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(inspect(error)).not.toContain('sec');
});

test('close stops all, ends the watchdog, and takes no more', async () => {
  const { pids } = await startStubborn('ignores-term');
  const polite = await start('cat', []);
  const watchdog = children.watchdogPid;
  if (watchdog === undefined) throw new Error('no watchdog');
  await Promise.all([children.close(), children.close()]);
  expect([...pids, polite.pid, watchdog].filter(isAlive)).toEqual([]);
  await expect(start('cat', [])).rejects.toMatchObject({ code: 'HUB_STOPPING' });
});

test('a start that close overtakes leaves nothing', async () => {
  const starting = start('sh', [fixture('leaf.sh'), join(folder, 'pids')]);
  const refused = expect(starting).rejects.toMatchObject({ code: 'HUB_STOPPING' });
  await children.close();
  await refused;
  expect(pidsIn(join(folder, 'pids'))).toEqual([]);
});

function start(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<Child> {
  return children.start({ server: 'files', command, args, env, cwd: folder });
}

async function startEcho(args: string[], env: Record<string, string>) {
  const child = await start(process.execPath, [fixture('echo-self.mjs'), ...args], env);
  // The fixture prints exactly this.
  return JSON.parse(await firstLine(child)) as { args: string[]; env: Record<string, string>; cwd: string };
}

async function firstLine(child: Child): Promise<string> {
  let seen = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    seen += String(chunk);
    if (seen.includes('\n')) break;
  }
  return seen;
}

async function startStubborn(kind: string): Promise<{ child: Child; pids: number[] }> {
  const file = join(folder, 'pids');
  const child = await start(process.execPath, [fixture('stubborn.mjs'), kind, file]);
  const expected = kind.startsWith('ignores') || kind === 'forks-upon-term' ? 1 : 2;
  const pids = await until(() => {
    const found = pidsIn(file);
    return found.length >= expected && found;
  }, `${kind} is up`);
  return { child, pids: pids || [] };
}

function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}
