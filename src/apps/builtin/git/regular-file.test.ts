import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createMovingClock } from '../../../../test/support/moving-clock.ts';
import { eventually, within } from '../../../../test/support/within.ts';
import { ToolFault } from '../../serving/index.ts';
import { callTool, createWorkshop, faultOf, openGit } from './git.fixture.ts';
import { copyRegularFile, readRegularFile } from './regular-file.ts';

const workshop = createWorkshop();
afterAll(() => workshop.remove());
const at = (...parts: readonly string[]): string => join(workshop.dir, ...parts);

/** Throws where there is no mkfifo. */
function pipe(path: string): void {
  execFileSync('mkfifo', [path]);
}

/** A file of this size that takes no space. */
function sparse(path: string, bytes: number): void {
  writeFileSync(path, '');
  truncateSync(path, bytes);
}

/** Lets go whatever waits for a writer, so that a failing test ends. */
function release(path: string): void {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // Nobody waits.
  }
}

describe('a `.git` that points to named pipes', () => {
  test.each(['commondir', 'gitdir', 'config'])('%s is refused and holds no thread', async (part) => {
    // As many as the pool has threads.
    const roots = [0, 1, 2, 3].map((index) => at(`pipes-${part}-${index}`));
    for (const root of roots) {
      mkdirSync(join(root, 'x'), { recursive: true });
      writeFileSync(join(root, '.git'), 'gitdir: x\n');
      if (part === 'gitdir') writeFileSync(join(root, 'x/commondir'), '.\n');
      pipe(join(root, 'x', part));
    }
    const clock = createMovingClock();
    const openings = roots.map((root) => openGit(root, { clock }).catch((error: unknown) => error));
    try {
      for (const opening of openings) {
        expect(await within(opening, 'the refusal')).toMatchObject({
          code: 'CONFIG_INVALID',
          message: expect.stringContaining('is not a regular file and is not read'),
        });
      }
      expect((await within(stat('/'), 'a thread of the pool')).isDirectory()).toBe(true);
    } finally {
      for (const root of roots) release(join(root, 'x', part));
    }
  });

  test('a `.git` that is a pipe itself, one that is too long, and links are refused', async () => {
    mkdirSync(at('odd/x'), { recursive: true });
    pipe(at('odd/.git'));
    await expect(openGit(at('odd'))).rejects.toThrow('is neither a file nor a folder');
    rmSync(at('odd/.git'));
    sparse(at('odd/.git'), 3e9);
    await expect(openGit(at('odd'))).rejects.toThrow('is larger than 65536 bytes');
    writeFileSync(at('odd/.git'), 'gitdir: x\n');
    symlinkSync('/dev/zero', at('odd/x/commondir'));
    await expect(openGit(at('odd'))).rejects.toThrow('is not a regular file');
  });
});

describe('parts of a repository', () => {
  test.each([
    ['FETCH_HEAD', 3e9],
    ['ORIG_HEAD', 17 * 1024 * 1024],
    ['index', 257 * 1024 * 1024],
    ['sharedindex.a', 257 * 1024 * 1024],
    ['config', 17 * 1024 * 1024],
    ['objects/info/alternates', 17 * 1024 * 1024],
  ])('%s of %d bytes is refused, and nothing is left of it', async (part, bytes) => {
    const name = `large-${part.replaceAll('/', '-')}`;
    const root = workshop.repository(name);
    const tmp = at(`${name}-tmp`);
    mkdirSync(tmp);
    const server = await openGit(root, { env: { TMPDIR: tmp } });
    sparse(join(root, '.git', part), bytes);
    expect(await faultOf(server, 'git_log')).toMatch(/larger than \d+ bytes and is not read: .*\.git/);
    expect(readdirSync(tmp)).toEqual([]);
    await server.close();
  });

  test('any number of shared indexes has one bound', async () => {
    const root = workshop.repository('many');
    const server = await openGit(root);
    for (const letter of 'abc') sparse(join(root, `.git/sharedindex.${letter}`), 200 * 1024 * 1024);
    expect(await faultOf(server, 'git_log')).toContain('have more than 536870912 bytes in total');
    for (const letter of 'abc') rmSync(join(root, `.git/sharedindex.${letter}`));
    expect((await callTool(server, 'git_log')).text).toContain('First words');
    await server.close();
  });

  test('a copy has the content, ends with its signal, and never replaces a file', async () => {
    writeFileSync(at('from'), 'x'.repeat(3_000_001));
    const { signal } = new AbortController();
    expect(await copyRegularFile(at('from'), at('to'), { maxBytes: 3_000_001, signal })).toBe(3_000_001);
    expect(await readRegularFile(at('to'), { maxBytes: 3_000_001 })).toBe('x'.repeat(3_000_001));
    await expect(copyRegularFile(at('from'), at('to'), { maxBytes: 3_000_001, signal })).rejects.toThrow('EEXIST');
    const over = AbortSignal.abort(new ToolFault('time is up'));
    await expect(copyRegularFile(at('from'), at('cut'), { maxBytes: 3_000_001, signal: over })).rejects.toThrow(
      'time is up',
    );
    expect((await stat(at('cut'))).size).toBe(0);
    expect(await copyRegularFile(at('absent'), at('none'), { maxBytes: 1, signal })).toBe(0);
    expect(readdirSync(workshop.dir)).not.toContain('none');
  });

  test('a file without an end is read up to its bound', async () => {
    // The kernel says that it has no bytes.
    await expect(readRegularFile('/proc/self/maps', { maxBytes: 10 })).rejects.toThrow('larger than 10 bytes');
  });
});

describe('a named pipe that git itself opens', () => {
  test.each([
    ['.git/refs/heads/pipe', 'git_log', { ref: 'pipe' }],
    ['.gitattributes', 'git_diff', {}],
    ['.gitignore', 'git_status', {}],
  ])('%s: the time limit ends git and frees all places', async (part, tool, args) => {
    const name = `waiting${part.replaceAll('/', '-')}`;
    const root = workshop.repository(name);
    const tmp = at(`${name}-tmp`);
    mkdirSync(tmp);
    // Git looks at attributes once content has changed.
    writeFileSync(join(root, 'a.txt'), 'changed\n');
    writeFileSync(join(root, 'untracked'), 'new\n');
    const clock = createMovingClock();
    const server = await openGit(root, { args: ['--timeout', '30'], env: { TMPDIR: tmp }, clock });
    pipe(join(root, part));
    // One more than there are places.
    const answers = Array.from({ length: 9 }, () => callTool(server, tool, args).catch((error: unknown) => error));
    await eventually(() => readdirSync(tmp).length === 8, 'eight calls to run');
    expect(clock.waiting).toBe(9);
    clock.advance(30_000);
    for (const answer of answers) {
      expect(await within(answer, 'the end of a call')).toMatchObject({
        message: expect.stringContaining('git took longer than 30 seconds and was ended.'),
      });
    }
    expect(readdirSync(tmp)).toEqual([]);
    rmSync(join(root, part));
    expect((await callTool(server, 'git_status')).text).toContain('On branch main');
    expect(clock.waiting).toBe(0);
    await server.close();
  });
});
