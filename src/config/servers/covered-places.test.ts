import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { checkReach } from './covered-places.ts';

interface Scene {
  readonly home: string;
  readonly state: string;
  readonly workspace: string;
}

async function makeScene(): Promise<Scene> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'qm-covered-')));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const [state, workspace] = [join(home, '.local/state/quartermaster'), join(home, 'work/team')];
  for (const folder of [state, workspace, join(home, '.ssh'), join(home, 'docs')]) {
    await mkdir(folder, { recursive: true });
  }
  return { home, state, workspace };
}

async function load({ home, state, workspace }: Scene, server: object, more: object = {}) {
  const entry = { command: 'node', ...server };
  await writeFile(join(workspace, 'quartermaster.yaml'), JSON.stringify({ servers: { files: entry }, ...more }));
  const protectedPlaces = [state, join(home, '.config/quartermaster'), join(home, '.ssh')];
  const configuration = await loadConfiguration({ env: { HOME: home }, protectedPlaces }, { workspace });
  return { configuration, kind: configuration.servers.get('files')?.kind, problem: configuration.problems[0] };
}

const covering: readonly (readonly [string, (scene: Scene) => object])[] = [
  ['the home folder', ({ home }) => ({ args: [home] })],
  ['everything', () => ({ args: ['/'] })],
  ['a relative path', () => ({ args: ['../..'] })],
  ['a flag', ({ home }) => ({ args: [`--root=${home}`] })],
  ['a list', ({ home }) => ({ args: [`--dirs=${home}/docs,${home}`] })],
  ['a bind mount', ({ home }) => ({ args: ['-v', `${home}:/data:ro`] })],
  ['a URL', ({ home }) => ({ args: [`file://${home}`] })],
  ['the state itself', ({ state }) => ({ args: [state] })],
  ['a folder in the state', ({ state }) => ({ args: [join(state, 'workspaces/x')] })],
  ['the settings', () => ({ args: ['~/.config/quartermaster'] })],
  ['a file of the settings', () => ({ args: ['~/.config/quartermaster/config.yaml'] })],
  ['keys', ({ home }) => ({ args: [join(home, '.ssh')] })],
  ['a working folder', ({ home }) => ({ cwd: home })],
  ['a link in the workspace', () => ({ args: ['data'] })],
  ['a tilde', () => ({ args: ['~'] })],
  ['a tilde before a folder', () => ({ args: ['~/.ssh'] })],
  ['a tilde before the name of the user', ({ home }) => ({ args: [`~${basename(home)}/.ssh`] })],
  ['a tilde before the state', () => ({ args: ['--root=~/.local/state/quartermaster'] })],
  ['a variable of the program', ({ home }) => ({ env: { ROOT: home } })],
  ['a list in a variable', ({ home }) => ({ env: { ROOTS: `/opt:${home}/.ssh` } })],
  ['a command of a shell', () => ({ command: 'sh', args: ['-c', 'exec fs-server "$HOME/.ssh"'] })],
  ['a command of a shell with braces', () => ({ command: 'sh', args: ['-c', 'cd $${HOME}; exec fs-server'] })],
  ['everything, for a shell', () => ({ command: '/bin/bash', args: ['-c', 'fs-server /'] })],
  ['a list in JSON', ({ home }) => ({ args: [`--dirs=["${home}/docs", "${home}"]`] })],
  ['everything in JSON', () => ({ args: ['--dirs=["/"]'] })],
  ['a list with semicolons', ({ home }) => ({ args: [`/opt;${home}`] })],
  ['an address in a list', ({ home }) => ({ args: [`--roots=file:///opt,file:///%2e%2e${home}/.ssh`] })],
  ['an end of a long text', ({ home }) => ({ args: [`${'x '.repeat(5000)}${home}`] })],
  ['a mount without a space', ({ home }) => ({ args: [`-v${home}:/x`] })],
  ['a mount of everything', () => ({ args: ['-v/:/x'] })],
  ['a flag without a space', ({ home }) => ({ args: [`-I${home}`] })],
  ['a long flag without a sign', ({ home }) => ({ args: [`--root${home}`] })],
  ['a tilde behind a flag', () => ({ args: ['-I~/.ssh'] })],
  ['an at sign', ({ home }) => ({ args: [`@${home}`] })],
  ['another sign', ({ home }) => ({ env: { ROOT: `!${home}` } })],
  ['escaped slashes in JSON', ({ home }) => ({ args: [JSON.stringify([home]).replaceAll('/', '\\/')] })],
  ['escaped letters in JSON', ({ home }) => ({ args: [JSON.stringify([home]).replaceAll('/', '\\u002F')] })],
  ['percent signs', ({ home }) => ({ args: [`--uri=${encodeURIComponent(home)}`] })],
  ['a wildcard', ({ home }) => ({ args: [`${home}/*`] })],
  ['a wildcard in a name', ({ home }) => ({ args: [`${home}/.s*`] })],
  ['the folder of a shell', () => ({ command: 'sh', args: ['-c', 'fs-server $PWD/../..'] })],
  ['the root of a process', ({ home }) => ({ args: [`/proc/1/root${home}`] })],
  ['a fallback', ({ home }) => ({ args: [], fallback: [{ command: 'node', args: [home] }] })],
];

