import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { doctorSchema, errorSchema, newServerSchema } from '../../../src/faces/cli/json-shapes.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult, runQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const run = promisify(execFile);
const names = ['package.json', 'server.mjs', 'server.test.mjs', 'README.md', '.gitignore'];

/** Runs in the workspace itself and needs no other program. */
function newServer(workspace: string, ...args: string[]): Promise<QmResult> {
  return runHere(['new-server', ...args], { cwd: workspace });
}

async function put(workspace: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(workspace, file)), { recursive: true });
  await writeFile(join(workspace, file), text);
}

const configOf = (workspace: string): Promise<string> => readFile(join(workspace, 'quartermaster.yaml'), 'utf8');

/** Respects the user's npm configuration. Package scripts do not run. */
function npm(workspace: string, words: readonly string[]): Promise<{ stdout: string }> {
  const quiet = { npm_config_ignore_scripts: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  const env = { ...process.env, ...quiet, npm_config_prefer_offline: 'true' };
  return run('npm', words, { cwd: workspace, env });
}

test(verifies('edit:new-server', "every printed command works, from the empty folder to a tool's result"), {
  timeout: 240_000,
}, async () => {
  const workspace = await makeWorkspace();
  const made = await runQm(['new-server', 'hello'], { cwd: workspace });
  expect(made).toMatchObject({ code: 0, stdout: names.map((name) => `servers/hello/${name}\n`).join('') });
  expect(made.stderr).toContain('Added server hello in quartermaster.yaml:5.');
  const shown = made.stderr.split('Next:\n')[1]?.trimEnd().split('\n') ?? [];
  const [install = [], check = [], doctor = [], call = []] = shown.map((line) => line.trim().split(' ').slice(1));

  await npm(workspace, install);
  const tested = await npm(workspace, check);
  expect(tested.stdout).toMatch(/a client of 2025.*a client of 2026/s);
  expect(tested.stdout).toMatch(/pass 8\n.*fail 0\n/s);

  const looked = await runQm([...doctor, '--json'], { cwd: workspace });
  expect(looked).toMatchObject({ code: 0 });
  expect(doctorSchema.parse(JSON.parse(looked.stdout)).servers).toMatchObject([
    {
      name: 'hello',
      verdict: 'reachable',
      protocolVersion: '2026-07-28',
      tools: ['convert', 'count_words'],
      warnings: [],
    },
  ]);
  expect(await runQm(call, { cwd: workspace })).toMatchObject({ code: 0, stdout: '3.1068559611866697 mile\n' });
  const wrong = await runQm(
    call.map((word) => word.replace('to=mile', 'to=kg')),
    { cwd: workspace },
  );
  expect(wrong.code).not.toBe(0);
  expect(wrong.stdout + wrong.stderr).toContain('Choose two of the same kind.');
});

test('its JavaScript passes the type checker', { timeout: 120_000 }, async () => {
  const workspace = await makeWorkspace();
  await newServer(workspace, 'hello');
  const root = join(import.meta.dirname, '..', '..', '..');
  await symlink(join(root, 'node_modules'), join(workspace, 'node_modules'));
  const options = ['--noEmit', '--allowJs', '--checkJs', '--strict', '--skipLibCheck', '--types', 'node'];
  const sources = ['server.mjs', 'server.test.mjs'].map((name) => `servers/hello/${name}`);
  const words = [...options, '--module', 'nodenext', '--target', 'es2022', ...sources];
  const { stdout } = await run(join(root, 'node_modules', '.bin', 'tsc'), words, { cwd: workspace }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});

test(
  verifies('edit:new-server', 'the entry is added to an existing file, and the rest of the file is unchanged'),
  async () => {
    const before = '# ours\nversion: 1\nservers:\n  a: {command: node}  # first\nagents: {lead: {servers: [a]}}\n';
    const workspace = await makeWorkspace(before);
    const { code, stdout } = await newServer(workspace, 'x.y-2', '--dir', 'tools/deep/xy', '--json');
    expect(code).toBe(0);
    expect(newServerSchema.parse(JSON.parse(stdout))).toEqual({
      server: 'x.y-2',
      source: 'quartermaster.yaml:5',
      folder: 'tools/deep/xy',
      files: names.map((name) => `tools/deep/xy/${name}`),
      agents: [],
      hub: null,
    });
    const entry = '  x.y-2:\n    command: node\n    args: [tools/deep/xy/server.mjs]\n';
    expect(await configOf(workspace)).toBe(before.replace('agents:', `${entry}agents:`));
    expect((await readdir(join(workspace, 'tools/deep/xy'))).sort()).toEqual([...names].sort());
    const second = await newServer(workspace, 'b', '--dir', join(workspace, 'b'));
    expect(second.stderr).toContain('No agent has it yet: name it in the lists of quartermaster.yaml');
  },
);

test('the agent configuration in its README can be pasted', async () => {
  const workspace = await makeWorkspace();
  await newServer(workspace, 'hello');
  const readme = await readFile(join(workspace, 'servers/hello/README.md'), 'utf8');
  const shown = /```yaml\n(.*?)```/s.exec(readme)?.[1];
  await writeFile(join(workspace, 'quartermaster.yaml'), `${await configOf(workspace)}${shown}`);
  for (const [tool, code] of [
    ['convert', 0],
    ['count_words', 5],
  ] as const) {
    const asked = await runHere(['explain', `hello.${tool}`, '--agent', 'reviewer'], { cwd: workspace });
    expect([tool, asked.code, asked.stderr]).toEqual([tool, code, '']);
  }
});

test('a folder whose name looks like a variable is taken literally', async () => {
  const workspace = await makeWorkspace();
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the folder is called so.
  expect(await newServer(workspace, 'a', '--dir', 'x ${HOME}')).toMatchObject({ code: 0 });
  const { stdout } = await runHere(['ls', '--json'], { cwd: workspace });
  expect(JSON.parse(stdout)).toMatchObject({ servers: [{ name: 'a', state: 'idle' }], problems: [] });
});

test.each([
  'Hello',
  'has blank',
  '.hidden',
  '_private',
  '-x',
  'ü',
  '',
  '@team/x',
  'a/b',
  '..',
  'x'.repeat(65),
  'node_modules',
])(verifies('edit:new-server', '%j is not a valid name, and nothing is written'), async (name) => {
  const workspace = await makeWorkspace();
  const refused = await newServer(workspace, '--json', '--', name);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  const { error } = errorSchema.parse(JSON.parse(refused.stderr));
  expect(error).toMatchObject({ code: 'USAGE', message: `"${name}" cannot be the name of a new server.` });
  expect(error.hint).toContain('npm package');
  expect(await readdir(workspace)).toEqual([]);
});

test.each(['.', '..', '../elsewhere', '/', '/elsewhere', 'a/../..'])(
  'a folder outside the workspace is refused: %s',
  async (dir) => {
    const workspace = await makeWorkspace();
    const refused = await newServer(workspace, 'a', '--dir', dir);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`--dir ${dir} is not a folder inside the workspace.`);
    expect(await readdir(workspace)).toEqual([]);
  },
);

test.each<[what: string, files: Readonly<Record<string, string>>, code: number, said: RegExp]>([
  ['a folder of that name', { 'servers/a/x': '' }, 2, /There is something at servers\/a already\./],
  ['a file of that name', { 'servers/a': '' }, 2, /There is something at servers\/a already\./],
  ['a file in the place of servers', { servers: '' }, 3, /Cannot make servers\/a .*A file has the name of a folder/s],
  [
    'a server of that name',
    { '.mcp.json': '{"mcpServers":{"a":{"command":"x"}}}' },
    2,
    /Server a exists already, in \.mcp\.json:1/,
  ],
  ['a file that cannot be read', { 'quartermaster.yaml': 'servers: [' }, 3, /quartermaster\.yaml/],
  ['servers that are no map', { 'quartermaster.yaml': 'servers: 7\n' }, 3, /quartermaster\.yaml/],
  ['a file with the other ending', { 'quartermaster.yml': 'version: 1\n' }, 3, /quartermaster\.yml/],
])(verifies('edit:new-server', '%s: refused, and everything is unchanged'), async (_what, files, code, said) => {
  const workspace = await makeWorkspace();
  for (const [file, text] of Object.entries(files)) await put(workspace, file, text);
  const before = await allFiles(workspace);
  const refused = await newServer(workspace, 'a');
  expect(refused).toMatchObject({ code, stdout: '' });
  expect(refused.stderr).toMatch(said);
  expect(await allFiles(workspace)).toEqual(before);
});

async function allFiles(workspace: string): Promise<string[]> {
  return (await readdir(workspace, { recursive: true })).sort();
}
