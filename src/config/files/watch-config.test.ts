import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Clock, createSilentLogger, createSystemClock } from '../../base/index.ts';
import { createWorkspace } from '../workspace.fixture.ts';
import { watchConfig } from './watch-config.ts';

const deps = { logger: createSilentLogger(), clock: createSystemClock() };

function watching(workspace: string): {
  count: () => number;
  next: (already: number) => Promise<void>;
  close: () => void;
} {
  let count = 0;
  const watch = watchConfig(deps, { workspace, onFilesChange: () => (count += 1) });
  onTestFinished(() => watch.close());
  return {
    count: () => count,
    next: (already) => vi.waitFor(() => expect(count).toBeGreaterThan(already), { timeout: 60_000, interval: 10 }),
    close: () => watch.close(),
  };
}

test('creating, writing, replacing, permitting and removing a file are all seen', async () => {
  const workspace = await createWorkspace();
  const file = join(workspace, 'quartermaster.yaml');
  const seen = watching(workspace);
  const steps = [
    () => writeFile(file, 'version: 1\n'),
    () => writeFile(file, 'version: 1 \n'),
    async () => {
      await writeFile(`${file}.tmp`, 'version: 1\n');
      await rename(`${file}.tmp`, file);
    },
    () => writeFile(file, 'version: 1 #\n'),
    () => chmod(file, 0o600),
    () => rm(file),
    () => writeFile(file, 'version: 1\n'),
    () => writeFile(join(workspace, '.mcp.json'), '{}'),
    () => writeFile(join(workspace, '.env'), 'A=1'),
    () => writeFile(join(workspace, '.env'), 'A=2\n'),
  ];
  for (const step of steps) {
    const before = seen.count();
    await step();
    await seen.next(before);
  }
});

test('a folder that comes later is followed, with the files in it', async () => {
  const workspace = await createWorkspace();
  const seen = watching(workspace);
  for (const [file, text] of [
    ['.mcp/servers/a.yaml', 'command: x\n'],
    ['.mcp/servers/a.yaml', 'command: y\n# more\n'],
    ['.squad/team.md', '## Members\n'],
    ['catalog/agents/main/a/agent.yaml', 'slug: a\n'],
    ['catalog/agents/main/a/agent.yaml', 'slug: other\n'],
    ['catalog/agents/sub/deep/b/agent.yml', 'slug: b\n'],
  ] as const) {
    const before = seen.count();
    await mkdir(dirname(join(workspace, file)), { recursive: true });
    await writeFile(join(workspace, file), text);
    await seen.next(before);
  }
});

test('a burst of writes is one change, which the poll does not report again, and other files are none', async () => {
  const workspace = await createWorkspace({ '.mcp.json': '{}' });
  const { clock, due } = createHandClock();
  let count = 0;
  const watch = watchConfig({ ...deps, clock }, { workspace, onFilesChange: () => (count += 1) });
  onTestFinished(() => watch.close());
  await writeFile(join(workspace, 'README.md'), 'x');
  await pause(200);
  expect(due()).toHaveLength(0);
  for (let i = 0; i < 20; i += 1) await writeFile(join(workspace, '.mcp.json'), `{"a":${i}}`);
  await pause(200);
  const [timer, ...others] = due();
  expect(others).toHaveLength(0);
  timer?.run();
  expect(count).toBe(1);
  // Long enough for the poll to come round.
  await pause(2_500);
  expect(due()).toHaveLength(0);
});

test('a directory that was itself replaced is seen by the poll', async () => {
  const parent = await createWorkspace({ 'workspace/.mcp.json': '{}', 'other/.mcp.json': '{"mcpServers":{}}' });
  const seen = watching(join(parent, 'workspace'));
  await rename(join(parent, 'workspace'), join(parent, 'old'));
  await rename(join(parent, 'other'), join(parent, 'workspace'));
  await seen.next(0);
  const before = seen.count();
  await writeFile(join(parent, 'workspace', '.mcp.json'), '{ }');
  await seen.next(before);
});

test('a workspace that cannot be watched yet is polled', async () => {
  const parent = await createWorkspace();
  const warn = vi.fn();
  let count = 0;
  const watch = watchConfig(
    { ...deps, logger: { ...createSilentLogger(), warn } },
    { workspace: join(parent, 'later'), onFilesChange: () => (count += 1) },
  );
  onTestFinished(() => watch.close());
  expect(warn).toHaveBeenCalledOnce();
  await createLater(parent);
  await vi.waitFor(() => expect(count).toBeGreaterThan(0), { timeout: 60_000 });
});

test('after close nothing is reported, and closing twice is nothing', async () => {
  const workspace = await createWorkspace();
  const seen = watching(workspace);
  const other = watching(workspace);
  seen.close();
  seen.close();
  await writeFile(join(workspace, '.mcp.json'), '{}');
  await other.next(0);
  expect(seen.count()).toBe(0);
});

test('a pending change does not outlive close', async () => {
  const workspace = await createWorkspace();
  const { clock, due } = createHandClock();
  const watch = watchConfig({ ...deps, clock }, { workspace, onFilesChange: () => {} });
  onTestFinished(() => watch.close());
  await writeFile(join(workspace, '.mcp.json'), '{}');
  await vi.waitFor(() => expect(due()).toHaveLength(1), { timeout: 60_000 });
  watch.close();
  expect(due()).toHaveLength(0);
});

test('watching does not keep the process alive', async () => {
  const workspace = await createWorkspace({ '.mcp.json': '{}' });
  const holders = (): string[] =>
    process.getActiveResourcesInfo().filter((name) => name.startsWith('FSEvent') || name.startsWith('StatWatcher'));
  const before = holders();
  const watch = watchConfig(deps, { workspace, onFilesChange: () => {} });
  expect(holders()).toEqual(before);
  watch.close();
});

/** A clock whose timers run only by hand. */
function createHandClock(): { clock: Clock; due: () => { run: () => void }[] } {
  const pending = new Set<{ run: () => void }>();
  const setTimer: Clock['setTimer'] = (_ms, run) => {
    const timer = {
      run: () => {
        pending.delete(timer);
        run();
      },
    };
    pending.add(timer);
    return { cancel: () => pending.delete(timer) };
  };
  return { clock: { ...deps.clock, setTimer }, due: () => [...pending] };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function createLater(parent: string): Promise<void> {
  const staged = await createWorkspace({ '.mcp.json': '{}' });
  await rename(staged, join(parent, 'later'));
}
