// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openStage, stdioServer } from '../../support/hub.ts';
import { layoutOf, removeState } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { approve, changesOf, gitIn, isServer, judge, load, pendingOf, put, statesOf, stored } from './trust.fixture.ts';

const named = stdioServer('named-tools.mjs', ['look', 'write']);
const other = stdioServer('named-tools.mjs', ['look', 'write', 'drop']);

test(verifies('trust:ask', 'nothing of a cloned repository starts, and the trusted servers work'), async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: named, other } }, { ...stored, discover: true });
  expect(stage.status('up').state).toBe('untrusted');
  expect(await stage.names()).toEqual([]);
  expect(await stage.call('up_look')).toMatchObject({ kind: 'failed', error: { code: 'TOOL_UNKNOWN' } });
  expect(stage.children()).toEqual([]);
  expect(pendingOf(stage)).toEqual(['new up', 'new other']);
  expect(stage.log.filter((line) => line.includes('trust.pending'))).toHaveLength(1);

  await approve(stage.workspace, isServer('up'));
  await stage.until('up', 'connected');
  expect(await stage.names()).toEqual(['up_look', 'up_write']);
  expect(stage.status('other').state).toBe('untrusted');
  expect(stage.children()).toHaveLength(1);
  const status = await stage.say('quartermaster_status');
  expect(status).toContain('other is not trusted yet; ask your user to approve the server');
  expect(status).not.toContain('named-tools');
});

test(verifies('trust:changed', 'a changed server goes on as approved, also after a restart'), async () => {
  const stage = await openStage();
  await stage.configure({ servers: { up: named } });
  await approve(stage.workspace);
  await stage.start({ servers: { up: named } }, stored);
  expect(await stage.names()).toEqual(['up_look', 'up_write']);
  const [pid] = stage.children();

  await stage.configure({ servers: { up: other } });
  await eventually(() => pendingOf(stage).includes('changed up'), 'the change');
  expect(stage.children()).toEqual([pid]);
  expect(await stage.names()).toEqual(['up_look', 'up_write']);
  expect(stage.hub.configurationNotices()[0]?.message).toContain('runs as it was approved');

  await stage.start({ servers: { up: other } }, stored);
  expect(await stage.names()).toEqual(['up_look', 'up_write']);

  await approve(stage.workspace);
  await eventually(async () => (await stage.names()).includes('up_drop'), 'the approved change');
  expect(pendingOf(stage)).toEqual([]);

  await stage.configure({ servers: {} });
  await eventually(() => stage.children().length === 0, 'the removed server to stop');
});

test(verifies('trust:rights', 'a deny counts at once beside a server that waits, and nothing widens'), async () => {
  const stage = await openStage();
  const open = { servers: { up: named }, policies: { tools: { 'up.write': 'deny' } } };
  await stage.configure(open);
  await approve(stage.workspace);
  await stage.start(open, stored);
  expect(await stage.names()).toEqual(['up_look']);

  // Everything is opened, beside a new server: nothing takes effect.
  await stage.configure({ servers: { up: named, other } });
  await eventually(() => pendingOf(stage).length === 2, 'the change');
  expect(await stage.names()).toEqual(['up_look']);
  expect(await stage.call('up_write')).toMatchObject({ kind: 'failed', error: { code: 'TOOL_UNKNOWN' } });

  // An urgent deny beside it does.
  await stage.configure({ servers: { up: named, other }, policies: { tools: { 'up.look': 'deny' } } });
  await eventually(async () => !(await stage.names()).includes('up_look'), 'the deny');

  // After a restart the same holds: the approved rules are kept in the state folder.
  await stage.start({ servers: { up: named } }, stored);
  expect(await stage.names()).toEqual(['up_look']);
  await approve(stage.workspace);
  await eventually(async () => (await stage.names()).includes('up_write'), 'the approved rules');
});

test(verifies('trust:rights', 'an agent that removes or empties every file it can reach gains nothing'), async () => {
  const stage = await openStage();
  await put(stage, '.mcp.json', JSON.stringify({ mcpServers: { up: named, secret: named } }));
  const rules = 'agents:\n  tester: { servers: [up], tools: { up: { exclude: [write] } } }\n';
  await stage.configure(rules);
  await approve(stage.workspace);
  for (const damage of ['', 'version: 1\n', 'agents: {}\n', undefined]) {
    await stage.start(rules, stored);
    expect(await stage.names()).toEqual(['up_look']);
    await stage.stop();
    if (damage === undefined) await rm(stage.path('quartermaster.yaml'));
    else await stage.configure(damage);
    await stage.open(stored);
    expect(await stage.names()).toEqual(['up_look']);
    expect(await stage.call('secret_look')).toMatchObject({ kind: 'failed', error: { code: 'TOOL_UNKNOWN' } });
  }
});

test(verifies('trust:rights', 'if the approved rules are lost, everything is denied'), async () => {
  const stage = await openStage();
  const rules = { servers: { up: named }, policies: { tools: { 'up.write': 'deny' } } };
  await stage.configure(rules);
  await approve(stage.workspace);
  await rm(layoutOf(stage.workspace).trustTexts);
  await stage.start(rules, stored);
  expect(await stage.names()).toEqual(['up_look']);
  await stage.start({ servers: { up: named } }, stored);
  expect(await stage.names()).toEqual([]);
});

