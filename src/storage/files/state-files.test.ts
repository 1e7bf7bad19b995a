import { execFileSync } from 'node:child_process';
import { chmod, link, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSystemClock, systemRandom } from '../../base/index.ts';
import { createTokenBook } from '../../governance/index.ts';
import { readServeFile, writeServeFile } from '../running-hub/serve-file.ts';
import { ensureAdminToken } from './admin-token.ts';
import { createCatalogStore } from './catalog-store.ts';
import type { WorkspaceLayout } from './layout.ts';
import { acquireLock } from './lock.ts';
import { ensureStateFolder } from './state-folder.ts';
import { ensureStateKey } from './state-key.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';
import { createFileTokenStore } from './token-file.ts';
import { replaceFile } from './write-file.ts';

const deps = { clock: createSystemClock(), random: systemRandom };

const kinds: readonly [string, (layout: WorkspaceLayout) => string, (layout: WorkspaceLayout) => Promise<unknown>][] = [
  ['tokens', ({ tokens }) => tokens, (layout) => createFileTokenStore(layout).load()],
  ['the admin token', ({ adminToken }) => adminToken, (layout) => ensureAdminToken(layout, systemRandom)],
  ['the state key', ({ stateKey }) => stateKey, (layout) => ensureStateKey(layout, systemRandom)],
  ['serve.json', ({ serve }) => serve, (layout) => readServeFile(layout)],
  ['a lock', ({ locks }) => join(locks, 'hub'), (layout) => acquireLock(layout, 'hub', { waitMs: 0 })],
];

test.each(kinds)(
  verifies('files:no-links', '%s: neither a link, a pipe nor a file that others can write is taken'),
  async (_what, pathOf, use) => {
    const { layout } = await filledWorkspace();
    const path = pathOf(layout);
    const target = join(layout.workspace, 'target');
    const text = await readFile(path, 'utf8').catch(() => '{}');
    await writeFile(target, text, { mode: 0o600 });
    const traps: [() => Promise<unknown>, string][] = [
      [() => symlink(target, path), 'is a symbolic link'],
      [async () => execFileSync('mkfifo', ['-m', '600', path]), 'is not a regular file'],
      [() => writeFile(path, text).then(() => chmod(path, 0o666)), 'can be written by other users'],
    ];
    for (const [plant, what] of traps) {
      await rm(path, { force: true });
      await plant();
      await expect(use(layout)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(what),
        hint: expect.any(String),
      });
    }
    expect(await readFile(target, 'utf8')).toBe(text);
  },
);

test.each(['lock', 'journal'])('a link at %s is refused, and nothing is written behind it', async (name) => {
  const { layout } = await filledWorkspace();
  const elsewhere = await temporaryWorkspace();
  await rm(join(layout.folder, name), { recursive: true });
  await symlink(elsewhere.workspace, join(layout.folder, name));
  await expect(acquireLock(layout, 'hub')).rejects.toMatchObject({
    message: expect.stringContaining('is a symbolic link'),
  });
  expect(await readdir(elsewhere.workspace)).toEqual([]);
});

test('a link in place of a file that is replaced goes, and what it led to stays', async () => {
  const { layout } = await filledWorkspace();
  const target = join(layout.workspace, 'target');
  await writeFile(target, 'precious');
  await rm(layout.catalog);
  await symlink(target, layout.catalog);
  await replaceFile(layout, layout.catalog, 'new', systemRandom);
  expect(await readFile(target, 'utf8')).toBe('precious');
  expect((await stat(layout.catalog)).mode & 0o777).toBe(0o600);
});

test('a folder that others can write is refused, with the way out', async () => {
  const { layout } = await filledWorkspace();
  await chmod(layout.folder, 0o777);
  await expect(ensureStateFolder(layout)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: `${layout.folder} can be written by other users.`,
    hint: expect.stringContaining('chmod go-w'),
  });
});

test('a second name of the token file does not matter: it is replaced whole', async () => {
  const { layout } = await filledWorkspace();
  const second = join(layout.workspace, 'second');
  await link(layout.tokens, second);
  const before = await readFile(second, 'utf8');
  const book = await createTokenBook({ ...deps, store: createFileTokenStore(layout) });
  await book.issue({ agent: 'other' });
  expect(await readFile(second, 'utf8')).toBe(before);
});

async function filledWorkspace() {
  const layout = await temporaryWorkspace();
  const adminToken = await ensureAdminToken(layout, systemRandom);
  const key = await ensureStateKey(layout, systemRandom);
  const book = await createTokenBook({ ...deps, store: createFileTokenStore(layout) });
  await book.issue({ agent: 'tester' });
  await writeServeFile(layout, { url: 'http://127.0.0.1:1' });
  await replaceFile(layout, layout.catalog, '{"version":1,"servers":[]}', systemRandom);
  expect((await createCatalogStore(layout).load()).size).toBe(0);
  return { layout, adminToken, key };
}
