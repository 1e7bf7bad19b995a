import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { programFiles } from './program-files.ts';

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-program-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) await put(folder, file, text);
  return folder;
}

async function put(folder: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

/** `kind path`, with the target of a link. */
async function filesOf(
  folder: string,
  [command = '', ...args]: readonly string[],
  env: Record<string, string> = {},
): Promise<readonly string[]> {
  const files = await programFiles({ command, args, cwd: folder, env }, folder);
  return files.map((file) => `${file.kind} ${file.path}${file.kind === 'link' ? ` → ${file.target}` : ''}`);
}

test('each link on the way to a file counts, in any part of the path, and so does its target', async () => {
  const folder = await folderWith({ 'node_modules/pkg/cli.cjs': '1', 'real/deep/server.mjs': '2' });
  await mkdir(join(folder, 'node_modules/.bin'));
  await symlink('../pkg/cli.cjs', join(folder, 'node_modules/.bin/pkg'));
  await symlink('real', join(folder, 'tools'));
  expect(await filesOf(folder, ['./node_modules/.bin/pkg'])).toEqual([
    'link node_modules/.bin/pkg → ../pkg/cli.cjs',
    'file node_modules/pkg/cli.cjs',
  ]);
  expect(await filesOf(folder, ['node', 'tools/deep/server.mjs'])).toEqual([
    'file real/deep/server.mjs',
    'link tools → real',
  ]);
  const outside = await folderWith({ 'server.mjs': '3' });
  await symlink(join(outside, 'server.mjs'), join(folder, 'out.mjs'));
  expect(await filesOf(folder, ['node', 'out.mjs'])).toEqual([`link out.mjs → ${join(outside, 'server.mjs')}`]);
  await symlink('loop', join(folder, 'loop'));
  expect(await filesOf(folder, ['node', './loop'])).toEqual(['absent loop', 'link loop → loop']);
});

test.each([
  [['node', 'build/server.cjs'], ['absent build/server.cjs']],
  [['./server'], ['absent server']],
  [['node', '-r', './run.log', '-e', 'some(code)'], ['absent run.log']],
  [['uvx', 'tool', '--script', 'later.py'], ['absent later.py']],
  [['sh', '-c', 'exec node ./server'], ['absent server']],
  [['npx', '-y', '@scope/server', '.', '--repo', 'owner/name'], []],
  [['docker', 'run', '-i', 'image:tag'], []],
  [['python', '-m', 'mcp_server_time', '--local-timezone=Europe/Berlin'], []],
])('%j names what is not there yet: %j', async (words, files) => {
  expect(await filesOf(await folderWith({}), words)).toEqual(files);
});

test.each([['server.js'], ['server.cjs'], ['server.mjs'], ['server.json'], ['server/index.js'], ['server/index.mjs']])(
  'node ./server runs %s, and what would come before it is noticed',
  async (file) => {
    const folder = await folderWith({ [file]: '1' });
    expect(await filesOf(folder, ['node', './server'])).toEqual([`file ${file}`]);
    await put(folder, 'server.node', '');
    expect(await filesOf(folder, ['node', '--inspect', './server'])).toContain('file server.node');
  },
);

test('the main file of a folder counts, with the package.json that names it', async () => {
  const folder = await folderWith({ 'app/package.json': '{"main":"lib/start"}', 'app/lib/start.js': '1' });
  const files = ['file app/lib/start.js', 'file app/package.json'];
  expect(await filesOf(folder, ['node', 'app'])).toEqual(files);
  expect(await filesOf(folder, ['env', 'X=1', 'node20', 'app'])).toEqual(files);
});

test.each([
  [['node', 'run.log']],
  [['node', '-r', './run.log', 'x.mjs']],
  [['node', '--require=./run.log', 'x.mjs']],
  [['node', '--import', './run.log', 'x.mjs']],
  [['node', '--title', 'name', 'run.log']],
  [['node', '-e', 'code()', '-r', './run.log']],
  [['npx', 'tsx', '--loader', './run.log', 'x.mjs']],
  [['bash', 'run.log']],
  [['./run.log']],
])('data that is run counts: %j', async (words) => {
  expect(await filesOf(await folderWith({ 'run.log': '1', 'x.mjs': '' }), words)).toContain('file run.log');
});

test('data that a script is given does not count, and anything else that it is given does', async () => {
  const folder = await folderWith({ 'x.mjs': '', 'a.db': '', 'b.jsonl': '', 'c.json': '' });
  const files = ['file c.json', 'file x.mjs'];
  expect(await filesOf(folder, ['node', 'x.mjs', 'a.db', '--log=b.jsonl', 'c.json'])).toEqual(files);
  expect(await filesOf(folder, ['node', '--inspect', 'x.mjs', 'a.db', 'c.json'])).toEqual(files);
  await rename(join(folder, 'x.mjs'), join(folder, 'y.log'));
  await symlink('y.log', join(folder, 'x.mjs'));
  expect(await filesOf(folder, ['tool', 'x.mjs'])).toEqual(['link x.mjs → y.log', 'file y.log']);
});

test('variables by which code is loaded, and programs that a workspace puts into PATH, count', async () => {
  const folder = await folderWith({
    'a.log': '',
    'bin/tool': '',
    'pkg/__main__.py': '',
    'node_modules/.bin/server': '',
  });
  expect(await filesOf(folder, ['tool'], { NODE_OPTIONS: '--require ./a.log' })).toEqual(['file a.log']);
  expect(await filesOf(folder, ['tool'], { LD_PRELOAD: join(folder, 'a.log') })).toEqual(['file a.log']);
  expect(await filesOf(folder, ['tool'], { PATH: `/usr/bin:${join(folder, 'bin')}` })).toEqual(['file bin/tool']);
  expect(await filesOf(folder, ['python3.12', '-m', 'pkg'])).toEqual(['file pkg/__main__.py']);
  expect(await filesOf(folder, ['npx', '-y', '@scope/server@1.2.3'])).toEqual(['file node_modules/.bin/server']);
});
