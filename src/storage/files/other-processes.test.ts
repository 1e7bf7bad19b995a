import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually } from '../../../test/support/within.ts';
import { readServeFile } from '../running-hub/serve-file.ts';
import { acquireLock } from './lock.ts';
import { ensureStateFolder } from './state-folder.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';
import { createFileTokenStore } from './token-file.ts';

const repository = resolve(import.meta.dirname, '../../..');
let built = '';

beforeAll(async () => {
  built = await buildStorage();
});

afterAll(() => rm(built, { recursive: true, force: true }));

test('processes that count under the lock lose no count', async () => {
  const layout = await temporaryWorkspace();
  const counter = join(layout.workspace, 'counter');
  await writeFile(counter, '0');
  const count = `
    for (let i = 0; i < 15; i++) {
      await withLock(layout, 'tokens', async () => {
        const seen = Number(await readFile(join(layout.workspace, 'counter'), 'utf8'));
        await new Promise((done) => setTimeout(done, 1));
        await writeFile(join(layout.workspace, 'counter'), String(seen + 1));
      }, { waitMs: 20_000 });
    }`;
  const ends = await Promise.all(Array.from({ length: 3 }, () => run(count, layout.workspace).end));
  expect(ends).toEqual(Array.from({ length: 3 }, () => ({ code: 0, output: '' })));
  expect(await readFile(counter, 'utf8')).toBe('45');
  expect(await readdir(layout.locks)).toEqual([]);
});

test('processes that are killed while they hold the lock let exactly one other in', async () => {
  const layout = await temporaryWorkspace();
  // The marker names who is inside. One that names a live process other than us is two at once.
  const enter = `
    const marker = join(layout.workspace, 'inside');
    // A killed process stays in the table until its parent collects it.
    const isAlive = async (pid) => !/\\) [ZX] /.test(await readFile('/proc/' + pid + '/stat', 'latin1').catch(() => ') X '));
    for (let i = 0; i < 10; i++) {
      await withLock(layout, 'tokens', async () => {
        const inside = Number(await readFile(marker, 'utf8').catch(() => '0'));
        if (inside > 0 && inside !== process.pid && await isAlive(inside)) say('two at once');
        await writeFile(marker, String(process.pid));
        await new Promise((done) => setTimeout(done, 1));
        if (Number(await readFile(marker, 'utf8')) !== process.pid) say('overrun');
        if (i === 4 && rest[0] === 'die') process.kill(process.pid, 'SIGKILL');
        await rm(marker);
      }, { waitMs: 20_000 });
    }
    say('finished');`;
  const roles = ['die', 'live', 'die', 'live', 'die'];
  const ends = await Promise.all(roles.map((role) => run(enter, layout.workspace, role).end));
  expect(ends.map(({ output }) => output)).toEqual(roles.map((role) => (role === 'die' ? '' : 'finished\n')));
  await (await acquireLock(layout, 'tokens')).release();
  expect(await readdir(layout.locks)).toEqual([]);
});

test(verifies('token:rows', 'processes that add and remove tokens at the same time lose no row'), async () => {
  const layout = await temporaryWorkspace();
  const store = createFileTokenStore(layout);
  const row = (id: string) => ({ id, agent: 'a', hash: 'f'.repeat(64), created: 1, expires: 2 });
  // The form of a file from before, which a hub holds open.
  await ensureStateFolder(layout);
  await writeFile(layout.tokens, JSON.stringify({ version: 1, tokens: [row('0000000000')] }), { mode: 0o600 });
  const write = `
    const store = createFileTokenStore(layout);
    for (let i = 0; i < 10; i++) {
      const id = rest[0] + String(i).padStart(9, '0');
      const added = [{ id, agent: 'a', hash: 'f'.repeat(64), created: 1, expires: 2 }];
      await store.change(() => ({ added, removed: [] }));
      // Each removes one of its own rows and no other.
      if (i % 2 === 1) await store.change(() => ({ added: [], removed: [rest[0] + String(i - 1).padStart(9, '0')] }));
    }
    say('done');`;
  const writers = ['a', 'b', 'c'].map((name) => run(write, layout.workspace, name).end);
  let noticed = 0;
  onTestFinished(store.onTokensChange(() => noticed++));
  for (let i = 0; i < 10; i++) await store.change(() => ({ added: [row(`h00000000${i}`)], removed: [] }));
  expect((await Promise.all(writers)).map(({ output }) => output)).toEqual(['done\n', 'done\n', 'done\n']);
  const kept = [1, 3, 5, 7, 9].flatMap((i) => ['a', 'b', 'c'].map((name) => `${name}00000000${i}`));
  const own = Array.from({ length: 10 }, (_, i) => `h00000000${i}`);
  expect((await store.load()).map(({ id }) => id).toSorted()).toEqual(['0000000000', ...kept, ...own].toSorted());
  await eventually(() => noticed > 0 || undefined, 'the notice of a change');
});

