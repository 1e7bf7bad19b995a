import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openStage, type Stage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const require = createRequire(import.meta.url);
const filesystem = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const named = fixturePath('named-tools.mjs');

async function bootstrapped(
  text = '',
): Promise<{ readonly text: string; readonly answer: unknown; workspace: string }> {
  const workspace = await makeWorkspace(text);
  const { stdout, code } = await runHere(['bootstrap', '--roles', '--json', '--workspace', workspace], {
    cwd: workspace,
  });
  expect(code).toBe(0);
  return { text: await readFile(join(workspace, 'quartermaster.yaml'), 'utf8'), answer: JSON.parse(stdout), workspace };
}

test('entries that are there stay, and a second time nothing changes', async () => {
  const { text, answer, workspace } = await bootstrapped(
    '# mine\nversion: 1\nagents:\n  tester: # ours\n    servers: [x]\n',
  );
  expect(text).toContain('# mine\nversion: 1\nagents:\n  tester: # ours\n    servers: [x]\n');
  expect(answer).toMatchObject({
    written: ['lead', 'backend-dev', 'frontend-dev', 'designer', 'scribe'],
    kept: ['tester'],
  });
  await runHere(['bootstrap', '--roles', '--workspace', workspace], { cwd: workspace });
  expect(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8')).toBe(text);
});

async function openTeam(): Promise<Stage> {
  const { text } = await bootstrapped('version: 1\n');
  const stage = await openStage();
  for (const folder of ['tests', 'assets', 'docs', 'src']) await mkdir(stage.path(folder));
  const program = (...args: readonly string[]) => ({ command: process.execPath, args: [named, ...args] });
  const servers = {
    github: program('create_issue', 'create_pull_request', 'delete_repository', '--reads', 'list_issues'),
    filesystem: { command: process.execPath, args: [filesystem, stage.workspace] },
    postgres: { ...program('query', '--reads', 'list_tables'), trustAnnotations: true },
    deploy: program('release'),
  };
  await stage.start(`${text}\nservers: ${JSON.stringify(servers)}\n`);
  await stage.hub.discover();
  expect(stage.hub.configuration.problems).toEqual([]);
  return stage;
}

/** What a call of the role comes to: the word in the record. */
async function attempt(stage: Stage, agent: string, [tool, args]: readonly [string, object]): Promise<string> {
  const result = await stage.call(tool, args, { agent, approvalWaitMs: 0 });
  if (result.kind === 'failed') return result.error.code;
  return result.kind === 'result' && result.result.value.isError !== true ? 'ok' : 'tool error';
}

const github = ['github_list_issues', 'github_create_issue', 'github_create_pull_request', 'github_delete_repository'];
const database = ['postgres_list_tables', 'postgres_query'];
const [ok, hidden, denied, asks] = ['ok', 'TOOL_UNKNOWN', 'POLICY_DENIED', 'APPROVAL_REQUIRED'];

/** Role; GitHub, database and deploy tools in this order; the folders of docs, tests, assets and src that it writes. */
const table: readonly (readonly [string, readonly string[], readonly string[], string, readonly string[]])[] = [
  ['lead', [ok, ok, ok, ok], [ok, hidden], asks, ['docs', 'tests', 'assets', 'src']],
  ['backend-dev', [ok, ok, ok, hidden], [ok, ok], hidden, ['docs', 'tests', 'assets', 'src']],
  ['frontend-dev', [ok, ok, ok, hidden], [hidden, hidden], hidden, ['docs', 'tests', 'assets', 'src']],
  ['tester', [ok, hidden, hidden, hidden], [ok, hidden], hidden, ['tests']],
  ['designer', [ok, hidden, hidden, hidden], [hidden, hidden], hidden, ['assets']],
  ['scribe', [ok, hidden, hidden, hidden], [hidden, hidden], hidden, ['docs']],
];

test.each(table)(
  verifies('roles:table', '%s has the rights of its row, with real servers'),
  async (agent, ofGithub, ofDatabase, ofDeploy, writes) => {
    const stage = await openTeam();
    const words = async (tools: readonly string[]) => {
      const said: string[] = [];
      for (const tool of tools) said.push(await attempt(stage, agent, [tool, {}]));
      return said;
    };
    expect(await words(github)).toEqual(ofGithub);
    expect(await words(database)).toEqual(ofDatabase);
    expect(await words(['deploy_release'])).toEqual([ofDeploy]);
    expect(await attempt(stage, agent, ['filesystem_list_directory', { path: 'src' }])).toBe(ok);
    for (const folder of ['docs', 'tests', 'assets', 'src']) {
      const expected = writes.includes(folder) ? ok : denied;
      const file = { path: `${folder}/${agent}.txt`, content: 'x' };
      expect([folder, await attempt(stage, agent, ['filesystem_write_file', file])]).toEqual([folder, expected]);
    }
    const [own = ''] = writes;
    const smuggled = { path: `${own}/x`, source: `${own}/${agent}.txt`, destination: 'src/moved.txt' };
    const expected = writes.includes('src') ? ok : denied;
    expect(await attempt(stage, agent, ['filesystem_move_file', smuggled])).toBe(expected);
    await stage.stop();
  },
);
