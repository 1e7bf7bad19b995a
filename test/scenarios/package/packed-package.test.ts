import { existsSync, readFileSync } from 'node:fs';
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../../src/base/index.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { stateEnv } from '../../support/state-home.ts';
import { trustFolder } from '../../support/trust-folder.mjs';
import { verifies } from '../../support/verifies.ts';
import { install, type Packed, pack, removeFolder, root, run, temporaryFolder } from './packed.fixture.ts';

let folder = '';
let packed: Packed;
let project = '';

beforeAll(async () => {
  folder = await temporaryFolder();
  packed = await pack(folder);
  project = await install(folder, packed.tarball);
  trustFolder(join(folder, 'config'), folder);
});

afterAll(() => removeFolder(folder));

/** A person with a home of their own. */
const personEnv = (): Record<string, string> => ({
  ...stateEnv,
  QM_STATE_DIR: join(folder, 'state'),
  XDG_CONFIG_HOME: join(folder, 'config'),
});

test(
  verifies('package:contents', 'the package has what is needed to run, to type and to read, and nothing else'),
  () => {
    const { files, size, unpackedSize } = packed;
    const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`;
    console.log(`The package: ${mega(size)} packed, ${mega(unpackedSize)} unpacked, ${files.length} files.`);
    const places = files.map(({ path }) => path.replace(/^(docs|dist\/chunks)\/.*\.(md|svg|js)$/, '$1/*.$2'));
    expect([...new Set(places)].sort()).toEqual([
      'ARCHITECTURE.md',
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin/qm',
      'dist/chunks/*.js',
      'dist/chunks/LICENCES.txt',
      'dist/library/index.d.ts',
      'dist/library/index.js',
      'dist/qm/main.js',
      'docs/*.md',
      'docs/*.svg',
      'package.json',
      'quartermaster.schema.json',
    ]);
    expect(size).toBeLessThan(1_200_000);
    expect(files.find(({ path }) => path === 'bin/qm')?.mode).toBe(0o755);
  },
);

test('every file of code is loaded by another one or is an entry, and all that are named are there', () => {
  const home = join(project, 'node_modules', 'quartermaster');
  const code = packed.files.map(({ path }) => path).filter((path) => /^dist\/.*\.js$/.test(path));
  const reached = new Set(['dist/qm/main.js', 'dist/library/index.js']);
  for (const path of reached) {
    const text = readFileSync(join(home, path), 'utf8');
    expect(text).not.toContain('sourceMappingURL');
    expect(text).not.toContain(folder);
    const lines = text.split('\n').filter((line) => !/^\s*(\/\*|\*|\/\/)/.test(line));
    for (const [, name = ''] of lines.join('\n').matchAll(/(?:from|import|import\() ?"(\.[^"]+\.js)"/g)) {
      reached.add(join(dirname(path), name));
    }
  }
  expect([...reached].sort()).toEqual(code.sort());
});

test(verifies('package:command', 'qm runs through npx, through a link and from a global folder'), async () => {
  const shown = await run('npx', ['--no-install', 'qm', '--version'], project);
  expect(shown.stdout.trim()).toBe(version);
  expect((await run('npx', ['--no-install', 'quartermaster', '--version'], project)).stdout.trim()).toBe(version);

  const prefix = join(folder, 'global');
  await mkdir(join(prefix, 'lib'), { recursive: true });
  await run('npm', ['link', '--ignore-scripts'], packed.source, { npm_config_prefix: prefix });
  const link = join(prefix, 'bin', 'qm');
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
  expect((await run(link, ['--version'], folder)).stdout.trim()).toBe(version);
});

test(verifies('package:command', 'an installed qm adds a server, lists its tools and calls one'), async () => {
  const qm = async (...args: string[]): Promise<string> =>
    (await run('npx', ['--no-install', 'qm', ...args], project, personEnv())).stdout;
  await qm('add', 'echo', '--', process.execPath, fixturePath('echo-stdio.mjs'));
  expect(existsSync(join(project, 'quartermaster.yaml'))).toBe(true);
  expect(JSON.parse(await qm('tools', '--agent', 'tester', '--json'))).toContainEqual(
    expect.objectContaining({ server: 'echo', tool: 'echo', decision: 'allow' }),
  );
  expect(await qm('call', 'echo.echo', 'message=hi', '--agent', 'tester')).toBe('hi\n');
});

const program = `import { createHub, type CallOutcome, HubError, type ToolResult } from 'quartermaster';

const hub = await createHub({ workspace: process.argv[2] ?? '.', trust: 'all' });
try {
  const tester = hub.agent('tester', { onElicitation: () => ({ action: 'decline' }) });
  const result: ToolResult = await tester.call('echo.echo', { message: 'hi' });
  const [first] = result.content;
  if (first?.type === 'text') console.log(first.text.toUpperCase());
  if (first?.type === 'resource') console.log(first.resource.uri);
  if (first?.type === 'image' || first?.type === 'audio') console.log(first.data, first.mimeType);
  console.log(result.text);
  // @ts-expect-error: not every block has a text
  first?.text;
  const outcomes: readonly CallOutcome[] = await tester.callAll([{ tool: 'echo.echo', args: { message: 'ho' } }]);
  for (const outcome of outcomes) console.log(outcome.status === 'ok' ? outcome.result.text : outcome.error.code);
} catch (error) {
  if (error instanceof HubError) console.error(error.code, error.hint);
  throw error;
} finally {
  await hub.close();
}
`;

test(verifies('package:library', 'a program is typed strictly and runs against the installed library'), async () => {
  await writeFile(join(project, 'program.ts'), program);
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
    ...{ target: 'es2023', module: 'nodenext', moduleResolution: 'nodenext' },
    ...{ types: ['node'], typeRoots: [join(root, 'node_modules', '@types')] },
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', '.'], project);
  const servers = { echo: { command: process.execPath, args: [fixturePath('echo-stdio.mjs')] } };
  await mkdir(join(folder, 'workspace'));
  await writeFile(join(folder, 'workspace', 'quartermaster.yaml'), JSON.stringify({ servers }));
  const { stdout, stderr } = await run(
    process.execPath,
    ['program.js', join(folder, 'workspace')],
    project,
    personEnv(),
  );
  expect({ stdout, stderr }).toEqual({ stdout: 'HI\nhi\nho\n', stderr: '' });
});

test('what exports names is there, also for a program in CommonJS and for tools', async () => {
  await writeFile(
    join(project, 'older.cjs'),
    `const { createHub } = require('quartermaster');
     const { version } = require('quartermaster/package.json');
     const { title } = require('quartermaster/quartermaster.schema.json');
     console.log(typeof createHub, version, typeof title);`,
  );
  const { stdout } = await run(process.execPath, ['older.cjs'], project);
  expect(stdout).toBe(`function ${version} string\n`);
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: object };
  const named = JSON.stringify(exports).match(/\.\/[\w./-]+\.\w+/g) ?? [];
  const home = join(project, 'node_modules', 'quartermaster');
  expect(named.filter((path) => !existsSync(join(home, path)))).toEqual([]);
});
