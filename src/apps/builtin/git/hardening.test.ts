import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { BuiltinServer } from '../builtin-kind.ts';
import { callTool, createWorkshop, everythingIn, faultOf, openGit } from './git.fixture.ts';
import { plant, plants, secret } from './planted.fixture.ts';

const workshop = createWorkshop();
afterAll(() => workshop.remove());
const realGit = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

/** Every tool in every way that reads something else. */
const everyWay: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['git_status', {}],
  ['git_diff', {}],
  ['git_diff', { staged: true }],
  ['git_diff', { ref: 'HEAD~2', stat: true }],
  ['git_diff', { ref: 'HEAD~2..HEAD' }],
  ['git_log', { author: 'Ada' }],
  ['git_log', { path: 'a.txt' }],
  ['git_show', { commit: 'HEAD' }],
  ['git_show', { commit: 'HEAD~2' }],
  ['git_blame', { file: 'a.txt' }],
  ['git_search', { query: 'one' }],
  ['git_search', { query: 'one', in: 'content' }],
  ['git_search', { query: 'one', in: 'changes' }],
];

async function sayEverything(server: BuiltinServer): Promise<string> {
  const said: string[] = [];
  for (const [name, args] of everyWay) said.push(JSON.stringify(await callTool(server, name, args)));
  return said.join('\n');
}

describe('nothing that a repository brings along runs or is read', () => {
  test.each(plants.map((each, index) => ({ ...each, index })))('$name', async ({ index, ...each }) => {
    const name = `planted-${index}`;
    const { root, mark, springs } = plant(workshop, name, [each]);
    const before = everythingIn(root);
    const server = await openGit(root);
    const said = await sayEverything(server);
    await server.close();
    expect(existsSync(mark)).toBe(false);
    expect(said).not.toContain(secret);
    expect(everythingIn(root)).toEqual(before);
    expect(springs(each), 'the trap does not work, so the test shows nothing').toBe(true);
  });

  test('an object that a partial clone has not fetched is missed, not fetched', async () => {
    const root = workshop.repository('partial');
    workshop.git('partial', 'config', 'extensions.partialClone', 'origin');
    workshop.git('partial', 'config', 'remote.origin.url', join(workshop.dir, 'partial'));
    const blob = workshop.git('partial', 'rev-parse', 'HEAD:a.txt');
    rmSync(join(root, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    const server = await openGit(root);
    expect(await faultOf(server, 'git_show', { commit: 'HEAD' })).toContain('git show failed with exit code');
    expect((await callTool(server, 'git_log')).text).toContain('First words');
    await server.close();
  });
});

describe('a folder that became a link leads nowhere', () => {
  test('for tools that look at the work tree, and for paths', async () => {
    const root = workshop.repository('swapped');
    mkdirSync(join(workshop.dir, 'private'));
    writeFileSync(join(workshop.dir, 'private/b.txt'), `${secret}\n`);
    rmSync(join(root, 'src'), { recursive: true });
    symlinkSync(join(workshop.dir, 'private'), join(root, 'src'));
    expect(workshop.git('swapped', 'grep', 'outside'), 'git itself follows the link').toContain(secret);
    const server = await openGit(root);
    const said = [
      await callTool(server, 'git_status'),
      await callTool(server, 'git_diff'),
      await callTool(server, 'git_diff', { path: 'src' }),
      await callTool(server, 'git_search', { query: 'hunter2', in: 'content' }),
    ];
    expect(JSON.stringify(said)).not.toContain(secret);
    for (const [tool, args] of [
      ['git_blame', { file: 'src/b.txt' }],
      ['git_diff', { path: 'src/b.txt' }],
      ['git_log', { path: 'src/deeper/still' }],
    ] as const) {
      expect(await faultOf(server, tool, args)).toContain('goes through a link that leads out');
    }
    await server.close();
  });
});

describe('the program and its environment', () => {
  function wrap(name: string, script: string): string {
    const folder = join(workshop.dir, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'git'), `#!/bin/sh\n${script}\nexec ${realGit} "$@"\n`);
    chmodSync(join(folder, 'git'), 0o755);
    return folder;
  }

  test('git gets a fixed environment and the cookie of the hub, and nothing else', async () => {
    const root = workshop.repository('environment');
    const seen = join(workshop.dir, 'seen');
    const bin = wrap('wrapped', `/usr/bin/env | /usr/bin/cut -d= -f1 | /usr/bin/sort >> ${seen}`);
    const hostile = {
      GIT_DIR: '/nowhere',
      GIT_EXTERNAL_DIFF: '/bin/false',
      GIT_SSH_COMMAND: '/bin/false',
      GIT_TRACE: seen,
      GIT_CONFIG_COUNT: '1',
      HOME: workshop.dir,
      LD_PRELOAD: '',
      QUARTERMASTER_CHILD: 'cookie',
    };
    const server = await openGit(root, { env: { ...hostile, PATH: bin } });
    await callTool(server, 'git_status');
    await server.close();
    expect([...new Set(readFileSync(seen, 'utf8').trim().split('\n'))].sort()).toEqual([
      'GIT_ALLOW_PROTOCOL',
      'GIT_ATTR_NOSYSTEM',
      'GIT_CONFIG_GLOBAL',
      'GIT_CONFIG_NOSYSTEM',
      'GIT_DIR',
      'GIT_LITERAL_PATHSPECS',
      'GIT_NO_LAZY_FETCH',
      'GIT_OPTIONAL_LOCKS',
      'GIT_WORK_TREE',
      'LC_ALL',
      'PATH',
      'PWD',
      'QUARTERMASTER_CHILD',
    ]);
  });

  test('a repository of another user is served, for its operator named it', async () => {
    const root = workshop.repository('of-another');
    const bin = wrap('another', 'export GIT_TEST_ASSUME_DIFFERENT_OWNER=1');
    expect(() => execFileSync(join(bin, 'git'), ['status'], { cwd: root, stdio: 'pipe' })).toThrow('dubious ownership');
    const server = await openGit(root, { env: { PATH: bin } });
    expect((await callTool(server, 'git_status')).text).toContain('Nothing has changed.');
    await server.close();
  });

  test('a program called git in the repository, or in a relative folder of PATH, is not git', async () => {
    const root = workshop.repository('with-program');
    const mark = join(workshop.dir, 'ran');
    const bin = wrap('with-program/bin', `touch ${mark}`);
    symlinkSync(bin, join(workshop.dir, 'linked-bin'));
    mkdirSync(join(root, 'links'));
    symlinkSync(realGit, join(root, 'links/git'));
    const elsewhere = relative(process.cwd(), wrap('relative-bin', `touch ${mark}`));
    const path = [bin, join(workshop.dir, 'linked-bin'), join(root, 'links'), elsewhere, ''].join(':');
    await expect(openGit(root, { env: { PATH: path } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('needs the program git, which is not on PATH'),
    });
    const server = await openGit(root, { env: { PATH: `${path}:${process.env.PATH}` } });
    await callTool(server, 'git_status');
    await server.close();
    expect(existsSync(mark)).toBe(false);
  });

  test('each call has a folder of its own, which is gone afterwards', async () => {
    const root = workshop.repository('tidy');
    const tmp = join(workshop.dir, 'tidy-tmp');
    mkdirSync(tmp);
    const server = await openGit(root, { env: { TMPDIR: tmp } });
    await callTool(server, 'git_status');
    await faultOf(server, 'git_show', { commit: 'none' });
    expect(readdirSync(tmp)).toEqual([]);
    await server.close();
  });
});