test('a lock is held as long as its process lives, and free when it is killed', async () => {
  const layout = await temporaryWorkspace();
  const holder = run(
    `await acquireLock(layout, 'tokens'); say('held'); setInterval(() => {}, 1000);`,
    layout.workspace,
  );
  await holder.firstLine;
  await expect(acquireLock(layout, 'tokens', { waitMs: 100 })).rejects.toMatchObject({
    code: 'STATE_LOCKED',
    details: { pid: holder.pid },
  });
  holder.kill();
  await holder.end;
  await (await acquireLock(layout, 'tokens')).release();
});

test('the file of a hub that was killed counts as no hub', async () => {
  const layout = await temporaryWorkspace();
  const hub = run(
    `await writeServeFile(layout, { url: 'http://127.0.0.1:1' }); say('up'); setInterval(() => {}, 1000);`,
    layout.workspace,
  );
  await hub.firstLine;
  expect(await readServeFile(layout)).toMatchObject({ pid: hub.pid });
  hub.kill();
  await hub.end;
  expect(await readServeFile(layout)).toBeUndefined();
  expect((await stat(layout.serve)).isFile()).toBe(true);
});

const tell = (work: string): string => `
  becomeNobody();
  await ${work}.then(() => say('worked'), (error) => say(error.code + ': ' + error.message + ' ' + error.hint));`;

test('without permission it says what to do', async () => {
  const layout = await temporaryWorkspace();
  await chmod(dirname(layout.workspace), 0o555);
  const { output } = await run(tell('ensureStateFolder(layout)'), layout.workspace).end;
  expect(output).toBe(
    `CONFIG_INVALID: Cannot use ${layout.folder} (EACCES). ` +
      'Give the user that runs Quartermaster ownership of it, or choose another workspace.\n',
  );
});

test('says that it may not read what is there', async () => {
  const layout = await temporaryWorkspace();
  await chmod(dirname(layout.workspace), 0o755);
  await ensureStateFolder(layout);
  await writeFile(layout.tokens, '{"version":1,"tokens":[]}', { mode: 0o000 });
  const { output } = await run(tell('createFileTokenStore(layout).load()'), layout.workspace).end;
  expect(output).toContain(`CONFIG_INVALID: Cannot read ${layout.tokens} (EACCES).`);
});

interface Run {
  readonly pid: number;
  readonly firstLine: Promise<unknown>;
  readonly end: Promise<{ readonly code: number | null; readonly output: string }>;
  kill(): void;
}

/** Runs the script as a process of its own, with everything the room exports at hand. */
function run(script: string, ...args: string[]): Run {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', prelude() + script, ...args], {
    cwd: built,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const firstLine = once(child.stdout, 'data');
  // Not everybody waits for it.
  firstLine.catch(() => {});
  return {
    pid: child.pid ?? 0,
    firstLine,
    end: once(child, 'close').then(([code]: (number | null)[]) => ({ code: code ?? null, output })),
    kill: () => void child.kill('SIGKILL'),
  };
}

function prelude(): string {
  return `
    import { readFile, rm, writeFile } from 'node:fs/promises';
    import { EOL } from 'node:os';
    import { join } from 'node:path';
    import { acquireLock, createFileTokenStore, ensureStateFolder, workspaceLayout, writeServeFile }
      from './storage/index.js';
    import { withLock } from './storage/files/lock.js';
    const [workspace, ...rest] = process.argv.slice(1);
    const layout = workspaceLayout(workspace, join(workspace, '..', 'state'));
    const say = (text) => process.stdout.write(text + EOL);
    // The superuser may do anything, so permissions show only to somebody else.
    const becomeNobody = () => {
      if (process.getuid() !== 0) return;
      process.setgroups([]); process.setgid(65534); process.setuid(65534);
    };
  `;
}

/** Node runs no TypeScript by itself, so the room is compiled into a folder of its own. */
async function buildStorage(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-built-'));
  await chmod(folder, 0o755);
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const config = {
    extends: join(repository, 'tsconfig.build.json'),
    compilerOptions: { rootDir: join(repository, 'src'), outDir: folder, declaration: false, noCheck: true },
    files: [join(repository, 'src/storage/index.ts')],
    include: [],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await promisify(execFile)(join(repository, 'node_modules/.bin/tsc'), ['-p', folder]);
  return folder;
}
