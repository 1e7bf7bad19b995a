import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { callTool, createWorkshop, everythingIn, faultOf, openGit, subjectsOf } from './git.fixture.ts';

const workshop = createWorkshop();
afterAll(() => workshop.remove());
const at = (...parts: readonly string[]): string => join(workshop.dir, ...parts);

test('a repository without commits', async () => {
  workshop.git('.', 'init', '--quiet', 'empty');
  writeFileSync(at('empty', 'new.txt'), 'new\n');
  workshop.git('empty', 'add', '.');
  const server = await openGit(at('empty'));
  expect((await callTool(server, 'git_status')).text).toBe(
    'On branch main, no commits yet.\nStaged:\n  added: new.txt',
  );
  expect((await callTool(server, 'git_diff', { staged: true })).text).toContain('+new');
  expect((await callTool(server, 'git_log')).text).toBe('There are no commits yet.');
  expect((await callTool(server, 'git_search', { query: 'new' })).text).toBe('There are no commits yet.');
  expect(await faultOf(server, 'git_show', { commit: 'HEAD' })).toContain('There is no commit "HEAD"');
  expect(await faultOf(server, 'git_blame', { file: 'new.txt' })).toContain('There is no commit "HEAD"');
  await server.close();
});

test('a bare repository has history and no work tree', async () => {
  workshop.repository('full');
  workshop.git('.', 'clone', '--quiet', '--bare', 'full', 'bare.git');
  const server = await openGit(at('bare.git'));
  expect(subjectsOf(await callTool(server, 'git_log'))).toEqual(['First words']);
  expect((await callTool(server, 'git_show', { commit: 'main' })).text).toContain('+two');
  expect((await callTool(server, 'git_blame', { file: 'a.txt' })).text).toContain('2) two');
  expect((await callTool(server, 'git_search', { query: 'bee', in: 'content' })).text).toBe('src/b.txt:1: bee');
  expect((await callTool(server, 'git_diff', { ref: 'main', to: 'main' })).text).toBe('No differences.');
  expect(await faultOf(server, 'git_status')).toContain('bare');
  expect(await faultOf(server, 'git_diff')).toContain('bare');
  await server.close();
});

test('a detached HEAD, and the branch before', async () => {
  const root = workshop.repository('detached');
  workshop.git('detached', 'checkout', '--quiet', '--detach');
  const server = await openGit(root);
  expect((await callTool(server, 'git_status')).text).toMatch(/^HEAD is detached, at [0-9a-f]{12}\./);
  expect(subjectsOf(await callTool(server, 'git_log', { ref: '@{-1}' }))).toEqual(['First words']);
  await server.close();
});

test('a merge that stopped at a conflict', async () => {
  const root = workshop.repository('conflict');
  workshop.git('conflict', 'checkout', '--quiet', '-b', 'side');
  writeFileSync(join(root, 'a.txt'), 'theirs\n');
  workshop.git('conflict', 'commit', '--quiet', '-am', 'theirs');
  workshop.git('conflict', 'checkout', '--quiet', 'main');
  writeFileSync(join(root, 'a.txt'), 'ours\n');
  workshop.git('conflict', 'commit', '--quiet', '-am', 'ours');
  expect(() => workshop.git('conflict', 'merge', 'side')).toThrow();
  const server = await openGit(root);
  expect((await callTool(server, 'git_status')).text).toContain('In conflict:\n  both modified: a.txt');
  expect((await callTool(server, 'git_diff')).text).toContain('++>>>>>>> side');
  expect(subjectsOf(await callTool(server, 'git_log', { ref: 'MERGE_HEAD', limit: 1 }))).toEqual(['theirs']);
  await server.close();
});

test('a shallow clone ends where it was cut off', async () => {
  workshop.repository('deep');
  workshop.git('deep', 'commit', '--quiet', '--allow-empty', '-m', 'Second');
  workshop.git('.', 'clone', '--quiet', '--depth=1', `file://${at('deep')}`, 'shallow');
  const server = await openGit(at('shallow'));
  expect(subjectsOf(await callTool(server, 'git_log'))).toEqual(['Second']);
  expect((await callTool(server, 'git_show', { commit: 'HEAD', stat: true })).text).toContain('2 files changed');
  await server.close();
});

