import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { callTool, createWorkshop, faultOf, openGit, subjectsOf } from './git.fixture.ts';

const workshop = createWorkshop();
afterAll(() => workshop.remove());

test('the six tools only look', async () => {
  const server = await openGit(workshop.repository('six'));
  expect(server.tools.map(({ name }) => name)).toEqual([
    'git_status',
    'git_diff',
    'git_log',
    'git_show',
    'git_blame',
    'git_search',
  ]);
  for (const { annotations } of server.tools) {
    expect(annotations).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
  }
  await server.close();
});

test('status names the branch and every file that changed', async () => {
  const root = workshop.repository('status');
  workshop.git('status', 'mv', 'src/b.txt', 'src/c.txt');
  appendFileSync(join(root, 'a.txt'), 'three\n');
  writeFileSync(join(root, 'odd "name"\n'), '');
  const server = await openGit(root);
  const { text, structured } = await callTool(server, 'git_status');
  const commit = workshop.git('status', 'rev-parse', 'HEAD');
  expect(text).toBe(
    [
      `On branch main, at ${commit.slice(0, 12)}.`,
      'Staged:',
      '  renamed: src/b.txt -> src/c.txt',
      'Not staged:',
      '  modified: a.txt',
      'Untracked:',
      '  "odd \\"name\\"\\n"',
    ].join('\n'),
  );
  expect(structured).toEqual({
    branch: 'main',
    commit,
    upstream: null,
    ahead: null,
    behind: null,
    cut: false,
    files: [
      { path: 'a.txt', state: 'unstaged', change: 'modified' },
      { path: 'src/c.txt', state: 'staged', change: 'renamed', from: 'src/b.txt' },
      { path: 'odd "name"\n', state: 'untracked', change: 'untracked' },
    ],
  });
  await server.close();
});

test('status counts the commits that only one side has, and knows a clean work tree', async () => {
  workshop.repository('origin');
  workshop.git('.', 'clone', '--quiet', 'origin', 'clone');
  workshop.git('clone', 'commit', '--quiet', '--allow-empty', '-m', 'mine');
  const server = await openGit(join(workshop.dir, 'clone'));
  const { text, structured } = await callTool(server, 'git_status');
  expect(text).toMatch(/It follows origin\/main: 1 ahead, 0 behind\.\nNothing has changed\.$/);
  expect(structured).toMatchObject({ upstream: 'origin/main', ahead: 1, behind: 0, files: [] });
  workshop.git('clone', 'update-ref', '-d', 'refs/remotes/origin/main');
  expect((await callTool(server, 'git_status')).text).toContain('Its upstream branch origin/main does not exist.');
  await server.close();
});

test('differences: not staged, staged, to a commit, between commits, along a range', async () => {
  const root = workshop.repository('diff');
  workshop.git('diff', 'checkout', '--quiet', '-b', 'side');
  writeFileSync(join(root, 'side.txt'), 'side\n');
  workshop.git('diff', 'add', '.');
  workshop.git('diff', 'commit', '--quiet', '-m', 'side');
  workshop.git('diff', 'checkout', '--quiet', 'main');
  workshop.git('diff', 'commit', '--quiet', '--allow-empty', '-m', 'main goes on');
  writeFileSync(join(root, 'staged.txt'), 'staged\n');
  workshop.git('diff', 'add', '.');
  appendFileSync(join(root, 'a.txt'), 'three\n');
  const server = await openGit(root);
  const files = async (args: Record<string, unknown>): Promise<readonly string[]> =>
    [...(await callTool(server, 'git_diff', args)).text.matchAll(/^diff --git a\/(\S+)/gm)].map(
      ([, name = '']) => name,
    );

  expect((await callTool(server, 'git_diff', {})).text).toContain('@@ -1,2 +1,3 @@\n one\n two\n+three\n');
  expect((await callTool(server, 'git_diff', { context: 0 })).text).toContain('@@ -2,0 +3 @@ two\n+three\n');
  expect(await files({})).toEqual(['a.txt']);
  expect(await files({ staged: true })).toEqual(['staged.txt']);
  expect(await files({ ref: 'HEAD' })).toEqual(['a.txt', 'staged.txt']);
  expect(await files({ ref: 'side', staged: true })).toEqual(['side.txt', 'staged.txt']);
  expect(await files({ ref: 'main', to: 'side' })).toEqual(['side.txt']);
  expect(await files({ ref: 'side..main' })).toEqual(['side.txt']);
  expect(await files({ ref: 'side...main' })).toEqual([]);
  expect(await files({ ref: '..side', path: 'src' })).toEqual([]);
  expect((await callTool(server, 'git_diff', { ref: 'main', to: 'side', stat: true })).text).toMatch(
    /^ side\.txt \| 1 \+\n 1 file changed/,
  );
  expect(await faultOf(server, 'git_diff', { to: 'side' })).toContain('`to` needs `ref`');
  expect(await faultOf(server, 'git_diff', { ref: 'a..b' })).toContain('There is no commit "a"');
  expect(await faultOf(server, 'git_diff', { ref: 'main..side', staged: true })).toContain(
    'cannot be combined with `staged`',
  );
  await server.close();
});

