import { mkdir, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { codeOf, openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { runHere } from '../run-here.fixture.ts';
import { approve } from './trust.fixture.ts';

const place = 'catalog/policies/mcp_permissions.yaml';
const config = {
  approvals: { wait: '1s' },
  servers: { github: stdioServer('named-tools.mjs', ['get_issue', 'create_issue', 'delete_repo']) },
};

const permissions = `default_permission: REQUIRE_APPROVAL
tools:
  github.get_issue: ALWAYS
  github.delete_repo: NEVER
`;

async function write(stage: Stage, text: string): Promise<void> {
  await mkdir(stage.path('catalog/policies'), { recursive: true });
  await writeFile(stage.path(place), text);
}

async function open(text: string): Promise<Stage> {
  const stage = await openStage();
  await write(stage, text);
  await stage.start(config);
  await stage.hub.discover();
  return stage;
}

async function expectHeld(stage: Stage): Promise<void> {
  const result = await stage.hurry(stage.call('github_create_issue'));
  if (result.kind !== 'result') throw new Error(codeOf(result));
  expect(result.result.value.structuredContent).toMatchObject({ status: 'pending-approval' });
}

test(
  verifies('magsag:permissions', 'the file decides on calls, and records and qm explain name its line'),
  async () => {
    const stage = await open(permissions);
    expect(await stage.names()).toEqual(['github_create_issue', 'github_get_issue']);
    expect(await stage.say('github_get_issue')).toBe('get_issue');
    await expectHeld(stage);
    expect(codeOf(await stage.call('github_delete_repo'))).toBe('TOOL_UNKNOWN');
    expect((await stage.ledger()).map(({ rule, rule_source }) => [rule, rule_source])).toEqual([
      ['github.get_issue', `${place}:3`],
      ['*', `${place}:1`],
      ['github.delete_repo', `${place}:4`],
    ]);
    await stage.stop();
    const { stdout } = await runHere(['explain', 'github.delete_repo', '--agent', 'dev'], { cwd: stage.workspace });
    expect(stdout).toContain(`denied: rule "github.delete_repo" for every agent applies (${place}:4).`);
  },
);

test('qm ls and qm doctor show what is wrong in the file, by file and line', async () => {
  const stage = await open(permissions);
  await stage.stop();
  const wrong = `${permissions}  github.fork: SOMETIMES\n`;
  await write(stage, wrong);
  for (const command of ['ls', 'doctor']) {
    const { stdout, stderr, code } = await runHere([command], { cwd: stage.workspace });
    expect([command, code]).toEqual([command, 3]);
    expect(stdout + stderr).toContain(`${place}:5`);
  }
});

test('rate limits of the file hold for all agents together', async () => {
  const stage = await open(`${permissions}rate_limits: { servers: { github: { calls_per_minute: 2 } } }\n`);
  const call = async (agent: string) => codeOf(await stage.call('github_get_issue', {}, { agent })).slice(0, 12);
  const ok = await call('one');
  expect([await call('two'), await call('three')]).toEqual([ok, 'RATE_LIMITED']);
  expect((await stage.ledger()).at(-1)?.error).toContain('rate limit');
  stage.clock.advance(60_001);
  expect(await call('three')).toBe(ok);
});

test(
  verifies('magsag:trust', 'a changed file widens nothing before it is approved, and a removed one stays'),
  async () => {
    const stage = await openStage();
    await write(stage, permissions);
    await stage.configure(config);
    await approve(stage.workspace);
    await stage.open({ trust: 'stored' });
    await stage.hub.discover();
    expect(await stage.names()).toEqual(['github_create_issue', 'github_get_issue']);
    await write(stage, 'default_permission: ALWAYS\ntools: { github.get_issue: NEVER }\n');
    await stage.hub.reload();
    // The new file takes get_issue away at once, and gives nothing.
    expect(await stage.names()).toEqual(['github_create_issue']);
    await expectHeld(stage);
    expect(codeOf(await stage.call('github_delete_repo'))).toBe('TOOL_UNKNOWN');
    await approve(stage.workspace);
    await stage.hub.reload();
    expect(await stage.names()).toEqual(['github_create_issue', 'github_delete_repo']);
    expect(await stage.say('github_delete_repo')).toBe('delete_repo');
    await rm(stage.path(place));
    await stage.hub.reload();
    expect(await stage.names()).toEqual(['github_create_issue', 'github_delete_repo']);
  },
);

test(
  verifies('magsag:trust', 'the variable chooses an environment without asking, and quartermaster.yaml asks'),
  async () => {
    const stage = await openStage();
    const environments = { laptop: { default_permission: 'ALWAYS' }, production: { default_permission: 'NEVER' } };
    await write(stage, JSON.stringify({ environments }));
    await stage.configure(config);
    await approve(stage.workspace);
    const open = async (environment?: string) => {
      await stage.stop();
      const env = environment === undefined ? {} : { MAGSAG_ENVIRONMENT: environment };
      await stage.open({ trust: 'stored', env });
      await stage.hub.discover();
      return [(await stage.names()).length, stage.hub.pending().length];
    };
    expect(await open()).toEqual([0, 0]);
    expect(await open('production')).toEqual([0, 0]);
    expect(await open('laptop')).toEqual([3, 0]);
    await stage.configure({ ...config, environment: 'laptop' });
    expect(await open()).toEqual([0, 1]);
    await approve(stage.workspace);
    expect(await open()).toEqual([3, 0]);
  },
);
