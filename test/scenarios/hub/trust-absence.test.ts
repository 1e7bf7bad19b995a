// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { removeState } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
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

/** A clone without rules was approved, then rules were added and approved. */
async function withLaterDeny(): Promise<Stage> {
  const stage = await openStage();
  await put(stage, '.mcp.json', JSON.stringify({ mcpServers: { up: named } }));
  await approve(stage.workspace, isServer('up'));
  await stage.configure('policies: { tools: { up.write: deny } }\n');
  await approve(stage.workspace);
  return stage;
}

test.each([
  ['missing', undefined],
  ['empty', ''],
  ['a comment', '# nothing\n'],
])(verifies('trust:rights', 'rules that were approved stay when their file is %s at the start'), async (_, text) => {
  const stage = await withLaterDeny();
  if (text === undefined) await rm(stage.path('quartermaster.yaml'));
  else await stage.configure(text);
  await stage.open(stored);
  expect(await stage.names()).toEqual(['up_look']);
  expect(await stage.call('up_write')).toMatchObject({ kind: 'failed', error: { code: 'TOOL_UNKNOWN' } });
  expect(stage.hub.configurationNotices()[0]?.message).toMatch(
    /^Still using the configuration from .*quartermaster.yaml/,
  );
  expect(stage.log.some((line) => line.includes('config.retained'))).toBe(true);
  // Taking up the files as they are does not bring the earlier rules back either; approving them does.
  await stage.hub.reload();
  expect(pendingOf(stage)).toEqual(['changed policy']);
  expect(await stage.names()).toEqual(['up_look']);
  await approve(stage.workspace);
  await stage.stop();
  await stage.open(stored);
  expect(await stage.names()).toEqual(['up_look', 'up_write']);
  expect(stage.hub.configurationNotices()).toEqual([]);
});

test(verifies('trust:rights', 'a file that says nothing any more does not bring earlier rules back'), async () => {
  const stage = await withLaterDeny();
  for (const text of ['version: 1\n', 'agents: {}\n']) {
    await stage.start(text, stored);
    expect(pendingOf(stage)).toEqual(['changed policy']);
    expect(await stage.names()).toEqual(['up_look']);
    await stage.stop();
  }
});

test(verifies('trust:rights', 'rules whose file cannot be read at the start stay as they were approved'), async () => {
  const stage = await withLaterDeny();
  await rm(stage.path('quartermaster.yaml'));
  await mkdir(stage.path('quartermaster.yaml'));
  await stage.open(stored);
  expect(await stage.names()).toEqual(['up_look']);
  expect(stage.hub.configurationNotices()[0]?.message).toContain('Still using the configuration from');
});

test(
  verifies('trust:changed', 'an environment file that vanished does not bring an earlier version back'),
  async () => {
    const stage = await openStage();
    const server = { ...named, env: { READ_ONLY: '${READ_ONLY:-0}' } };
    await stage.configure({ servers: { up: server } });
    await approve(stage.workspace);
    await put(stage, '.env', 'READ_ONLY=1\n');
    await approve(stage.workspace);
    await rm(stage.path('.env'));
    const judged = await judge(stage.workspace);
    expect(waits(judged)).toEqual(['up']);
    const up = judged.configuration.servers.get('up');
    expect(up?.kind === 'ready' && up.spec.transport).toMatchObject({ env: { READ_ONLY: '1' } });
    await approve(stage.workspace);
    expect(waits(await judge(stage.workspace))).toEqual([]);
  },
);

test(verifies('trust:quiet', 'an approved branch with other files asks nothing'), async () => {
  const stage = await openStage();
  const git = gitIn(stage.workspace);
  git('init', '-q', '-b', 'one');
  const other = stdioServer('named-tools.mjs', ['look']);
  await stage.configure({ servers: { up: named } });
  await approve(stage.workspace);
  git('symbolic-ref', 'HEAD', 'refs/heads/two');
  await stage.configure({ servers: { up: other } });
  await put(stage, '.mcp/servers/more.json', JSON.stringify({ name: 'more', ...named }));
  await approve(stage.workspace);
  await rm(stage.path('.mcp'), { recursive: true });
  git('symbolic-ref', 'HEAD', 'refs/heads/one');
  await stage.start({ servers: { up: named } }, stored);
  expect(pendingOf(stage)).toEqual([]);
  expect(stage.hub.configurationNotices()).toEqual([]);
  expect(await stage.names()).toEqual(['up_look', 'up_write']);
});