test('the history, by author, date, path and range', async () => {
  const root = workshop.repository('log');
  appendFileSync(join(root, 'a.txt'), 'three\n');
  workshop.git(
    'log',
    'commit',
    '--quiet',
    '-am',
    'Second',
    '--author=Bob <bob@example.com>',
    '--date=2026-05-06T00:00:00+02:00',
  );
  const server = await openGit(root);
  const { text, structured } = await callTool(server, 'git_log');
  const [second, first] = workshop.git('log', 'log', '--format=%H').split('\n');
  expect(structured).toEqual({
    more: false,
    commits: [
      { hash: second, author: 'Bob', email: 'bob@example.com', date: '2026-05-06T00:00:00+02:00', subject: 'Second' },
      {
        hash: first,
        author: 'Ada',
        email: 'ada@example.com',
        date: '2026-01-02T03:04:05+01:00',
        subject: 'First words',
      },
    ],
  });
  expect(text.split('\n')[0]).toBe(`${second?.slice(0, 12)} 2026-05-06T00:00:00+02:00 Bob <bob@example.com>`);
  const subjects = async (args: Record<string, unknown>): Promise<unknown> =>
    subjectsOf(await callTool(server, 'git_log', args));
  expect(await subjects({ author: 'BOB' })).toEqual(['Second']);
  expect(await subjects({ path: 'src' })).toEqual(['First words']);
  expect(await subjects({ ref: 'HEAD~1..HEAD' })).toEqual(['Second']);
  expect(await subjects({ until: '2020-01-01' })).toEqual([]);
  expect(await subjects({ since: '2020-01-01', ref: 'main~1' })).toEqual(['First words']);
  expect((await callTool(server, 'git_log', { limit: 1 })).text).toContain('[There are more than 1.');
  await server.close();
});

test('a commit shows its message and what it changed', async () => {
  const server = await openGit(workshop.repository('show'));
  workshop.git('show', 'tag', '-a', 'v1', '-m', 'a tag');
  const { text } = await callTool(server, 'git_show', { commit: 'v1', path: 'a.txt' });
  expect(text).toContain('author Ada <ada@example.com> 2026-01-02T03:04:05+01:00');
  expect(text).toContain('\n    First words\n    \n    And a body.\n');
  expect(text).toContain('+one\n+two\n');
  expect(text).not.toContain('bee');
  expect((await callTool(server, 'git_show', { commit: 'HEAD', stat: true })).text).toContain('2 files changed');
  expect(await faultOf(server, 'git_show', { commit: 'nothing' })).toMatch(/^There is no commit "nothing"\./);
  expect(await faultOf(server, 'git_show', { commit: 'HEAD..HEAD' })).toContain('not a range');
  await server.close();
});

