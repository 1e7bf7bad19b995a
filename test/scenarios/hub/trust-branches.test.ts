import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import {
  approve,
  changesOf,
  gitIn,
  isServer,
  judge,
  load,
  pendingOf,
  put,
  statesOf,
  stored,
  waits,
} from './trust.fixture.ts';

const named = stdioServer('named-tools.mjs', ['look', 'write']);
const limited = { ...named, tools: ['look'] };
const strict = { servers: { up: named }, policies: { tools: { 'up.write': 'deny' } } };
const open = { servers: { up: named } };

/** The same workspace on a branch of git, with nothing committed. */
async function onBranch(branch: string): Promise<{ stage: Stage; switchTo(name: string): void }> {
  const stage = await openStage();
  const git = gitIn(stage.workspace);
  git('init', '-q', '-b', branch);
  return { stage, switchTo: (name) => void git('symbolic-ref', 'HEAD', `refs/heads/${name}`) };
}

test(verifies('trust:latest', 'rules that were approved before others do not come back by their text'), async () => {
  const stage = await openStage();
  await stage.configure(open);
  await approve(stage.workspace);
  await stage.configure(strict);
  await approve(stage.workspace);
  await stage.start(strict, stored);
  expect(await stage.names()).toEqual(['up_look']);
  await stage.configure(open);
  await eventually(() => pendingOf(stage).includes('changed policy'), 'the earlier rules to wait');
  expect(await stage.names()).toEqual(['up_look']);
  expect(await stage.call('up_write')).toMatchObject({ kind: 'failed', error: { code: 'TOOL_UNKNOWN' } });
  await stage.start(open, stored);
  expect(pendingOf(stage)).toEqual(['changed policy']);
  expect(await stage.names()).toEqual(['up_look']);
  await approve(stage.workspace);
  await eventually(async () => (await stage.names()).includes('up_write'), 'the rules that are approved again');
});

test(verifies('trust:latest', 'an earlier version of a server waits, and the last one goes on'), async () => {
  const stage = await openStage();
  for (const up of [named, limited]) {
    await stage.configure({ servers: { up } });
    await approve(stage.workspace);
  }
  await stage.start({ servers: { up: named } }, stored);
  expect(pendingOf(stage)).toEqual(['changed up']);
  expect(await stage.names()).toEqual(['up_look']);
});

test(verifies('trust:latest', 'a server that was removed or disabled does not come back by its text'), async () => {
  const stage = await openStage();
  await stage.configure({ servers: { up: named, other: named } });
  await approve(stage.workspace);
  await stage.configure({ servers: { other: named } });
  // It stays approved until the operator says that it is gone.
  expect((await judge(stage.workspace)).removed).toEqual(['up']);
  await approve(stage.workspace);
  expect((await judge(stage.workspace)).removed).toEqual([]);
  await stage.configure({ servers: { up: named, other: { ...named, enabled: false } } });
  expect(waits(await judge(stage.workspace))).toEqual(['up', 'other']);
  expect(statesOf(await judge(stage.workspace))).toEqual(['untrusted', 'ready']);
  await approve(stage.workspace, isServer('other'));
  await stage.configure({ servers: { up: named, other: named } });
  const judged = await judge(stage.workspace);
  expect(waits(judged)).toEqual(['up', 'other']);
  const other = judged.configuration.servers.get('other');
  expect(other?.kind === 'ready' && other.spec.enabled).toBe(false);
});

test(verifies('trust:latest', 'a version that is replaced while others are on disk is not compared with'), async () => {
  const { stage } = await onBranch('main');
  await stage.configure(open);
  await approve(stage.workspace);
  await stage.start(open, stored);
  expect(await stage.names()).toEqual(['up_look', 'up_write']);
  // The operator approves stricter rules, and somebody else writes again before the hub has looked.
  const changes = await changesOf(stage.workspace);
  await stage.configure(strict);
  const loaded = await load(stage.workspace);
  await stage.configure({ servers: { up: named }, policies: { tools: { 'up.other': 'deny' } } });
  await changes.approve(loaded, changes.itemsOf(loaded), 'command');
  await stage.hub.reload([]);
  await eventually(() => pendingOf(stage).includes('changed policy'), 'the change');
  await stage.hub.reload();
  expect(await stage.names()).toEqual(['up_look']);
});

