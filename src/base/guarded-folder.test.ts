import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ensureGuardedFolder, type GuardedFolder, openGuardedFolder } from './guarded-folder.ts';

// Below the open folder, as on Linux, and by comparing all levels, as elsewhere.
const ways = process.platform === 'linux' ? [true, false] : [false];

describe.each(ways)('anchored: %s', (anchored) => {
  const make = (root: string, ...names: string[]): GuardedFolder => {
    const folder = ensureGuardedFolder(root, names, { anchored });
    onTestFinished(() => folder.close());
    return folder;
  };

  test('folders and files are for their owner alone, whatever the umask', () => {
    const root = temporaryRoot();
    for (const [index, mask] of [0, 0o022, 0o777].entries()) {
      const umask = process.umask(mask);
      try {
        const folder = make(root, `a${index}`, 'b');
        closeSync(folder.open('file', 'append'));
        closeSync(folder.open('other', 'create'));
      } finally {
        process.umask(umask);
      }
      const modes = ['', 'b', 'b/file', 'b/other'].map((path) => lstatSync(join(root, `a${index}`, path)).mode & 0o777);
      expect(modes).toEqual([0o700, 0o700, 0o600, 0o600]);
    }
  });

  test('no level below the root may be a link, and nothing is made behind it', () => {
    const [root, elsewhere] = [temporaryRoot(), temporaryRoot()];
    mkdirSync(join(root, 'real'));
    symlinkSync(elsewhere, join(root, 'link'));
    symlinkSync(elsewhere, join(root, 'real/link'));
    for (const names of [['link'], ['link', 'b'], ['real', 'link', 'b']]) {
      expect(() => make(root, ...names)).toThrow('is a symbolic link');
      expect(() => openGuardedFolder(root, names, { anchored })).toThrow('is a symbolic link');
    }
    expect(execFileSync('find', [elsewhere, '-mindepth', '1']).toString()).toBe('');
  });

  test('the root itself may be a link: the operator chose it', () => {
    const [root, at] = [temporaryRoot(), temporaryRoot()];
    symlinkSync(root, join(at, 'link'));
    make(join(at, 'link'), 'a').close();
    expect(lstatSync(join(root, 'a')).isDirectory()).toBe(true);
  });

  test('a linked file is neither read nor written', () => {
    const root = temporaryRoot();
    const folder = make(root, 'a');
    writeFileSync(join(root, 'target'), 'precious', { mode: 0o600 });
    symlinkSync(join(root, 'target'), join(root, 'a/file'));
    symlinkSync(join(root, 'nowhere'), join(root, 'a/dangling'));
    for (const access of ['read', 'append', 'update'] as const) {
      expect(() => folder.open('file', access)).toThrow(`${join(root, 'a/file')} is a symbolic link.`);
      expect(() => folder.open('dangling', access)).toThrow('is a symbolic link');
    }
    expect(() => folder.open('dangling', 'create')).toThrow('EEXIST');
    expect(readFileSync(join(root, 'target'), 'utf8')).toBe('precious');
    expect(lstatSync(join(root, 'nowhere'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('a file with a second name is read, but not written', () => {
    const root = temporaryRoot();
    const folder = make(root, 'a');
    writeFileSync(join(root, 'target'), 'precious', { mode: 0o600 });
    linkSync(join(root, 'target'), join(root, 'a/file'));
    closeSync(folder.open('file', 'read'));
    for (const access of ['append', 'update'] as const) {
      expect(() => folder.open('file', access)).toThrow('has a second name');
    }
  });

  test('pipes, folders and devices do not hang it', () => {
    const root = temporaryRoot();
    const folder = make(root, 'a');
    execFileSync('mkfifo', ['-m', '600', join(root, 'a/pipe')]);
    mkdirSync(join(root, 'a/folder'));
    for (const access of ['read', 'append', 'update'] as const) {
      expect(() => folder.open('pipe', access)).toThrow('is not a regular file');
      expect(() => folder.open('folder', access)).toThrow(/not a regular file|EISDIR/);
    }
  });

  test.each([
    [0o602, 'can be written by other users'],
    [0o666, 'can be written by other users'],
    [0o644, 'can be read by other users'],
    [0o640, 'can be read by other users'],
  ])('a secret of mode %o is refused, with the way out', (mode, what) => {
    const root = temporaryRoot();
    const folder = make(root, 'a');
    const path = join(root, 'a/key');
    writeFileSync(path, '');
    chmodSync(path, mode);
    expect(refusal(() => folder.open('key', 'read', { secret: true }))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${path} ${what}.`,
      hint: expect.stringContaining(`chmod 600 ${path}`),
    });
  });

  test('a folder that others can write is refused, with the way out', () => {
    const root = temporaryRoot();
    mkdirSync(join(root, 'a'));
    chmodSync(join(root, 'a'), 0o777);
    expect(refusal(() => make(root, 'a', 'b'))).toMatchObject({
      message: `${join(root, 'a')} can be written by other users.`,
      hint: expect.stringContaining('chmod go-w'),
    });
    chmodSync(join(root, 'a'), 0o755);
    make(root, 'a', 'b');
  });

  test('a folder that was moved away, or replaced by a link to where it is now, is not in place', () => {
    const root = temporaryRoot();
    const folder = make(root, 'a', 'b');
    expect(folder.isInPlace()).toBe(true);
    renameSync(join(root, 'a'), join(root, 'moved'));
    expect(folder.isInPlace()).toBe(false);
    symlinkSync(join(root, 'moved'), join(root, 'a'));
    expect(folder.isInPlace()).toBe(false);
    rmSync(join(root, 'a'));
    renameSync(join(root, 'moved'), join(root, 'a'));
    expect(folder.isInPlace()).toBe(true);
  });

  test('a level that is swapped for a link after it was checked leads nowhere else', () => {
    const [root, elsewhere] = [temporaryRoot(), temporaryRoot()];
    const folder = make(root, 'a');
    renameSync(join(root, 'a'), join(root, 'moved'));
    symlinkSync(elsewhere, join(root, 'a'));
    try {
      const fd = folder.open('file', 'append');
      writeSync(fd, 'text');
      expect(fstatSync(fd).ino).toBe(lstatSync(join(root, 'moved/file')).ino);
      closeSync(fd);
    } catch (error) {
      expect(anchored).toBe(false);
      expect(String(error)).toContain('was replaced while it was in use');
    }
    expect(lstatSync(join(elsewhere, 'file'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('a failed step names the path that people know', () => {
    const root = temporaryRoot();
    const folder = make(root, 'a');
    expect(() => folder.open('missing', 'read')).toThrow(`'${join(root, 'a/missing')}'`);
    expect(() => folder.remove('missing')).toThrow(`'${join(root, 'a/missing')}'`);
  });
});

function temporaryRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'qm-guarded-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return root;
}

function refusal(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