test(verifies('trust:quiet', 'formatting, approved branches and rotated secrets ask nothing'), async () => {
  const stage = await openStage();
  const one = { servers: { up: { ...named, env: { TOKEN: '${TOKEN}' } } }, agents: { b: { servers: ['up'] } } };
  const two = { servers: { up: { ...other, env: { TOKEN: '${TOKEN}' } } } };
  const env = { TOKEN: 'first-secret' };
  const git = gitIn(stage.workspace);
  git('init', '-q');
  const switchTo = (branch: string): string => git('symbolic-ref', 'HEAD', `refs/heads/${branch}`);
  for (const [branch, config] of Object.entries({ one, two })) {
    switchTo(branch);
    await stage.configure(config);
    const changes = await changesOf(stage.workspace);
    const loaded = await load(stage.workspace, env);
    await changes.approve(loaded, changes.itemsOf(loaded), 'command');
  }
  switchTo('one');
  await stage.start(one, { ...stored, env });
  expect(pendingOf(stage)).toEqual([]);
  switchTo('two');
  await stage.start(two, { ...stored, env: { TOKEN: 'another-secret' } });
  expect(pendingOf(stage)).toEqual([]);
  // Nothing was approved on this one, so that all others count.
  switchTo('three');
  const yaml = `# A comment.\nagents:\n  b:\n    servers: [up]\nservers:\n  up:\n    env: { TOKEN: "\${TOKEN}" }\n`;
  await stage.start(`${yaml}    args: ${JSON.stringify(Object(named).args)}\n    command: ${process.execPath}\n`, {
    ...stored,
    env,
  });
  expect(pendingOf(stage)).toEqual([]);
});

test(
  verifies('trust:ask', 'a value from .env is part of what is approved, and one from the environment is not'),
  async () => {
    const stage = await openStage();
    const config = { servers: { up: { ...named, env: { WHERE: '${WHERE}' } } } };
    await stage.configure(config);
    await put(stage, '.env', 'WHERE=https://good.example\n');
    await approve(stage.workspace);
    await stage.start(config, stored);
    expect(pendingOf(stage)).toEqual([]);
    await put(stage, '.env', 'WHERE=https://evil.example\n');
    await eventually(() => pendingOf(stage).includes('changed up'), 'the change');
    const { trust, trustTexts } = layoutOf(stage.workspace);
    for (const path of [trust, trustTexts]) expect(await readFile(path, 'utf8')).not.toContain('good.example');
  },
);

test(
  verifies('trust:quiet', 'a worktree has the approvals of its main checkout, and a forged one has not'),
  async () => {
    const stage = await openStage();
    const git = gitIn(stage.workspace);
    await stage.configure({ servers: { up: named } });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'one');
    const tree = `${stage.workspace}-tree`;
    const forged = `${stage.workspace}-forged`;
    onTestFinished(async () => {
      await Promise.all([tree, forged].map((folder) => rm(folder, { recursive: true, force: true })));
      await Promise.all([tree, forged].map(removeState));
    });
    git('worktree', 'add', '-q', tree);
    await approve(stage.workspace);
    expect(statesOf(await judge(tree))).toEqual(['ready']);
    await mkdir(forged);
    await writeFile(join(forged, 'quartermaster.yaml'), JSON.stringify({ servers: { up: named } }));
    await writeFile(join(forged, '.git'), `gitdir: ${stage.workspace}/.git/worktrees/${tree.split('/').at(-1)}\n`);
    expect(statesOf(await judge(forged))).toEqual(['untrusted']);
  },
);

test(verifies('trust:files', 'a script that changed after approval is not started'), async () => {
  const stage = await openStage();
  const script = (extra: string): string => `import ${JSON.stringify(fixturePath('echo-stdio.mjs'))};\n// ${extra}\n`;
  await put(stage, 'tools/server.mjs', script('one'));
  const config = { servers: { own: { command: process.execPath, args: ['tools/server.mjs'] } } };
  await stage.configure(config);
  await approve(stage.workspace);
  await stage.start(config, stored);
  expect(await stage.names()).toContain('own_echo');
  const [pid] = stage.children();

  await put(stage, 'tools/server.mjs', script('two'));
  await eventually(() => pendingOf(stage).includes('changed own'), 'the change');
  expect(stage.children()).toEqual([pid]);
  process.kill(pid ?? 0, 'SIGKILL');
  await eventually(() => stage.status('own').error?.includes('changed after approval'), 'the refusal');
  expect(stage.children()).toEqual([]);

  await approve(stage.workspace);
  await stage.hurry(eventually(() => stage.status('own').state === 'connected', 'the approved script'));
});

test(verifies('trust:all', 'QM_TRUST pins exactly what is on disk'), async () => {
  const stage = await openStage();
  const { trustDigest } = await import('../../../src/trust/index.ts');
  await stage.configure({ servers: { up: named } });
  const changes = await changesOf(stage.workspace);
  const digest = await trustDigest(changes.itemsOf(await load(stage.workspace)));
  const env = { QM_TRUST: digest };
  await stage.start({ servers: { up: named } }, { ...stored, env });
  expect(await stage.names()).toEqual(['up_look', 'up_write']);
  await stage.start({ servers: { up: other } }, { ...stored, env });
  expect(stage.status('up').state).toBe('untrusted');
  await expect(stage.start({ servers: {} }, { ...stored, env: { QM_TRUST: 'all' } })).rejects.toMatchObject({
    code: 'USAGE',
  });
});
