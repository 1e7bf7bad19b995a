import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { folderCode } from './folder-code.ts';
import { runnerFiles } from './runner-files.ts';

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qm-folder-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

/** `npx -y x` with these files in the workspace, in which it starts. */
async function codeOf(words: string, files: Readonly<Record<string, string>> = {}, env: Record<string, string> = {}) {
  const [command = '', ...args] = (words.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
  const workspace = await folderWith(files);
  return folderCode({ command, args, cwd: workspace, env }, { workspace, home: undefined });
}

test.each([
  ['npx -y @scope/server .', 'npm'],
  ['/usr/bin/npx --yes --package=@scope/server@1.2 server docs', 'npm'],
  ['npm exec -- server', 'npm'],
  ['npm x -y server', 'npm'],
  ['python3 -m mcp_server_time', 'python'],
  ['python3.12 -u -W ignore -m mcp_server_time --utc', 'python'],
  ['python -um mcp_server_time', 'python'],
])('%s is kept from the files of its folder', async (words, guard) => {
  expect(await codeOf(words)).toEqual({ kind: 'guarded', guard });
});

test.each([
  ['files', { 'files/welcome.md': '' }, 'none'],
  ['files', { 'files/package.json': '{}' }, 'runs'],
  ['files', { 'files/index.mjs': '' }, 'runs'],
  ['server.ts', { 'server.ts': '' }, 'runs'],
])('a script elsewhere that is given %s with %o: %s', async (arg, files, kind) => {
  const elsewhere = await folderWith({ 'server.js': '' });
  expect(await codeOf(`node ${join(elsewhere, 'server.js')} ${arg}`, files)).toMatchObject({ kind });
});

test.each([
  ['npx -y @scope/server', { 'node_modules/@scope/server/package.json': '{}' }],
  ['npx server', { 'node_modules/.bin/server': '' }],
  ['npx server', { 'package.json': '{"name":"x","bin":{"server":"./x.js"}}' }],
  ['npx server', { 'package.json': '{"name":"@x/server","bin":"./x.js"}' }],
  ['npx server', { 'package.json': '{ broken' }],
  ['npx -y @scope/server', { '.npmrc': '@scope:registry=https://example.com' }],
  ['npx -y @scope/server', { '.npmrc/x': '' }],
  ['python -m tools.server', { 'tools/server.py': '' }],
  ['python -m server', { 'server.py': '' }],
])('%s uses what is in its folder: %j', async (words, files) => {
  expect(await codeOf(words, files)).toMatchObject({ kind: 'runs', because: expect.any(String) });
});

test.each([
  ['npx --prefix=. server', {}],
  ['npx -c server', {}],
  ['npm run server', {}],
  ['pnpm dlx server', {}],
  ['pnpx server', {}],
  ['yarn dlx server', {}],
  ['bunx server', {}],
  ['bun x server', {}],
  ['pipx run server', {}],
  ['uv run server', {}],
  ['uvx --from . server', {}],
  ['uv tool run --from=./x server', {}],
  ['make serve', {}],
  ['node .', { 'package.json': '{}' }],
  ['node server.js', { 'server.js': '' }],
  ['node -e code()', {}],
  ['node --import tsx /opt/server.ts', {}],
  ['deno run https://example.com/x.ts', {}],
  ['bash -c server', {}],
  ['bash serve.sh', { 'serve.sh': '' }],
  ['python -c code()', {}],
  ['python server.py', { 'server.py': '' }],
  ['ruby server.rb', { 'server.rb': '' }],
  ['./server', {}],
  ['.venv/bin/python -m server', {}],
  ['env A=1 npx -y server', {}],
  ['timeout 5 env -u X nice node server.js', { 'server.js': '' }],
])('%s runs code of its folder', async (words, files) => {
  expect((await codeOf(words, files)).kind).toBe('runs');
});

test.each([
  ['npx -y mcp-proxy npx -y x', 'npm'],
  ['npx -y supergateway --stdio "npx -y x"', 'npm'],
  ['npx -y tsx /opt/x.ts', 'npm'],
  ['python -m proxy -- uv run x', 'python'],
])(verifies('trust:shown', '%s is guarded itself, and what it starts is not'), async (words, guard) => {
  expect(await codeOf(words)).toMatchObject({ kind: 'runs', guard });
});

test.each([
  'node /usr/lib/node_modules/npm/bin/npx-cli.js -y x',
  'node /opt/yarn-3.2.1.cjs dlx x',
  'uvx mcp-proxy npx -y x',
  'uvx mcp-proxy --command=npx',
  'some-proxy --stdio "npx -y x"',
  'some-proxy --stdio=/usr/bin/python3.12\t-m\tx',
  'volta run npx -y x',
  'fnm exec npx -y x',
  'asdf exec npx -y x',
  'aws-vault exec profile -- npx -y x',
  'aws-vault exec profile -- go run .',
  'infisical run -- npx -y x',
  'xargs npx -y x',
  'env -S "npx -y x"',
  'tini -- npx -y x',
  'flock /tmp/lock npx -y x',
  'busybox sh -c "x"',
  'script -qc "npx -y x"',
  'su me -c "npx -y x"',
  'conda run -n e python -m x',
  'micromamba run python3 -m x',
  'unshare -r bash -c x',
  '/opt/gradlew run',
  'claude mcp serve',
  'pixi run x',
  'Rscript /opt/x.R',
])(verifies('trust:shown', '%s is marked: it starts code of its folder'), async (words) => {
  expect((await codeOf(words)).kind).toBe('runs');
});

test('the settings of a runner behind another program count', async () => {
  const found = await codeOf('some-proxy --stdio "npx -y x"');
  expect(found).toEqual({ kind: 'runs', files: ['.npmrc'] });
});

test('a PATH of the program that leads into the workspace makes it run what is there', async () => {
  const workspace = await folderWith({});
  const kindWith = (PATH: string): string =>
    folderCode({ command: 'npx', args: ['-y', 'x'], cwd: workspace, env: { PATH } }, { workspace, home: undefined })
      .kind;
  expect(['/usr/bin', `/usr/bin:${workspace}/bin`, '/usr/bin:bin', ':/usr/bin'].map(kindWith)).toEqual([
    'guarded',
    'runs',
    'runs',
    'runs',
  ]);
});

test('packages and settings of npm that lie in the workspace are code of the workspace', async () => {
  const workspace = await folderWith({});
  const kindWith = (env: Record<string, string>, home = '/home/me'): string =>
    folderCode({ command: 'npx', args: ['-y', 'x'], cwd: workspace, env }, { workspace, home }).kind;
  expect(kindWith({ npm_config_cache: '/var/cache/npm', npm_config_registry: 'https://example.com' })).toBe('guarded');
  expect(kindWith({}, workspace)).toBe('runs');
  expect(kindWith({ HOME: join(workspace, 'home') })).toBe('runs');
  for (const name of [
    'npm_config_cache',
    'NPM_CONFIG_USERCONFIG',
    'npm_config_globalconfig',
    'npm_config_node_options',
  ]) {
    expect(kindWith({ [name]: './x' }), name).toBe('runs');
  }
});

test('a runner outside that is given the workspace runs its code', async () => {
  const [workspace, cwd] = [await folderWith({}), await folderWith({})];
  const program = { command: 'uv', args: ['--directory', workspace, 'run', 'x'], cwd, env: {} };
  expect(folderCode(program, { workspace, home: undefined }).kind).toBe('runs');
  expect(folderCode({ ...program, args: ['run', 'x'] }, { workspace, home: undefined })).toEqual({ kind: 'none' });
});

test.each([
  'mcp-server-files .',
  'docker run -i node:20 npx -y x',
  'uvx mcp-server-fetch --python 3.12 --with python-dotenv',
  'uvx --from git+https://github.com/nodejs/node mcp-x --repo nodejs/node',
  'some-server --go --make=it --task x',
  'some-server @scope/python @scope/npx --env production --shell',
  'lua /opt/server.lua',
  'electron /opt/app',
  'java -jar /opt/x.jar',
  '/opt/bin/server .',
  'uvx mcp-server-git --repository .git',
  'uv tool run mcp-server-time',
  'docker run -i image',
  'node /opt/server.js',
  'python /opt/server.py',
  'python -I -m server',
  'python -P -m server',
  'bash /opt/serve.sh',
])('%s does not', async (words) => {
  expect(await codeOf(words)).toEqual({ kind: 'none' });
});

test('a setting of the operator decides about the modules of the folder', async () => {
  expect(await codeOf('python -m server', {}, { PYTHONSAFEPATH: '1' })).toEqual({ kind: 'none' });
  expect((await codeOf('python -m server', {}, { PYTHONSAFEPATH: '' })).kind).toBe('runs');
});

test('a working folder outside the workspace is not the agents', async () => {
  const [workspace, cwd] = [await folderWith({}), await folderWith({ 'server.js': '' })];
  const program = { command: 'node', args: ['server.js'], cwd, env: {} };
  expect(folderCode(program, { workspace, home: undefined })).toEqual({ kind: 'none' });
});

test('the settings in the home folder are the operators own', async () => {
  const home = await folderWith({ '.npmrc': 'registry=https://example.com', 'node_modules/x': '', 'work/x': '' });
  const program = { command: 'npx', args: ['-y', 'server'], cwd: join(home, 'work'), env: {} };
  expect(folderCode(program, { workspace: program.cwd, home })).toEqual({ kind: 'guarded', guard: 'npm' });
  expect(folderCode(program, { workspace: program.cwd, home: undefined }).kind).toBe('runs');
});

test.each([
  ['npx -c server', ['.npmrc']],
  ['pnpm dlx server', ['.npmrc', '.pnpmfile.cjs', 'pnpm-workspace.yaml']],
  ['yarn dlx server', ['.npmrc', '.yarnrc', '.yarnrc.yml']],
  ['bunx server', ['.npmrc', 'bunfig.toml']],
  ['uv run server', ['uv.toml', '.python-version']],
  ['npx -y server', []],
  ['server', []],
])('the files that %s looks for are %j, whether they exist or not', async (words, names) => {
  const [command = '', ...args] = words.split(' ');
  const cwd = await folderWith({});
  const files = runnerFiles({ command, args, cwd, env: {} }, { workspace: cwd, home: undefined });
  expect(files).toEqual(names.map((name) => join(cwd, name)));
});

test('the files of a module in the folder are named', async () => {
  const cwd = await folderWith({ 'tools/server.py': '' });
  const program = { command: 'python', args: ['-m', 'tools.server'], cwd, env: {} };
  const names = ['tools/server.py', 'tools/server/__main__.py', 'tools/__init__.py', 'tools/server/__init__.py'];
  expect(runnerFiles(program, { workspace: cwd, home: undefined })).toEqual(names.map((name) => join(cwd, name)));
});