test('hashes of 64 digits', async () => {
  const root = workshop.repository('sha256', '--object-format=sha256');
  appendFileSync(join(root, 'a.txt'), 'three\n');
  const server = await openGit(root);
  const commit = workshop.git('sha256', 'rev-parse', 'HEAD');
  expect(commit).toHaveLength(64);
  expect((await callTool(server, 'git_status')).structured).toMatchObject({ commit });
  expect((await callTool(server, 'git_log')).structured).toMatchObject({ commits: [{ hash: commit }] });
  expect((await callTool(server, 'git_blame', { file: 'a.txt' })).structured).toMatchObject({
    lines: [{ hash: commit }, {}],
  });
  expect((await callTool(server, 'git_search', { query: 'two', in: 'content' })).text).toBe('a.txt:2: two');
  await server.close();
});

test.each([
  'with space',
  'new\nline',
  '"quotes" and \'more\'',
  'ünïcødé 字',
  '-dash',
  '*',
  ':(top)a.txt',
  '\\back\\slash',
])('a file called %j', async (name) => {
  const repository = `named-${Buffer.from(name).toString('hex')}`;
  const root = workshop.repository(repository);
  writeFileSync(join(root, name), 'before\n');
  workshop.git(repository, 'add', '--all');
  workshop.git(repository, 'commit', '--quiet', '-m', 'Odd');
  writeFileSync(join(root, name), 'after\n');
  writeFileSync(join(root, 'a.txt'), 'changed as well\n');
  const server = await openGit(root);
  expect((await callTool(server, 'git_status')).structured?.files).toContainEqual({
    path: name,
    state: 'unstaged',
    change: 'modified',
  });
  const { text } = await callTool(server, 'git_diff', { path: name });
  expect(text).toContain('-before\n+after\n');
  expect(text).not.toContain('changed as well');
  expect(subjectsOf(await callTool(server, 'git_log', { path: name }))).toEqual(['Odd']);
  expect((await callTool(server, 'git_blame', { file: name })).text).toContain('1) before');
  expect((await callTool(server, 'git_search', { query: 'before', in: 'content', path: name })).structured).toEqual({
    matches: [{ path: name, line: 1, text: 'before' }],
    more: false,
  });
  await server.close();
});

test('binary files are summed up, and what is no UTF-8 is replaced', async () => {
  const root = workshop.repository('bytes');
  writeFileSync(join(root, 'image'), Buffer.from([0, 1, 2, 255]));
  writeFileSync(join(root, 'latin.txt'), Buffer.from([0x67, 0x72, 0xfc, 0x6e, 0x0a]));
  workshop.git('bytes', 'add', '.');
  const server = await openGit(root);
  const { text } = await callTool(server, 'git_diff', { staged: true });
  expect(text).toContain('Binary files /dev/null and b/image differ');
  expect(text).toContain('+gr\uFFFDn\n');
  await server.close();
});

test('a file that was only touched, or changed in the same moment, is judged by its content', async () => {
  const root = workshop.repository('racy');
  const server = await openGit(root);
  for (let round = 0; round < 5; round += 1) {
    writeFileSync(join(root, 'a.txt'), `${round}00\ntwo\n`);
    workshop.git('racy', 'add', '.');
    // As long as before, and within the same tick of the clock that the index was written in.
    writeFileSync(join(root, 'a.txt'), `${round}11\ntwo\n`);
    expect((await callTool(server, 'git_diff')).text).toContain(`+${round}11`);
    expect((await callTool(server, 'git_status')).structured?.files).toContainEqual(
      expect.objectContaining({ path: 'a.txt', state: 'unstaged' }),
    );
    writeFileSync(join(root, 'a.txt'), `${round}00\ntwo\n`);
    expect((await callTool(server, 'git_diff')).text).toBe('No differences.');
  }
  await server.close();
});

test('an index in two parts, a sparse work tree, packed refs', async () => {
  const root = workshop.repository('parts');
  workshop.git('parts', 'sparse-checkout', 'set', 'src');
  workshop.git('parts', 'update-index', '--split-index');
  workshop.git('parts', 'pack-refs', '--all');
  workshop.git('parts', 'gc', '--quiet');
  const before = everythingIn(join(root, '.git'));
  const server = await openGit(root);
  expect((await callTool(server, 'git_status')).text).toContain('Nothing has changed.');
  expect((await callTool(server, 'git_diff', { ref: 'main' })).text).toBe('No differences.');
  expect(everythingIn(join(root, '.git'))).toEqual(before);
  await server.close();
});