test(verifies('trust:rights', 'approving a server in a worktree approves no rules that wait there'), async () => {
  const stage = await openStage();
  const git = gitIn(stage.workspace);
  await stage.configure({ servers: { up: named }, policies: { tools: { 'up.write': 'deny' } } });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'one');
  const tree = `${stage.workspace}-tree`;
  onTestFinished(async () => {
    await rm(tree, { recursive: true, force: true });
    await removeState(tree);
  });
  git('worktree', 'add', '-q', tree);
  await approve(stage.workspace);
  await writeFile(`${tree}/quartermaster.yaml`, JSON.stringify({ servers: { up: named, more: named } }));
  expect(waits(await judge(tree))).toEqual(['more', 'policy']);
  await approve(tree, isServer('more'));
  expect(waits(await judge(tree))).toEqual(['policy']);
});

test(verifies('trust:ask', 'another folder at the same path has no approvals of the one before'), async () => {
  const stage = await openStage();
  const config = { servers: { up: named }, policies: { tools: { 'up.write': 'deny' } } };
  await stage.configure(config);
  await approve(stage.workspace);
  expect(statesOf(await judge(stage.workspace))).toEqual(['ready']);
  await rename(stage.workspace, `${stage.workspace}-old`);
  onTestFinished(() => rm(`${stage.workspace}-old`, { recursive: true, force: true }));
  await mkdir(stage.workspace);
  await stage.configure(config);
  const judged = await judge(stage.workspace);
  expect(statesOf(judged)).toEqual(['untrusted']);
  expect(judged.replaced).toBe(true);
  // The rules of before still limit what this folder may widen.
  await stage.configure({ servers: { up: named } });
  expect(waits(await judge(stage.workspace))).toEqual(['up', 'policy']);
  await approve(stage.workspace);
  const again = await judge(stage.workspace);
  expect([statesOf(again), again.replaced]).toEqual([['ready'], undefined]);
});

test(verifies('trust:ask', 'declining the approved version ends it, and declining a change does not'), async () => {
  const stage = await openStage();
  await stage.configure({ servers: { up: named } });
  await approve(stage.workspace);
  const changes = await changesOf(stage.workspace);
  const declineNow = async (): Promise<void> => {
    const loaded = await load(stage.workspace);
    await changes.decline(loaded, changes.itemsOf(loaded).filter(isServer('up')), 'command');
  };
  await stage.configure({ servers: { up: stdioServer('named-tools.mjs', ['drop']) } });
  await declineNow();
  expect(statesOf(await judge(stage.workspace))).toEqual(['ready']);
  await stage.configure({ servers: { up: named } });
  await declineNow();
  expect(statesOf(await judge(stage.workspace))).toEqual(['untrusted']);
});

test(verifies('trust:all', 'while QM_TRUST is set, no stored approval counts'), async () => {
  const stage = await openStage();
  const config = { servers: { up: named } };
  await stage.configure(config);
  await approve(stage.workspace);
  const QM_TRUST = `sha256:${'0'.repeat(64)}`;
  expect(statesOf(await judge(stage.workspace, { QM_TRUST }))).toEqual(['untrusted']);
  await stage.configure({ servers: { up: stdioServer('named-tools.mjs', ['drop']) } });
  expect(statesOf(await judge(stage.workspace, { QM_TRUST }))).toEqual(['untrusted']);
});

test(verifies('trust:ask', 'a script that changed is named as the change'), async () => {
  const { changedLines } = await import('../../../src/trust/index.ts');
  const stage = await openStage();
  await put(stage, 'server.mjs', '1');
  await put(stage, '.env', 'WHERE=one\n');
  await stage.configure({
    servers: { up: { command: 'node', args: ['server.mjs'], env: { WHERE: '${WHERE}' } } },
  });
  await approve(stage.workspace);
  await put(stage, 'server.mjs', '2');
  await put(stage, '.env', 'WHERE=two\n');
  const [change] = (await judge(stage.workspace)).pending;
  const lines = change === undefined ? [] : changedLines(change.before, change.item);
  expect(lines).toEqual([
    expect.stringMatching(/^- file server\.mjs: [0-9a-f]{16}$/),
    expect.stringMatching(/^\+ file server\.mjs: [0-9a-f]{16}$/),
    '+ another value from a file of the workspace: WHERE',
  ]);
});