test('blame names the commit of each line', async () => {
  const root = workshop.repository('blame');
  writeFileSync(join(root, 'a.txt'), 'one\nzwei\n');
  workshop.git('blame', 'commit', '--quiet', '-am', 'Second', '--author=Bob Builder <b@example.com>');
  const server = await openGit(root);
  const [second = '', first = ''] = workshop.git('blame', 'log', '--format=%H').split('\n');
  const { text, structured } = await callTool(server, 'git_blame', { file: 'a.txt' });
  expect(structured?.lines).toEqual([
    { line: 1, hash: first, author: 'Ada', date: '2026-01-02', text: 'one' },
    { line: 2, hash: second, author: 'Bob Builder', date: '2026-01-02', text: 'zwei' },
  ]);
  expect(text.split('\n')[1]).toBe(`${second.slice(0, 12)} 2026-01-02 Bob Builder 2) zwei`);
  expect((await callTool(server, 'git_blame', { file: 'a.txt', start: 2 })).structured?.lines).toHaveLength(1);
  expect((await callTool(server, 'git_blame', { file: 'a.txt', ref: 'HEAD~1', end: 2 })).text).toContain('2) two');
  expect(await faultOf(server, 'git_blame', { file: 'a.txt', start: 9 })).toContain('The file has 2 lines');
  expect(await faultOf(server, 'git_blame', { file: 'a.txt', start: 2, end: 1 })).toContain('`start` is after `end`');
  expect(await faultOf(server, 'git_blame', { file: 'src' })).toContain('That is not a file in "HEAD"');
  expect(await faultOf(server, 'git_blame', { file: 'none' })).toContain('There is no such file');
  expect(await faultOf(server, 'git_blame', { file: '.' })).toContain('Name a file');
  await server.close();
});

test('a query that looks like an option is searched for', async () => {
  const root = workshop.repository('dashes');
  writeFileSync(join(root, 'b.txt'), 'cut -d, here\n--no-index\n');
  workshop.git('dashes', 'add', '.');
  workshop.git('dashes', 'commit', '--quiet', '-m', 'Adds --no-index and -d');
  const server = await openGit(root);
  for (const query of ['-d', '--no-index']) {
    const line = query === '-d' ? 'b.txt:1: cut -d, here' : 'b.txt:2: --no-index';
    expect((await callTool(server, 'git_search', { query, in: 'content' })).text).toBe(line);
    for (const where of ['messages', 'changes']) {
      const found = await callTool(server, 'git_search', { query, in: where });
      expect(subjectsOf(found)).toEqual(['Adds --no-index and -d']);
    }
  }
  await server.close();
});

test('search in messages, in content and in changes', async () => {
  const root = workshop.repository('search');
  mkdirSync(join(root, 'odd\ndir'));
  writeFileSync(join(root, 'odd\ndir', 'x'), `needle ${'x'.repeat(600)}\nneedle\n`);
  workshop.git('search', 'add', '.');
  workshop.git('search', 'commit', '--quiet', '-m', 'Adds [a needle]');
  rmSync(join(root, 'a.txt'));
  const server = await openGit(root);
  const found = async (args: Record<string, unknown>): Promise<unknown> =>
    subjectsOf(await callTool(server, 'git_search', args));
  expect(await found({ query: '[A NEEDLE]' })).toEqual(['Adds [a needle]']);
  expect(await found({ query: 'needle', in: 'changes' })).toEqual(['Adds [a needle]']);
  expect(await found({ query: 'one', in: 'changes' })).toEqual(['First words']);
  const { text, structured } = await callTool(server, 'git_search', { query: 'needle', in: 'content' });
  expect(structured?.matches).toEqual([
    { path: 'odd\ndir/x', line: 1, text: `needle ${'x'.repeat(493)}…` },
    { path: 'odd\ndir/x', line: 2, text: 'needle' },
  ]);
  expect(text).toContain('"odd\\ndir/x":2: needle');
  expect((await callTool(server, 'git_search', { query: 'one', in: 'content' })).text).toBe('a.txt:1: one');
  expect((await callTool(server, 'git_search', { query: 'absent', in: 'content' })).text).toBe('No matches.');
  expect((await callTool(server, 'git_search', { query: 'needle', in: 'content', limit: 1 })).text).toContain(
    '[There are more than 1.',
  );
  expect(await faultOf(server, 'git_search', { query: 'x', in: 'content', ref: 'HEAD~1..HEAD' })).toContain(
    'one `ref`',
  );
  await server.close();
});
