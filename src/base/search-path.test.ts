import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { environmentOutside, isOutside, pathOutside } from './search-path.ts';

async function makeScene() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-path-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const workspace = join(folder, 'team');
  for (const each of ['team/tools', 'team/bin', 'other/bin']) await mkdir(join(folder, each), { recursive: true });
  await symlink(workspace, join(folder, 'link'));
  await symlink(join(workspace, 'tools'), join(folder, 'tools'));
  await symlink(join(folder, 'other/bin'), join(workspace, 'outside'));
  return { folder, workspace };
}

test(
  verifies('trust:search-path', 'folders of the workspace are dropped, also behind links and before they exist'),
  async () => {
    const { folder, workspace } = await makeScene();
    const inside = [
      ...['', '.', 'node_modules/.bin', './bin', '..'],
      ...[
        workspace,
        `${workspace}/`,
        join(workspace, 'bin'),
        join(workspace, 'node_modules/.bin'),
        `${folder}/x/../team/bin`,
      ],
      ...[join(folder, 'link/bin'), join(folder, 'link/none/.bin'), join(folder, 'tools'), join(workspace, 'outside')],
    ];
    const outside = ['/usr/bin', join(folder, 'other/bin'), `${workspace}2/bin`, join(folder, 'none')];
    for (const root of [workspace, join(folder, 'link')]) {
      const found = pathOutside(root, [...inside, ...outside].join(':'));
      expect(found.path, root).toBe(outside.join(':'));
      expect(found.dropped).toEqual(inside);
    }
  },
);

test('a PATH of which nothing is left becomes the usual one, and nothing else of an environment changes', async () => {
  const { workspace } = await makeScene();
  expect(pathOutside(workspace, '.').path).toBe('/usr/local/bin:/usr/bin:/bin');
  expect(environmentOutside(workspace, { PATH: `:/usr/bin:${workspace}`, HOME: '.' })).toEqual({
    PATH: '/usr/bin',
    HOME: '.',
  });
  expect(environmentOutside(workspace, { HOME: '/' })).toEqual({ HOME: '/' });
  expect([isOutside(workspace, '/'), isOutside('/', '/usr/bin')]).toEqual([true, false]);
});
