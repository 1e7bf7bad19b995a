import * as fs from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { placeOfPath } from './real-places.ts';

// Counts what is asked of the system, and passes it on.
vi.mock('node:fs', { spy: true });

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'places-')));
  await mkdir(join(folder, 'a/b'), { recursive: true });
  await writeFile(join(folder, 'a/b/file'), '');
  await symlink(join(folder, 'a/b'), join(folder, 'link'));
  await symlink(join(folder, 'nowhere'), join(folder, 'dangling'));
  await symlink(join(folder, 'circle'), join(folder, 'circle'));
});

afterEach(() => rm(folder, { recursive: true }));

test.each([
  ['', ''],
  ['a/b/file', 'a/b/file'],
  ['a/b/file/below', undefined],
  ['a/new/x', 'a/new/x'],
  ['link/file', 'a/b/file'],
  ['link/new/x', 'a/b/new/x'],
  ['a/b/../b/file', 'a/b/file'],
  ['a/new/../b/file', 'a/b/file'],
  ['new/x/../../a', 'a'],
  ['a//b/./file', 'a/b/file'],
  // The system goes up from where the link leads.
  ['link/../b', undefined],
  ['link/../../new', undefined],
  ['dangling', undefined],
  ['dangling/x', undefined],
  ['circle/x', undefined],
])('%j leads to %j', (path, real) => {
  const expected = real === undefined ? undefined : join(folder, real);
  expect(placeOfPath(`${folder}/${path}`)?.real.replace(/(?<=.)\/$/, '')).toBe(expected?.replace(/\/$/, ''));
});

test(verifies('paths:linear', 'missing levels cost the system no questions of their own'), () => {
  const asked = (steps: number, end: string): number => {
    vi.mocked(fs.lstatSync).mockClear();
    expect(placeOfPath(`${folder}/${'x/'.repeat(steps)}${end}`)).toBeDefined();
    return vi.mocked(fs.lstatSync).mock.calls.length;
  };
  for (const end of ['x', '..', 'x/../y']) expect(asked(1900, end) - asked(100, end)).toBeLessThanOrEqual(10);
});
