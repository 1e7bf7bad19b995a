import { execFileSync } from 'node:child_process';
import { chmod, cp, link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSystemClock, type Logger, systemRandom } from '../../base/index.ts';
import { createTokenBook } from '../../governance/index.ts';
import { ensureAdminToken, readAdminToken } from './admin-token.ts';
import { createCatalogStore } from './catalog-store.ts';
import { type WorkspaceLayout, workspaceLayout } from './layout.ts';
import { acquireLock } from './lock.ts';
import { readServeFile, writeServeFile } from './serve-file.ts';
import { ensureStateFolder } from './state-folder.ts';
import { ensureStateKey } from './state-key.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';
import { createFileTokenStore } from './token-store.ts';
import { replaceFile } from './write-file.ts';

const deps = { clock: createSystemClock(), random: systemRandom };

test(verifies('state:made-here', 'a copied folder gives nobody rights until its owner issues new ones'), async () => {
  const [original, copy] = [await filledWorkspace(), await temporaryWorkspace()];
  await cp(original.layout.folder, copy.folder, { recursive: true, preserveTimestamps: true });
  expect(await createFileTokenStore(copy).load()).toEqual([]);
  expect(await readServeFile(copy)).toBeUndefined();
  await expect(readAdminToken(copy)).rejects.toMatchObject({ hint: 'Start `qm serve` once.' });

  const { events, logger } = listeningLogger();
  await ensureStateFolder(copy, { logger });
  expect(events).toEqual(['state.untrusted']);
  expect(await ensureAdminToken(copy, systemRandom)).not.toBe(original.adminToken);
  expect(await ensureStateKey(copy, systemRandom)).not.toEqual(original.key);
  await ensureStateFolder(copy, { logger });
  expect(events).toHaveLength(1);
  // What servers said stays.
  expect((await readdir(copy.folder)).filter((name) => !name.startsWith('untrusted-')).sort()).toEqual(
    ['.gitignore', 'admin-token', 'catalog.json', 'journal', 'lock', 'origin.json', 'state-key'].sort(),
  );
});

test('a moved folder and a folder in a moved workspace stay valid', async () => {
  const { layout, adminToken } = await filledWorkspace();
  const other = await temporaryWorkspace();
  await rename(layout.folder, other.folder);
  expect(await readAdminToken(other)).toBe(adminToken);
  const moved = workspaceLayout(join(other.workspace, '..', 'qm-storage-moved'));
  await rename(other.workspace, moved.workspace);
  try {
    await ensureStateFolder(moved);
    expect(await readAdminToken(moved)).toBe(adminToken);
    expect(await createFileTokenStore(moved).load()).toHaveLength(1);
  } finally {
    await rm(moved.workspace, { recursive: true });
  }
});

test('a folder of an earlier version, without the file that says where it was made, counts as copied', async () => {
  const { layout, adminToken } = await filledWorkspace();
  await rm(join(layout.folder, 'origin.json'));
  const { events, logger } = listeningLogger();
  await ensureStateFolder(layout, { logger });
  expect(events).toEqual(['state.untrusted']);
  expect(await ensureAdminToken(layout, systemRandom)).not.toBe(adminToken);
});

test.each(['{}', 'nonsense', '{"version":1,"inode":"1","born":null}', '{"version":1,"inode":"1","born":"1"}'])(
  'an origin of %s proves nothing',
  async (text) => {
    const { layout } = await filledWorkspace();
    await replaceFile(layout, join(layout.folder, 'origin.json'), text, systemRandom);
    expect(await createFileTokenStore(layout).load()).toEqual([]);
  },
);

test('the right inode without the time of birth is not enough where the file system tells that time', async () => {
  const { layout } = await filledWorkspace();
  const path = join(layout.folder, 'origin.json');
  const origin: { born: string | null } = JSON.parse(await readFile(path, 'utf8'));
  await replaceFile(layout, path, JSON.stringify({ ...origin, born: null }), systemRandom);
  // Where it tells none, the inode has to do.
  expect(await createFileTokenStore(layout).load()).toHaveLength(origin.born === null ? 1 : 0);
});

test('many processes that find such a folder set it aside once and lose nothing that is new', async () => {
  const [original, copy] = [await filledWorkspace(), await temporaryWorkspace()];
  await cp(original.layout.folder, copy.folder, { recursive: true });
  const tokens = await Promise.all(Array.from({ length: 8 }, () => ensureAdminToken(copy, systemRandom)));
  expect(new Set(tokens).size).toBe(1);
  expect(tokens).not.toContain(original.adminToken);
});

test('a folder with nothing that gives rights is taken without a word', async () => {
  const layout = await temporaryWorkspace();
  await mkdir(layout.journal, { recursive: true, mode: 0o700 });
  const { events, logger } = listeningLogger();
  await ensureStateFolder(layout, { logger });
  expect(events).toEqual([]);
  expect(await readdir(layout.folder)).not.toContainEqual(expect.stringMatching(/^untrusted/));
});

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
  await writeServeFile(layout, 'http://127.0.0.1:1');
  await replaceFile(layout, layout.catalog, '{"version":1,"servers":[]}', systemRandom);
  expect((await createCatalogStore(layout).load()).size).toBe(0);
  return { layout, adminToken, key };
}

function listeningLogger(): { readonly events: string[]; readonly logger: Logger } {
  const events: string[] = [];
  const log = (event: string): void => void events.push(event);
  return { events, logger: { debug: log, info: log, warn: log, error: log } };
}
