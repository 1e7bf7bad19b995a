import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { WorkspaceLayout } from './layout.ts';
import { packState, readArchive, unpackState } from './state-archive.ts';
import { ensureStateFolder } from './state-folder.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

const key = Buffer.alloc(32, 1);
const built = join(import.meta.dirname, '..', '..', '..', 'dist', 'storage', 'index.js');

/** Kills itself before the given change of a file. */
const script = `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { built, layout, backup, kill } = JSON.parse(process.argv[1]);
const { readArchive, unpackState } = await import(built);
const archive = readArchive(fs.readFileSync(backup), backup);
let steps = 0;
for (const name of ['mkdirSync', 'writeFileSync', 'linkSync', 'renameSync', 'rmSync']) {
  const real = fs[name];
  fs[name] = (...args) => {
    steps += 1;
    if (steps === kill) process.kill(process.pid, 'SIGKILL');
    return real(...args);
  };
}
syncBuiltinESMExports();
await unpackState(layout, archive, 'before-1');`;

async function restoreUntil(kill: number, layout: WorkspaceLayout, backup: string): Promise<boolean> {
  const order = JSON.stringify({ built, layout, backup, kill });
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, order], { stdio: 'inherit' });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal === null) expect(code).toBe(0);
  return signal === 'SIGKILL';
}

async function contents(layout: WorkspaceLayout): Promise<readonly string[]> {
  const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => 'none');
  return await Promise.all([
    read(layout.tokens),
    read(layout.catalog),
    read(layout.secrets),
    read(join(layout.journal, 'a.jsonl')),
  ]);
}

test(verifies(
  'state:restore',
  'a restore that is killed at any step leaves the state before or the backup',
), async () => {
  const seen = new Set<string>();
  for (let kill = 1; ; kill += 1) {
    const layout = await temporaryWorkspace();
    await ensureStateFolder(layout);
    for (const path of [layout.tokens, layout.catalog, join(layout.journal, 'a.jsonl')]) {
      await writeFile(path, 'backup', { mode: 0o600 });
    }
    const backup = join(layout.home, 'backup');
    await writeFile(backup, packState(layout, 0, key));
    for (const path of [layout.tokens, layout.secrets, join(layout.journal, 'a.jsonl')]) {
      await writeFile(path, 'before', { mode: 0o600 });
    }
    const isKilled = await restoreUntil(kill, layout, backup);
    for (const name of await readdir(layout.folder)) {
      // An hour later.
      if (name.endsWith('.tmp')) await utimes(join(layout.folder, name), 0, 0);
    }
    await ensureStateFolder(layout);
    const left = (await readdir(layout.folder)).filter((name) => /tmp|restoring|placing/.test(name));
    expect(left).toEqual([]);
    const now = (await contents(layout)).join();
    expect(['before,backup,before,before', 'backup,backup,none,backup']).toContain(now);
    if (now.startsWith('backup')) {
      expect(await readFile(join(layout.folder, 'before-1', 'secrets.json'), 'utf8')).toBe('before');
      expect(await readFile(join(layout.folder, 'before-1', 'journal', 'a.jsonl'), 'utf8')).toBe('before');
    }
    seen.add(now);
    if (!isKilled) break;
  }
  expect(seen.size).toBe(2);
}, 120_000);

test(
  verifies('state:restore', 'files that were made after the interruption do not replace those before it'),
  async () => {
    const layout = await temporaryWorkspace();
    await ensureStateFolder(layout);
    await writeFile(layout.tokens, 'backup', { mode: 0o600 });
    const archive = readArchive(packState(layout, 0, key), 'backup');
    await unpackState(layout, archive, 'before-1');
    for (const name of ['before-1', 'restoring-before-1']) {
      await mkdir(join(layout.folder, name), { recursive: true, mode: 0o700 });
      await writeFile(join(layout.folder, name, 'tokens.json'), name, { mode: 0o600 });
    }
    await writeFile(layout.tokens, 'made since', { mode: 0o600 });
    await ensureStateFolder(layout);
    expect(await readFile(layout.tokens, 'utf8')).toBe('restoring-before-1');
    expect(await readFile(join(layout.folder, 'before-1', 'tokens.json'), 'utf8')).toBe('before-1');
  },
);
