import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/index.ts';
import { initSchema, lsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const qmIn = (workspace: string, ...args: string[]): Promise<QmResult> =>
  runHere(args, { cwd: workspace, env: { PATH: process.env.PATH ?? '', HOME: tmpdir() } });

async function put(workspace: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(workspace, file)), { recursive: true });
  await writeFile(join(workspace, file), text);
}

const config = (workspace: string): Promise<string> => readFile(join(workspace, 'quartermaster.yaml'), 'utf8');

test(verifies('edit:init', 'an empty folder gets a first file, which is valid and is never overwritten'), async () => {
  const workspace = await makeWorkspace();
  const first = await qmIn(workspace, 'init');
  expect(first).toMatchObject({ code: 0, stdout: 'Wrote quartermaster.yaml, with examples in comments.\n' });
  for (const next of [
    'qm add files -- npx',
    'qm add docs https://',
    'qm bootstrap --list',
    'qm connect CLIENT --agent NAME',
  ])
    expect(first.stderr).toContain(next);
  const ls = await qmIn(workspace, 'ls', '--json');
  expect(lsSchema.parse(JSON.parse(ls.stdout))).toMatchObject({ servers: [], problems: [] });
  const text = await config(workspace);
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(110);
  await writeFile(join(workspace, 'quartermaster.yaml'), `${text}# mine\n`);
  const again = await qmIn(workspace, 'init', '--json');
  expect(initSchema.parse(JSON.parse(again.stdout))).toEqual({
    file: 'quartermaster.yaml',
    written: false,
    read: [{ file: 'quartermaster.yaml', servers: [] }],
  });
  expect((await qmIn(workspace, 'init')).stdout).toBe('quartermaster.yaml is there already. Nothing was changed.\n');
  expect(await config(workspace)).toBe(`${text}# mine\n`);
});

test.each(['init', 'add x http://127.0.0.1:9/mcp --no-start'])(
  verifies('edit:init', 'the file that qm %s makes names the schema only where it is'),
  async (line) => {
    const schema = 'node_modules/quartermaster/quartermaster.schema.json';
    const [elsewhere, installed] = [await makeWorkspace(), await makeWorkspace()];
    await put(installed, schema, '{}');
    for (const workspace of [elsewhere, installed]) {
      expect(await qmIn(workspace, ...line.split(' '))).toMatchObject({ code: 0 });
    }
    expect(await config(elsewhere)).not.toContain('$schema');
    expect(await config(installed)).toMatch(new RegExp(`^# yaml-language-server: \\$schema=\\./${schema}\n`));
  },
);

test(verifies('edit:init', 'its examples mean what they say once they are no comments'), async () => {
  const workspace = await makeWorkspace();
  await qmIn(workspace, 'init');
  const examples = (await config(workspace)).replaceAll(/^( *)# (?=( *(?!yaml-)[\w"*.-]+:))/gm, '$1');
  await writeFile(join(workspace, 'quartermaster.yaml'), examples);
  const { servers, agents, policy, problems } = await loadConfiguration(
    { env: { DOCS_TOKEN: 'abc123def' } },
    { workspace },
  );
  expect(problems).toEqual([]);
  expect([...servers.keys()]).toEqual(['files', 'docs']);
  expect(agents.get('tester')?.servers).toEqual(['files']);
  expect(policy?.rules.map(({ pattern, effect }) => [pattern, effect])).toEqual([
    ['files.write_file', 'require-approval'],
    ['*.delete_*', 'deny'],
  ]);
});

test(verifies('edit:init', 'qm add puts a server into the first file and keeps its comments'), async () => {
  const workspace = await makeWorkspace();
  await qmIn(workspace, 'init');
  const before = await config(workspace);
  const added = await qmIn(workspace, 'add', 'docs', 'https://docs.example/mcp', '--no-start');
  expect(added.code, added.stderr).toBe(0);
  const after = (await config(workspace)).replace('  docs:\n    url: https://docs.example/mcp\n', '');
  expect(after).toBe(before);
});

test(
  verifies('edit:init', 'where other clients have files, it says that the hub reads them and writes nothing'),
  async () => {
    const workspace = await makeWorkspace();
    await put(workspace, '.mcp.json', '{"mcpServers":{"files":{"command":"node"},"memory":{"command":"node"}}}');
    await put(
      workspace,
      '.vscode/mcp.json',
      '{"servers":{"files":{"command":"node"},"github":{"url":"https://a.example"}}}',
    );
    const { code, stdout, stderr } = await qmIn(workspace, 'init');
    expect(code).toBe(0);
    expect(stdout).toBe(
      'The hub reads these files as they are, so nothing is needed:\n  .mcp.json         files, memory\n  .vscode/mcp.json  github\n',
    );
    expect(stderr).toContain('qm doctor');
    expect(existsSync(join(workspace, 'quartermaster.yaml'))).toBe(false);
  },
);

test(verifies('edit:init', 'a file that cannot be read is reported, and nothing is written'), async () => {
  const workspace = await makeWorkspace();
  await put(workspace, '.mcp.json', '{"mcpServers":');
  const { code, stdout, stderr } = await qmIn(workspace, 'init');
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toMatch(/\.mcp\.json:1: .* Nothing was changed\./);
  expect(await readdir(workspace)).toEqual(['.mcp.json']);
});

test('a file of another program without servers does not count as a configuration', async () => {
  const workspace = await makeWorkspace();
  await put(workspace, '.gemini/settings.json', '{"theme":"dark"}');
  expect((await qmIn(workspace, 'init')).stdout).toContain('Wrote quartermaster.yaml');
});

test(verifies('ledger:run-files-in-git', 'qm init and qm doctor say when git would track the run files'), async () => {
  const workspace = await makeWorkspace();
  execFileSync('git', ['init', '-q', workspace]);
  const note = expect.stringContaining('Add the line `.runs/` to .gitignore.');
  expect(await qmIn(workspace, 'init')).toMatchObject({ code: 0, stderr: note });
  expect(await qmIn(workspace, 'doctor')).toMatchObject({ code: 0, stderr: note });
  await writeFile(join(workspace, '.gitignore'), '.runs/\n');
  for (const command of ['init', 'doctor']) {
    const { stderr } = await qmIn(workspace, command);
    expect(stderr).not.toContain('.gitignore');
  }
});