test.each(covering)(
  verifies('state:unreachable', '%s that reaches the keys makes a server invalid'),
  async (_, server) => {
    const scene = await makeScene();
    await symlink(scene.home, join(scene.workspace, 'data'));
    const { kind, problem } = await load(scene, server(scene));
    expect(problem).toMatchObject({ severity: 'error', server: 'files', fix: expect.stringContaining('allowPaths') });
    expect(kind).toBe('invalid');
  },
);

test(verifies('state:unreachable', 'a narrower folder, the workspace and other words are no reason'), async () => {
  const scene = await makeScene();
  const { home, workspace } = scene;
  for (const args of [
    [join(home, 'docs')],
    [workspace],
    ['.'],
    ['-y', '@scope/server@1.2'],
    [`${home}x`],
    ['~/docs', '~nobody/.ssh', '$HOME/docs', '$HOMES'],
    ['-e', 'const way = (a, b) => a / b; // half'],
    ['https://example.com/?a=b;c=d', '*/*'],
    ['docs/', './', '-Isrc/', '--out=dist/', 'src/**/*.ts', '**/', '@/', 'text/', '/*'],
    ['myorg/home', '@scope/home', 'github.com/root', 'a/b/c', 'v1/home', 'image/root:latest', 'localhost:8080/'],
    ['-v', './data:/data', '--mount', 'type=bind,src=./data,dst=/data', '-p8080:80', '-e', 'TOKEN=a/b'],
    ['--header', 'Authorization: Bearer a/b+c==', '--url', 'http://127.0.0.1:3000/mcp', '-y', 'mcp-remote@0.1'],
    ['postgresql://localhost:5432/db', 'redis://localhost/0', 's3://bucket/home', 'gh:me/home'],
    ['--glob', '!**/node_modules/**', '--range', '1/2', '--tz=Europe/Berlin', '--accept', 'application/json'],
  ]) {
    const { kind, configuration } = await load(scene, { args });
    expect(configuration.problems, args.join()).toEqual([]);
    expect(kind).toBe('ready');
  }
});

test(verifies('state:unreachable', 'variables that every program gets, and other values, are no reason'), async () => {
  const scene = await makeScene();
  const env = { HOME: '$${HOME}', PATH: `${scene.home}:/usr/bin`, URL: 'postgres://u:p@host/db', TOKEN: 'a/b=c' };
  const { kind, configuration } = await load(scene, { args: [], env: { ...env, HOME: scene.home } });
  expect(configuration.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(kind).toBe('ready');
});

test(verifies('state:unreachable', 'allowPaths lets a server have a folder, and nothing beyond it'), async () => {
  const scene = await makeScene();
  for (const allowPaths of [['~'], [scene.home], ['../..'], ['/']]) {
    expect((await load(scene, { args: [scene.home] }, { allowPaths })).kind, allowPaths.join()).toBe('ready');
  }
  expect((await load(scene, { args: ['/'] }, { allowPaths: ['~'] })).kind).toBe('invalid');
  expect((await load(scene, { args: [scene.state] }, { allowPaths: ['~/.ssh'] })).kind).toBe('invalid');
  const wrong = await load(scene, { args: [scene.home] }, { allowPaths: 'all' });
  expect(wrong.kind).toBe('invalid');
});

test('a file server that can read .env is a warning', async () => {
  const scene = await makeScene();
  const args = ['-y', '@modelcontextprotocol/server-filesystem', '.'];
  expect((await load(scene, { command: 'npx', args })).configuration.problems).toEqual([]);
  await writeFile(join(scene.workspace, '.env'), 'A=b\n');
  const { kind, problem } = await load(scene, { command: 'npx', args });
  expect(kind).toBe('ready');
  expect(problem).toMatchObject({ severity: 'warning', server: 'files' });
  expect(problem?.message).toBe('Server "files" can read .env in the workspace.');
});

test(verifies('state:unreachable', 'a program that would reach keys only now is not started'), async () => {
  const scene = await makeScene();
  const { home, state, workspace } = scene;
  await mkdir(join(workspace, 'docs'));
  const options = { workspace, home, places: [state, join(home, '.ssh')] };
  const specWith = async (more: object = {}) => {
    const server = (await load(scene, { args: ['docs', '.'] }, more)).configuration.servers.get('files');
    if (server?.kind !== 'ready') throw new Error('the server is valid');
    return server.spec;
  };
  const spec = await specWith();
  expect(spec.reaches).toEqual([]);
  checkReach(spec, spec.transport, options);
  await rm(join(workspace, 'docs'), { recursive: true });
  await symlink(state, join(workspace, 'docs'));
  expect(() => checkReach(spec, spec.transport, options)).toThrow(
    expect.objectContaining({ code: 'NOT_TRUSTED', hint: expect.stringContaining(state) }),
  );
  const allowed = await specWith({ allowPaths: [state] });
  expect(allowed.reaches).toEqual([state]);
  checkReach(allowed, allowed.transport, options);
  await rm(join(workspace, 'docs'));
  await symlink(join(home, '.ssh'), join(workspace, 'docs'));
  expect(() => checkReach(allowed, allowed.transport, options)).toThrow('keys');
});
