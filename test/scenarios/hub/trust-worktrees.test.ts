import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { layoutOf, removeState } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { approve, changesOf, gitIn, isServer, judge, statesOf, waits } from './trust.fixture.ts';

const named = stdioServer('named-tools.mjs', ['look', 'write']);
const rules = { agents: { lead: { servers: ['up', 'more'] }, bot: { servers: ['up'] } } };
const strict = { servers: { up: named }, ...rules };

/** A main checkout with approved servers and rules, and a worktree of it. */
async function withWorktree(): Promise<{ stage: Stage; tree: string; write(config: object): Promise<void> }> {
  const stage = await openStage();
  await stage.configure(strict);
  const git = gitIn(stage.workspace);
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'one');
  await approve(stage.workspace);
  const tree = `${stage.workspace}-tree`;
  onTestFinished(async () => {
    await rm(tree, { recursive: true, force: true });
    await removeState(tree);
  });
  git('worktree', 'add', '-q', tree, '-b', 'tree');
  return { stage, tree, write: (config) => writeFile(join(tree, 'quartermaster.yaml'), JSON.stringify(config)) };
}

test(
  verifies('trust:worktree', 'rules of the main checkout stay when an agent writes .git of the worktree'),
  async () => {
    const { tree, write } = await withWorktree();
    expect(statesOf(await judge(tree))).toEqual(['ready']);
    await write({ servers: { up: named, more: named }, ...rules });
    await approve(tree, isServer('more'));
    await writeFile(join(tree, '.git'), 'gitdir: nowhere\n');
    await write({ servers: { up: named, more: named } });
    const judged = await judge(tree);
    expect(waits(judged)).toEqual(['policy']);
    expect([...(judged.configuration.approvedRules?.agents.keys() ?? [])]).toEqual(['lead', 'bot']);
  },
);

test.each(['gone', 'moved', 'forgotten'])(
  verifies('trust:worktree', 'the rules in force stay when the main checkout is %s'),
  async (fate) => {
    const { stage, tree, write } = await withWorktree();
    await write({ servers: { up: named, more: named }, agents: { bot: { servers: [] } } });
    // Its own rules wait, so those of the main checkout are in force.
    await approve(tree, isServer('more'));
    const away = `${stage.workspace}-away`;
    onTestFinished(() => rm(away, { recursive: true, force: true }));
    if (fate === 'gone') await rm(stage.workspace, { recursive: true });
    if (fate === 'moved') await rename(stage.workspace, away);
    if (fate === 'forgotten') await removeState(stage.workspace);
    const judged = await judge(tree);
    expect(waits(judged)).toContain('policy');
    expect([...(judged.configuration.approvedRules?.agents.keys() ?? [])]).toEqual(['lead', 'bot']);
  },
);

test(verifies('trust:worktree', 'approved servers without any approved rules give agents nothing'), async () => {
  const { tree, write } = await withWorktree();
  await write({ servers: { up: named, more: named }, ...rules });
  await approve(tree, isServer('more'));
  // As an earlier version left it: servers of its own, and rules only in a main checkout that is not found any more.
  const { trust } = layoutOf(tree);
  const { readFile } = await import('node:fs/promises');
  const document = JSON.parse(await readFile(trust, 'utf8'));
  const left = document.approvals.filter(({ kind }: { kind: string }) => kind === 'server');
  await writeFile(trust, JSON.stringify({ ...document, main: undefined, approvals: left }));
  await writeFile(join(tree, '.git'), 'gitdir: nowhere\n');
  const judged = await judge(tree);
  expect(judged.configuration.approvedRules?.policy?.rules).toMatchObject([{ pattern: '*', effect: 'deny' }]);
  expect(judged.pending.at(-1)).toMatchObject({ deniesAll: true });
});

test(
  verifies('trust:latest', 'what is taken back in a worktree does not count there because the main checkout has it'),
  async () => {
    const { tree, stage } = await withWorktree();
    await (await changesOf(tree)).revoke(['up']);
    expect(statesOf(await judge(tree))).toEqual(['untrusted']);
    gitIn(tree)('checkout', '-q', '-b', 'another');
    expect(statesOf(await judge(tree))).toEqual(['untrusted']);
    expect(statesOf(await judge(stage.workspace))).toEqual(['ready']);
  },
);
