import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { roleTable } from '../../../src/workspace-files/index.ts';
import { openStage, type Stage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';

const require = createRequire(import.meta.url);
const program = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js');

const page = await readFile(new URL('../../../docs/access.md', import.meta.url), 'utf8');

/** The example of the page with rules on arguments, with its file server as a program of this machine. */
function pageExample(): string {
  const [, example = ''] = /## Rules on arguments.*?```yaml\n(.*?)^```$/ms.exec(page) ?? [];
  expect(example).toContain('files.move_file');
  const command = JSON.stringify([process.execPath, program, '.']);
  return example.replace(/command: \[npx.*\]/, `command: ${command}`);
}

function shippedRoles(): string {
  const agents = Object.fromEntries(roleTable.map(({ name, entry }) => [name, entry]));
  return JSON.stringify({ servers: { filesystem: { command: process.execPath, args: [program, '.'] } }, agents });
}

/** As a careless author writes it. */
function withPattern(): string {
  const rules = [
    { effect: 'allow', kind: 'read' },
    { effect: 'allow', when: { path: { inside: 'tests' } } },
  ];
  const tester = { servers: ['files'], policies: { tools: { 'files.*': [...rules, { effect: 'deny' }] } } };
  return JSON.stringify({
    servers: { files: { command: process.execPath, args: [program, '.'] } },
    agents: { tester },
  });
}

async function openFiles(config: string): Promise<Stage> {
  const stage = await openStage();
  for (const folder of ['tests/deep', 'src', 'assets', 'docs']) await mkdir(stage.path(folder), { recursive: true });
  await writeFile(stage.path('src/app.ts'), 'app');
  await stage.start(config);
  await stage.hub.discover();
  return stage;
}

/** Every way to write that the server has, each with the arguments of the others beside its own. */
function attempts(stage: Stage): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  const decoys = {
    path: 'tests/decoy.ts',
    source: 'tests/decoy.ts',
    destination: 'tests/decoy.ts',
    file: 'tests/decoy.ts',
  };
  const outside = [
    'src/new.ts',
    'tests/../src/new.ts',
    stage.path('src/new.ts'),
    './new.ts',
    'testsx/new.ts',
    'src/app.ts',
  ];
  const edits = [{ oldText: 'app', newText: 'changed' }];
  return outside.flatMap((path) => [
    ['write_file', { ...decoys, path, content: 'x' }],
    ['edit_file', { ...decoys, path, edits }],
    ['edit_file', { ...decoys, path, edits, dryRun: false }],
    ['create_directory', { ...decoys, path }],
    ['move_file', { ...decoys, destination: path }],
    ['move_file', { ...decoys, source: path }],
    ['move_file', { ...decoys, source: 'src', destination: 'tests/src' }],
    ['move_file', { path: 'tests/decoy.ts', source: 'tests/decoy.ts', destination: path }],
  ]);
}

async function filesOutside(stage: Stage): Promise<readonly string[]> {
  const files = await readdir(stage.workspace, { recursive: true });
  return files.filter((file) => !/^(?:tests(?:\/|$)|\.runs|quartermaster\.yaml)/.test(file)).sort();
}

const examples: readonly (readonly [string, () => string, string])[] = [
  ['the example of the page', pageExample, 'files'],
  ['the shipped roles', shippedRoles, 'filesystem'],
  ['a pattern that allows by path', withPattern, 'files'],
];

test.each(examples)(
  verifies('policy:ignored-argument', 'no tool of the file server writes outside tests: %s'),
  async (_, config, server) => {
    const stage = await openFiles(config());
    const before = await filesOutside(stage);
    for (const [tool, args] of attempts(stage)) {
      await writeFile(stage.path('tests/decoy.ts'), 'app');
      const result = await stage.call(`${server}_${tool}`, args);
      expect([tool, args, result]).toMatchObject([tool, args, { kind: 'failed' }]);
      expect(await filesOutside(stage)).toEqual(before);
      expect(await readFile(stage.path('src/app.ts'), 'utf8')).toBe('app');
    }
    expect(await stage.say(`${server}_write_file`, { path: 'tests/a.ts', content: 'x' })).toContain('tests/a.ts');
  },
);

test.each(['designer', 'scribe', 'tester'])('%s of the shipped roles writes in its own folder', async (agent) => {
  const stage = await openFiles(shippedRoles());
  const folder = { designer: 'assets', scribe: 'docs', tester: 'tests' }[agent];
  const options = { agent };
  const edits = [{ oldText: 'x', newText: 'y' }];
  await stage.say('filesystem_create_directory', { path: `${folder}/new` }, options);
  await stage.say('filesystem_write_file', { path: `${folder}/new/a`, content: 'x' }, options);
  await stage.say('filesystem_edit_file', { path: `${folder}/new/a`, edits }, options);
  await stage.say('filesystem_move_file', { source: `${folder}/new/a`, destination: `${folder}/b` }, options);
  expect(await readFile(stage.path(`${folder}/b`), 'utf8')).toBe('y');
});