test(verifies('trust:quiet', 'each branch has its own version, and a new branch has all of them'), async () => {
  const { stage, switchTo } = await onBranch('main');
  await stage.configure(strict);
  await approve(stage.workspace);
  switchTo('loose');
  expect(waits(await judge(stage.workspace))).toEqual([]);
  await stage.configure(open);
  expect(waits(await judge(stage.workspace))).toEqual(['policy']);
  await approve(stage.workspace);
  switchTo('main');
  expect(waits(await judge(stage.workspace))).toEqual(['policy']);
  await stage.configure(strict);
  expect(waits(await judge(stage.workspace))).toEqual([]);
  switchTo('new');
  for (const config of [strict, open]) {
    await stage.configure(config);
    expect(waits(await judge(stage.workspace))).toEqual([]);
  }
  // A version that was replaced on its branch counts on no other either.
  switchTo('loose');
  await stage.configure(strict);
  await approve(stage.workspace);
  switchTo('new');
  await stage.configure(open);
  expect(waits(await judge(stage.workspace))).toEqual(['policy']);
});

test(verifies('trust:quiet', 'a running hub follows the switch of a branch'), async () => {
  const { stage, switchTo } = await onBranch('main');
  await stage.configure(strict);
  await approve(stage.workspace);
  switchTo('loose');
  await stage.configure(open);
  await approve(stage.workspace);
  await stage.open(stored);
  expect(await stage.names()).toEqual(['up_look', 'up_write']);
  switchTo('main');
  await eventually(async () => !(await stage.names()).includes('up_write'), 'the branch of the stricter rules');
  expect(pendingOf(stage)).toEqual(['changed policy']);
  switchTo('loose');
  await eventually(async () => (await stage.names()).includes('up_write'), 'the branch of the open rules');
});

test(
  verifies('trust:quiet', 'commits without a branch, and HEAD that says nothing, are branches of their own'),
  async () => {
    const { stage, switchTo } = await onBranch('main');
    const git = gitIn(stage.workspace);
    await stage.configure(strict);
    await approve(stage.workspace);
    git('commit', '-q', '--allow-empty', '-m', 'one');
    git('checkout', '-q', '--detach');
    expect(waits(await judge(stage.workspace))).toEqual([]);
    await stage.configure(open);
    await approve(stage.workspace);
    git('commit', '-q', '--allow-empty', '-m', 'two');
    expect(waits(await judge(stage.workspace))).toEqual([]);
    switchTo('main');
    expect(waits(await judge(stage.workspace))).toEqual(['policy']);
    // Neither a pipe nor a huge file keeps anybody waiting.
    const head = stage.path('.git/HEAD');
    await rm(head);
    execFileSync('mkfifo', [head]);
    expect(waits(await judge(stage.workspace))).toEqual([]);
    await rm(head);
    await writeFile(head, `ref: refs/heads/${'x'.repeat(5000)}`);
    expect(waits(await judge(stage.workspace))).toEqual([]);
  },
);

test(
  verifies('trust:latest', 'earlier versions are forgotten on every branch, and approvals are taken back'),
  async () => {
    const { stage, switchTo } = await onBranch('main');
    await stage.configure({ ...open, servers: { up: limited } });
    await approve(stage.workspace);
    switchTo('strict');
    await stage.configure(strict);
    await approve(stage.workspace);
    await (await changesOf(stage.workspace)).revokeEarlier({ servers: undefined, rules: true });
    for (const branch of ['main', 'new']) {
      switchTo(branch);
      await stage.configure(strict);
      expect(waits(await judge(stage.workspace)), branch).toEqual([]);
      await stage.configure({ ...open, servers: { up: limited } });
      expect(waits(await judge(stage.workspace)), branch).toEqual(['up', 'policy']);
    }
    await (await changesOf(stage.workspace)).revoke(['up']);
    for (const branch of ['main', 'strict', 'new']) {
      switchTo(branch);
      await stage.configure(strict);
      expect(statesOf(await judge(stage.workspace)), branch).toEqual(['untrusted']);
    }
  },
);

