import { stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ensureStateFolder } from '../files/state-folder.ts';
import { temporaryWorkspace } from '../files/temporary-workspace.fixture.ts';
import { readServeFile, removeServeFile, writeServeFile } from './serve-file.ts';

test('a running hub is found until it goes', async () => {
  const layout = await temporaryWorkspace();
  expect(await readServeFile(layout)).toBeUndefined();
  const mine = await writeServeFile(layout, { url: 'http://127.0.0.1:4680' });
  expect(mine).toMatchObject({
    url: 'http://127.0.0.1:4680',
    pid: process.pid,
    workspace: layout.workspace,
    adminTokenFile: layout.adminToken,
  });
  expect(await readServeFile(layout)).toEqual(mine);
  expect((await stat(layout.serve)).mode & 0o777).toBe(0o600);
  await removeServeFile(layout, mine);
  await removeServeFile(layout, mine);
  await expect(stat(layout.serve)).rejects.toMatchObject({ code: 'ENOENT' });
});

test.each([
  ['a pid that is gone', { pid: 2 ** 22 + 1 }],
  ['an earlier life of a pid', { startTime: 'long ago' }],
])('%s counts as no hub', async (_what, change) => {
  const layout = await temporaryWorkspace();
  const mine = await writeServeFile(layout, { url: 'http://127.0.0.1:4680' });
  await writeFile(layout.serve, JSON.stringify({ ...mine, ...change }));
  expect(await readServeFile(layout)).toBeUndefined();
});

test('a hub does not remove the file of another', async () => {
  const layout = await temporaryWorkspace();
  const first = await writeServeFile(layout, { url: 'http://127.0.0.1:4680' });
  const second = await writeServeFile(layout, { url: 'http://127.0.0.1:4681' });
  await removeServeFile(layout, first);
  expect(await readServeFile(layout)).toEqual(second);
});

test.each([
  '',
  '{"url":"http://127.0.0.1:1"}',
  '{"url":"file:///etc/passwd","pid":1,"startTime":"","workspace":"","adminTokenFile":""}',
])('refuses a file that holds "%s"', async (text) => {
  const layout = await temporaryWorkspace();
  await ensureStateFolder(layout);
  await writeFile(layout.serve, text);
  await expect(readServeFile(layout)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});
