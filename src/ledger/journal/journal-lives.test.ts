import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ensureGuardedFolder, type GuardedFolder } from '../../base/index.ts';
import { claimLife, journalLives } from './recovery.ts';

test('the files of a life go by their number, whatever their names sort like', async () => {
  // Rotated within one second: by name, file 10 would come before file 9.
  const folder = folderWith('aaa.10.jsonl', 'aaa.9.jsonl', 'aaa.2.jsonl', 'aaa.jsonl');
  const [life = []] = await journalLives(folder.path);
  expect(life.map(({ number }) => number)).toEqual([1, 2, 9, 10]);
});

test('a life that can be claimed only in part is not recovered in part', async () => {
  const folder = folderWith('aaa.jsonl', 'aaa.2.jsonl');
  const [life = []] = await journalLives(folder.path);
  const rename = vi.spyOn(folder, 'rename');
  rename.mockImplementationOnce(() => {});
  rename.mockImplementationOnce(() => {
    throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
  });
  expect(() => claimLife(folder, life, 'bbb')).toThrow('not permitted');
});

function folderWith(...files: readonly string[]): GuardedFolder {
  const workspace = mkdtempSync(join(tmpdir(), 'qm-lives-'));
  const folder = ensureGuardedFolder(workspace, ['state', 'journal']);
  onTestFinished(() => {
    folder.close();
    rmSync(workspace, { recursive: true });
  });
  for (const file of files) writeFileSync(join(folder.path, `20260101T000000Z-${file}`), '');
  return folder;
}
