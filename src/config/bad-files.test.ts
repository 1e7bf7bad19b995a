import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { verifies } from '../../test/support/verifies.ts';
import { loadConfiguration } from './load-configuration.ts';
import { createWorkspace, load, onlyProblem, ready } from './workspace.fixture.ts';

/** Files that Squad and others write: what becomes of a bad one, and what a bad one means. */
const files: Readonly<Record<string, { server?: string }>> = {
  '.squad/mcp-config.json': {},
  'catalog/agents/a/agent.yaml': {},
  '.squad/team.md': {},
  '.mcp/servers/bad.yaml': { server: 'bad' },
  '.mcp/servers/worse.json': { server: 'worse' },
  'ops/adk/servers/worst.yml': { server: 'worst' },
  'enabled-tools.json': {},
};
const good = '{"mcpServers":{"good":{"command":"node"}}}';
const cases = Object.entries(files);

const bomb = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from({ length: 8 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`),
].join('\n');

const contents: readonly (readonly [what: string, content: string | Uint8Array, said: string, files?: RegExp])[] = [
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22]), 'not valid UTF-8'],
  ['over 5 MB', ' '.repeat(5 * 1024 * 1024 + 1), 'over 5 MB'],
  ['an open bracket', '{"a": [', 'cannot be parsed at line', /json|ya?ml/],
  ['endless brackets', '['.repeat(100_000), 'nested more than', /json|ya?ml/],
  ['an alias bomb', bomb, 'aliases', /ya?ml/],
  ['a list', '[1, 2]', 'must contain', /json|ya?ml/],
  ['empty', '', 'the file is empty', /json/],
];

for (const [what, content, said, only = /./] of contents) {
  test.each(cases.filter(([file]) => only.test(file)))(
    verifies(
      'config:bad-files',
      `${what}: %s is one clear problem, and every tool is denied unless it is one server's file`,
    ),
    async (file, { server }) => {
      const configuration = await load({ [file]: content, '.mcp.json': good });
      const problem = onlyProblem(configuration);
      expect(problem).toMatchObject({ severity: 'error', file, ...(server === undefined ? {} : { server }) });
      expect(problem.message).toContain(said);
      expect(problem.fix).toBeDefined();
      expect([...configuration.servers.keys()]).toEqual(server === undefined ? ['good'] : [server, 'good']);
      expect(ready(configuration, 'good').enabled).toBe(true);
      expect(configuration.policy?.rules[0]?.effect).toBe(server === undefined ? 'deny' : undefined);
      expect(configuration.agents.size).toBe(0);
    },
  );
}

test.each(cases)(verifies('config:bad-files', 'a directory in the place of %s is told'), async (file, { server }) => {
  const workspace = await createWorkspace({ '.mcp.json': good });
  await mkdir(join(workspace, file), { recursive: true });
  const configuration = await loadConfiguration({ env: {} }, { workspace });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file, fix: 'Replace it with a file.' });
  expect(onlyProblem(configuration).server).toBe(server);
  expect(ready(configuration, 'good').enabled).toBe(true);
});

test('a product manifest that cannot be read may be anybody’s: that is a warning', async () => {
  for (const file of ['product.json', 'manifest.json']) {
    const configuration = await load({ [file]: Buffer.from([0xff]), '.mcp.json': good });
    expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', file });
    expect(ready(configuration, 'good').enabled).toBe(true);
  }
});

test('a file in the place of a folder is somebody else’s', async () => {
  const configuration = await load({ '.mcp/servers': 'x', 'ops/adk': 'x', '.mcp.json': good });
  expect(configuration.problems).toEqual([]);
});

const answerSchema = z.object({
  problems: z.array(z.object({ severity: z.string(), file: z.string(), message: z.string(), fix: z.string() })),
  servers: z.record(z.string(), z.string()),
  denies: z.boolean(),
});

test(verifies('config:bad-files', 'files that another user may not read are told one by one'), async () => {
  const secret = [...cases.map(([file]) => file), 'product.json', '.env'];
  const workspace = await createWorkspace({ '.mcp.json': good });
  for (const file of secret) {
    await mkdir(dirname(join(workspace, file)), { recursive: true });
    await writeFile(join(workspace, file), '{}', { mode: 0o000 });
  }
  await chmod(workspace, 0o755);
  const answer = answerSchema.parse(JSON.parse(await loadAsNobody(workspace)));
  expect(answer.problems.map(({ file }) => file).sort()).toEqual(secret.sort());
  for (const { severity, file, message, fix } of answer.problems) {
    expect(severity).toBe(file === 'product.json' ? 'warning' : 'error');
    expect(message).toContain('permission denied');
    expect(fix).toContain('Give the user who runs the hub the right to read it');
  }
  expect(answer.servers).toEqual({ bad: 'invalid', worse: 'invalid', worst: 'invalid', good: 'ready' });
  expect(answer.denies).toBe(true);
});

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** The superuser may read anything, so permissions show only to somebody else, who is another process. */
async function loadAsNobody(workspace: string): Promise<string> {
  const script = `
    import { loadConfiguration } from './config/index.js';
    if (process.getuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534); }
    const configuration = await loadConfiguration({ env: {} }, { workspace: process.argv[1] });
    const servers = Object.fromEntries([...configuration.servers].map(([name, { kind }]) => [name, kind]));
    const denies = configuration.policy?.rules[0]?.effect === 'deny';
    process.stdout.write(JSON.stringify({ problems: configuration.problems, servers, denies }));
  `;
  const options = { cwd: await buildConfig(), timeout: 60_000 };
  const args = ['--input-type=module', '--eval', script, workspace];
  return (await promisify(execFile)(process.execPath, args, options)).stdout;
}

/** Node runs no TypeScript by itself, so the room is compiled into a folder of its own. */
async function buildConfig(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'config-built-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const config = {
    extends: join(repository, 'tsconfig.build.json'),
    compilerOptions: { rootDir: join(repository, 'src'), outDir: folder, declaration: false, noCheck: true },
    files: [join(repository, 'src/config/index.ts')],
    include: [],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await promisify(execFile)(join(repository, 'node_modules/.bin/tsc'), ['-p', folder], { timeout: 60_000 });
  return folder;
}