test('a linked work tree and a submodule have their repository elsewhere', async () => {
  workshop.repository('main');
  workshop.git('main', 'worktree', 'add', '--quiet', '-b', 'linked', at('linked'));
  workshop.git('linked', 'commit', '--quiet', '--allow-empty', '-m', 'On the side');
  workshop.git('main', 'submodule', '--quiet', 'add', at('full'), 'sub');
  const linked = await openGit(at('linked'));
  expect((await callTool(linked, 'git_status')).text).toMatch(/^On branch linked, .*\nNothing has changed\.$/);
  expect(subjectsOf(await callTool(linked, 'git_log', { ref: 'main..' }))).toEqual(['On the side']);
  expect(subjectsOf(await callTool(linked, 'git_log', { ref: 'HEAD@{1}' }))).toEqual(['First words']);
  const sub = await openGit(at('main', 'sub'));
  expect((await callTool(sub, 'git_status')).text).toContain('It follows origin/main: 0 ahead, 0 behind.');
  const main = await openGit(at('main'));
  expect((await callTool(main, 'git_status')).text).toContain('added: sub');
  expect((await callTool(main, 'git_diff', { staged: true })).text).toContain('+Subproject commit ');
  await Promise.all([linked.close(), sub.close(), main.close()]);
});

test('only the top of a repository is served, and only a repository that knows its work tree', async () => {
  const root = workshop.repository('top');
  mkdirSync(at('nothing'));
  await expect(openGit(join(root, 'src'))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`is inside the repository ${root}`),
  });
  await expect(openGit(at('nothing'))).rejects.toThrow('is not a git repository');
  await expect(openGit(at('absent'))).rejects.toThrow('does not exist');
  writeFileSync(at('nothing', '.git'), `gitdir: ${join(root, '.git')}\n`);
  await expect(openGit(at('nothing'))).rejects.toThrow('does not list this work tree');
  workshop.git('top', 'worktree', 'add', '--quiet', at('top-linked'));
  writeFileSync(at('nothing', '.git'), `gitdir: ${join(root, '.git/worktrees/top-linked')}\n`);
  await expect(openGit(at('nothing'))).rejects.toThrow('does not list this work tree');
  mkdirSync(at('nothing', 'fake'));
  writeFileSync(at('nothing', '.git'), 'gitdir: fake\n');
  writeFileSync(at('nothing', 'fake', 'gitdir'), `${at('nothing', '.git')}\n`);
  writeFileSync(at('nothing', 'fake', 'commondir'), `${join(root, '.git')}\n`);
  await expect(openGit(at('nothing'))).rejects.toThrow('is not inside the repository that it names');
  rmSync(at('nothing', 'fake', 'commondir'));
  writeFileSync(at('nothing', 'fake', 'config'), '[core');
  await expect(openGit(at('nothing'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  rmSync(at('nothing', '.git'));
  symlinkSync(join(root, '.git'), at('nothing', '.git'));
  await expect(openGit(at('nothing'))).rejects.toThrow('is a link');
});

test('objects that another repository lends, and parts that lie elsewhere, are not served', async () => {
  const root = workshop.repository('lender');
  workshop.git('.', 'clone', '--quiet', '--shared', 'lender', 'borrower');
  await expect(openGit(at('borrower'))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('objects/info/alternates'),
  });
  const server = await openGit(root);
  for (const part of ['objects/pack', 'objects', 'refs', 'HEAD', 'index', 'config']) {
    const path = join(root, '.git', part);
    renameSync(path, at('moved'));
    symlinkSync(at('moved'), path);
    expect(await faultOf(server, 'git_status'), part).toMatch(/a link that leads out of it|Objects that are links/);
    rmSync(path);
    renameSync(at('moved'), path);
  }
  renameSync(join(root, '.git'), at('moved.git'));
  symlinkSync(at('moved.git'), join(root, '.git'));
  expect(await faultOf(server, 'git_log')).toContain('a link that leads out of it');
  await server.close();
});
