import { rm } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { trustSchema } from '../../../src/faces/cli/trust/trust-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { removeState } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { gitIn } from '../hub/trust.fixture.ts';
import { configure, makeWorkspace, type QmResult, runQm } from '../qm.fixture.ts';

/** Without the settings that trust every test workspace. */
const env = { XDG_CONFIG_HOME: '/nonexistent' };
const echo = stdioServer('echo-stdio.mjs');
const before = { servers: { deploy: echo, files: echo } };

const run = (workspace: string, ...args: string[]): Promise<QmResult> =>
  runQm([...args, '--workspace', workspace], { env });

async function statesIn(workspace: string): Promise<unknown> {
  const { stdout } = await run(workspace, 'trust', '--show', '--json');
  return trustSchema.parse(JSON.parse(stdout)).items.map(({ name, state }) => [name, state]);
}

/** Everything is approved on the branch main. */
async function approvedOnMain(): Promise<{ workspace: string; git: (...args: string[]) => string }> {
  const workspace = await makeWorkspace(before);
  const git = gitIn(workspace);
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'one');
  expect((await run(workspace, 'trust', '--all')).code).toBe(0);
  return { workspace, git };
}

const afterwards = [
  ['deploy', 'waiting'],
  ['files', 'approved'],
  [null, 'approved'],
];

test(verifies('trust:latest', 'a server that is removed on a new branch does not come back by its text'), async () => {
  const { workspace, git } = await approvedOnMain();
  git('checkout', '-q', '-b', 'feature');
  expect((await run(workspace, 'remove', 'deploy', '--yes')).code).toBe(0);
  await configure(workspace, before);
  expect(await statesIn(workspace)).toEqual(afterwards);
});

test(verifies('trust:latest', 'a server that is removed in a worktree does not come back by its text'), async () => {
  const { workspace, git } = await approvedOnMain();
  const tree = `${workspace}-tree`;
  onTestFinished(async () => {
    await rm(tree, { recursive: true, force: true });
    await removeState(tree);
  });
  git('worktree', 'add', '-q', tree, '-b', 'tree');
  expect((await run(tree, 'remove', 'deploy', '--yes')).code).toBe(0);
  await configure(tree, before);
  expect(await statesIn(tree)).toEqual(afterwards);
});

test(verifies('trust:latest', 'neither does one whose change and the rules waited when it was removed'), async () => {
  const { workspace, git } = await approvedOnMain();
  git('checkout', '-q', '-b', 'feature');
  await configure(workspace, {
    servers: { deploy: { ...echo, tools: [] } },
    agents: { bot: { servers: ['deploy'] } },
  });
  expect((await run(workspace, 'remove', 'deploy', '--yes')).code).toBe(0);
  await configure(workspace, before);
  expect(await statesIn(workspace)).toContainEqual(['deploy', 'waiting']);
});
