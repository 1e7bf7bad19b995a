import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DoctorServer } from '../../../src/faces/cli/doctor/diagnosis-shapes.ts';
import { presets } from '../../../src/workspace-files/index.ts';
import { startPostgres, type TestPostgres } from '../../support/postgres.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, runQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';
import { diagnosisOf, pathWithRunners, presetOf, workspaceWith } from './presets-doctor.fixture.ts';

const run = promisify(execFile);

/** Values as the package takes them; what is optional is left to its default. */
const values: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  obsidian: { OBSIDIAN_API_KEY: 'key-from-the-plugin' },
  'azure-devops': {
    AZURE_DEVOPS_ORG: 'contoso',
    AZURE_DEVOPS_PAT: Buffer.from('dev@contoso.example:secret-token').toString('base64'),
  },
  mongodb: { MDB_MCP_CONNECTION_STRING: 'mongodb://reader:pass-word-1@127.0.0.1:9/shop' },
  // Nobody listens there.
  'pg-readonly': { PG_RO_URL: 'postgresql://reader:pass-word-1@127.0.0.1:9/shop' },
};

const overPipes = ['filesystem', 'memory', 'obsidian', 'azure-devops', 'mongodb', 'playwright'];
const builtIn = ['git', 'fetch', 'pg-readonly'];

let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(() => postgres?.stop());

async function doctor(
  id: string,
  env: Readonly<Record<string, string>>,
  workspace?: string,
): Promise<{ code: number | null; server: DoctorServer }> {
  const folder = workspace ?? (await workspaceWith([id]));
  const args = ['doctor', id, '--json', '--timeout', '15', '--workspace', folder];
  const { code, row } = diagnosisOf(await runQm(args, { env }), env);
  return { code, server: row(id) };
}

test.each(overPipes)(
  verifies('preset:doctor', '%s: the package is started as it wants to be, and has the tools that routes name'),
  async (id) => {
    const { code, server } = await doctor(id, { PATH: await pathWithRunners(), ...values[id] });
    expect(server).toMatchObject({ verdict: 'reachable', transport: 'stdio', httpStatus: null, nextSteps: [] });
    const { tools = [], routes } = presetOf(id);
    const named = [...tools, ...Object.values(routes).flatMap((route) => (typeof route === 'string' ? [] : route))];
    expect(server.tools).toEqual(expect.arrayContaining(named));
    expect(code).toBe(0);
  },
);

test.each(overPipes)('%s: without its program, what to install is said', async (id) => {
  const { code, server } = await doctor(id, { PATH: '/nowhere', ...values[id] });
  expect(server).toMatchObject({ verdict: 'unreachable', attempts: [{ transport: 'stdio' }] });
  const wanted = id === 'obsidian' ? 'Install uv ' : 'Install Node.js';
  expect(server.nextSteps).toEqual([expect.stringContaining(wanted)]);
  expect(server.nextSteps[0]).toContain(`It is configured in ops/adk/servers/${id}.yaml:1.`);
  expect(code).toBe(1);
});

test.each([
  ['azure-devops', { AZURE_DEVOPS_ORG: 'contoso', AZURE_DEVOPS_PAT: 'not-base64-of-anything' }, /base64-encoded/],
  ['mongodb', { MDB_MCP_CONNECTION_STRING: 'shop.example/not-a-url' }, /Invalid connection string/],
  ['obsidian', { OBSIDIAN_API_KEY: 'key-from-the-plugin', OBSIDIAN_PORT: 'none' }, /no host or port/],
])('%s: a value that the program refuses is told in its words', async (id, env, words) => {
  const { code, server } = await doctor(id, { PATH: await pathWithRunners(), ...env });
  expect(server.verdict).toBe('unreachable');
  expect(server.attempts[0]?.error?.message).toMatch(words);
  expect(server.nextSteps).toEqual([expect.stringMatching(/Run it by hand and read its output:\ncd .* (npx|uvx) /)]);
  expect(code).toBe(1);
});

const needing = presets.filter(
  ({ id, variables }) => values[id] !== undefined && variables.some((each) => each.required),
);

test.each(needing.map(({ id }) => id))('%s: without a needed variable it is not tried', async (id) => {
  const workspace = await workspaceWith([id]);
  for (const { name } of presetOf(id).variables.filter((each) => each.required)) {
    const { [name]: _, ...env } = values[id] ?? {};
    const result = await runHere(['doctor', id, '--json'], { cwd: workspace, env });
    const { code, row } = diagnosisOf(result, env);
    expect(row(id)).toMatchObject({ verdict: 'invalid', attempts: [] });
    expect(row(id).nextSteps).toEqual([expect.stringMatching(new RegExp(` Set ${name} in \\.env`))]);
    expect(code).toBe(1);
  }
});

test.each(builtIn)(
  verifies('preset:doctor', '%s: comes with the hub and needs nothing to be installed'),
  async (id) => {
    const workspace = await workspaceWith([id]);
    await run('git', ['init', '--quiet', workspace]);
    const { code, server } = await doctor(id, id === 'pg-readonly' ? { PG_RO_URL: postgres.url() } : {}, workspace);
    expect(server).toMatchObject({ verdict: 'reachable', transport: 'builtin', nextSteps: [] });
    const { routes } = presetOf(id);
    const named = Object.values(routes).flatMap((route) => (typeof route === 'string' ? [] : route));
    expect(server.tools).toEqual(expect.arrayContaining(named));
    expect(code).toBe(0);
  },
);

test('pg-readonly: a database that is away, and one that does not let it in, are told apart', async () => {
  const away = await doctor('pg-readonly', { ...values['pg-readonly'] });
  expect(away.server.verdict).toBe('unreachable');
  expect(away.server.attempts[0]?.error?.message).toContain('Nothing listens at the address in PG_RO_URL');
  const url = postgres.url({ user: 'postgres', password: 'not-the-password' });
  const refused = await doctor('pg-readonly', { PG_RO_URL: url });
  expect(refused.server.attempts[0]?.error?.message).toContain('refused the user or the password');
  expect(JSON.stringify([away, refused])).not.toMatch(/pass-word-1|not-the-password/);
  expect([away.code, refused.code]).toEqual([1, 1]);
});

test('git: outside a repository it says so', async () => {
  const { code, server } = await doctor('git', {});
  expect(server.verdict).toBe('unreachable');
  expect(server.attempts[0]?.error?.message).toMatch(/repository/);
  expect(code).toBe(1);
});

test('a package that never was on npm is told, with the built-in server that does its work', async () => {
  const workspace = await makeWorkspace();
  await mkdir(join(workspace, '.mcp/servers'), { recursive: true });
  const args = ['-y', '@modelcontextprotocol/server-git@1.0.0', '--repository', '.'];
  const file = join(workspace, '.mcp/servers/git.yaml');
  await writeFile(file, `server_id: git\ntype: mcp\ncommand: npx\nargs: ${JSON.stringify(args)}\n`);
  const { code, server } = await doctor('git', { PATH: await pathWithRunners() }, workspace);
  expect(server.verdict).toBe('unreachable');
  expect(server.nextSteps[0]).toBe(
    'npm has no package @modelcontextprotocol/server-git and never had one. Give server git "builtin: git" with args: [--repository, .], in place of type, command and args.',
  );
  expect(code).toBe(1);
});
