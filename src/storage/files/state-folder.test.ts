import { chmod, lstat, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Logger } from '../../base/index.ts';
import { workspaceLayout } from './layout.ts';
import { ensureStateFolder } from './state-folder.ts';
import { temporaryWorkspace } from './temporary-workspace.fixture.ts';

test(verifies('state:outside', 'makes a folder for its owner alone, and nothing in the workspace'), async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  await ensureStateFolder(layout);
  for (const folder of [layout.folder, layout.locks, layout.journal]) expect(await modeOf(folder)).toBe(0o700);
  expect(await readdir(layout.workspace)).toEqual([]);
});

test('is made once when several ask at the same time', async () => {
  const layout = await temporaryWorkspace();
  await Promise.all(Array.from({ length: 8 }, () => ensureStateFolder(layout)));
  expect(await modeOf(layout.folder)).toBe(0o700);
});

test('closes a folder that others could enter', async () => {
  const layout = await temporaryWorkspace();
  await mkdir(layout.folder);
  await chmod(layout.folder, 0o755);
  await ensureStateFolder(layout);
  expect(await modeOf(layout.folder)).toBe(0o700);
});

test('refuses a file in its place and leaves it alone', async () => {
  const layout = await temporaryWorkspace();
  await writeFile(layout.folder, 'mine');
  await expect(ensureStateFolder(layout)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: `${layout.folder} is not a folder.`,
    hint: expect.stringContaining('Move that file away'),
  });
  expect(await readFile(layout.folder, 'utf8')).toBe('mine');
});

test('refuses a symbolic link and writes nothing behind it', async () => {
  const layout = await temporaryWorkspace();
  const elsewhere = await temporaryWorkspace();
  await symlink(elsewhere.workspace, layout.folder);
  await expect(ensureStateFolder(layout)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('is a symbolic link'),
  });
  expect(await readdir(elsewhere.workspace)).toEqual([]);
});

test("does not use another user's folder, however open it is", async () => {
  const layout = await temporaryWorkspace();
  await mkdir(layout.folder);
  await chmod(layout.folder, 0o755);
  const { uid } = await lstat(layout.folder);
  const whoami = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1);
  onTestFinished(() => whoami.mockRestore());
  await expect(ensureStateFolder(layout)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`${layout.folder} belongs to another user.`),
  });
  expect(await readdir(layout.folder)).toEqual([]);
});

test('says that the workspace does not exist', async () => {
  const layout = await temporaryWorkspace();
  const gone = workspaceLayout(join(layout.workspace, 'gone'), layout.home);
  await expect(ensureStateFolder(gone)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: `The workspace ${gone.workspace} is not a folder.`,
  });
  expect(await readdir(dirname(layout.folder))).toEqual([]);
});

test('sweeps drafts that a killed process left, and no others', async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  const [old, fresh] = [`${layout.tokens}.old.tmp`, `${layout.tokens}.new.tmp`];
  await Promise.all([writeFile(old, ''), writeFile(fresh, ''), writeFile(layout.tokens, '')]);
  const longAgo = new Date('2020-01-01');
  await Promise.all([utimes(old, longAgo, longAgo), utimes(layout.tokens, longAgo, longAgo)]);
  await ensureStateFolder(layout);
  expect((await readdir(layout.folder)).filter((name) => name.startsWith('tokens'))).toEqual([
    'tokens.json',
    'tokens.json.new.tmp',
  ]);
});

test('a workspace reached through a link has the same state', async () => {
  const { workspace, home, folder } = await temporaryWorkspace();
  await symlink(workspace, join(workspace, '..', 'link'));
  expect(workspaceLayout(join(workspace, '..', 'link'), home).folder).toBe(folder);
});

test('a state folder is kept by folders of the same name in two places', async () => {
  const { workspace, home, folder } = await temporaryWorkspace();
  await mkdir(join(workspace, 'workspace'));
  const inner = workspaceLayout(join(workspace, 'workspace'), home);
  expect(inner.folder).not.toBe(folder);
  expect(folder).toMatch(/\/state\/workspaces\/workspace-[0-9a-f]{24}$/);
});

test(verifies('state:outside', 'says that another folder is at the path of the workspace now'), async () => {
  const layout = await temporaryWorkspace();
  const { events, logger } = listeningLogger();
  await ensureStateFolder(layout, { logger });
  await writeFile(layout.tokens, 'kept', { mode: 0o600 });
  await rename(layout.workspace, `${layout.workspace}-old`);
  await mkdir(layout.workspace);
  await ensureStateFolder(layout, { logger });
  await ensureStateFolder(layout, { logger });
  expect(events).toEqual(['state.workspace-replaced']);
  expect(await readFile(layout.tokens, 'utf8')).toBe('kept');
});

test(verifies('state:outside', 'says that the workspace was at another path before'), async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  const moved = `${layout.workspace}-moved`;
  await rename(layout.workspace, moved);
  const { events, logger } = listeningLogger();
  await ensureStateFolder(workspaceLayout(moved, layout.home), { logger });
  expect(events).toEqual(['state.workspace-moved']);
});

test('a workspace that is copied has a state of its own, without a word', async () => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  const copy = `${layout.workspace}-copy`;
  await mkdir(copy);
  const { events, logger } = listeningLogger();
  await ensureStateFolder(workspaceLayout(copy, layout.home), { logger });
  expect(events).toEqual([]);
});

function listeningLogger(): { readonly events: string[]; readonly logger: Logger } {
  const events: string[] = [];
  const log = (event: string): void => void events.push(event);
  return { events, logger: { debug: log, info: log, warn: log, error: log } };
}

async function modeOf(path: string): Promise<number> {
  return (await lstat(path)).mode & 0o777;
}