test(verifies('trust:latest', 'approvals from before branches count, the newest of each item'), async () => {
  const { stage } = await onBranch('main');
  const hashes = async (config: typeof open): Promise<readonly string[]> => {
    await stage.configure(config);
    const loaded = await load(stage.workspace);
    return (await changesOf(stage.workspace)).itemsOf(loaded).map(({ hash }) => hash);
  };
  const versions = [await hashes({ servers: { up: limited } } as never), await hashes(open), await hashes(strict)];
  const approved = versions.flatMap(([up, policy], at) => [
    { hash: up, kind: 'server', name: 'up', at, how: 'command' },
    { hash: policy, kind: 'policy', name: '', at, how: 'command' },
  ]);
  const document = { version: 1, approved, declined: [], servers: {} };
  const { trust, folder } = layoutOf(stage.workspace);
  await mkdir(folder, { recursive: true });
  await writeFile(trust, JSON.stringify(document), { mode: 0o600 });
  await stage.configure(strict);
  expect(waits(await judge(stage.workspace))).toEqual([]);
  await stage.configure(open);
  expect(waits(await judge(stage.workspace))).toEqual(['policy']);
  await approve(stage.workspace);
  await stage.configure(strict);
  expect(waits(await judge(stage.workspace))).toEqual(['policy']);
});

test(verifies('trust:openings', 'rules of a repository that nobody approved only restrict'), async () => {
  const stage = await openStage();
  const serve = { allowedHosts: ['evil.example'], allowedOrigins: ['https://evil.example'] };
  await stage.configure({ ...strict, serve, allowPaths: ['/'] });
  const before = await judge(stage.workspace);
  expect(waits(before)).toEqual(['up', 'policy']);
  expect(before.pending.at(-1)).toMatchObject({ change: 'new' });
  expect(before.configuration.serve).toMatchObject({ allowedHosts: [], allowedOrigins: [] });
  expect(before.configuration.allowPaths).toEqual([]);
  expect(before.approved).toEqual([]);
  // A person at a terminal answers for each; an approved server without approved rules is of no use to anybody.
  const changes = await changesOf(stage.workspace);
  const loaded = await load(stage.workspace);
  await changes.approve(loaded, changes.itemsOf(loaded).filter(isServer('up')), 'terminal');
  await stage.open(stored);
  expect(await stage.names()).toEqual([]);
  expect(stage.hub.configurationNotices()[0]?.message).toContain('until then agents may use nothing');
  await approve(stage.workspace);
  await eventually(async () => (await stage.names()).length > 0, 'the approved rules');
  expect(stage.hub.configuration.serve.allowedHosts).toEqual(['evil.example']);
});

test(verifies('trust:openings', 'paths to keys are not opened while rules wait'), async () => {
  const stage = await openStage();
  await stage.configure({ ...open, allowPaths: ['/one', '/two'] });
  await approve(stage.workspace);
  await stage.configure({ ...open, allowPaths: ['/two', '/three'] });
  expect((await judge(stage.workspace)).configuration.allowPaths).toEqual(['/two']);
});

test(verifies('trust:quiet', 'a repository inside a worktree is none of its main checkout'), async () => {
  const { stage } = await onBranch('main');
  await stage.configure(open);
  await put(stage, 'inner/quartermaster.yaml', JSON.stringify(open));
  await approve(join(stage.workspace, 'inner'));
  const git = gitIn(stage.workspace);
  git('add', '-A');
  git('commit', '-qm', 'one');
  const tree = join(stage.workspace, 'tree');
  git('worktree', 'add', '-q', tree, '-b', 'tree');
  expect(statesOf(await judge(join(tree, 'inner')))).toEqual(['ready']);
  gitIn(join(tree, 'inner'))('init', '-q');
  expect(statesOf(await judge(join(tree, 'inner')))).toEqual(['untrusted']);
});
