import { access, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import {
  stateBackupSchema,
  stateMovedSchema,
  statePathSchema,
  statePrunedSchema,
  stateRestoredSchema,
} from '../../../src/faces/cli/state-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult, runQm, serveQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const echo = { servers: { echo: stdioServer('echo-stdio.mjs') } };

const state = (workspace: string, ...args: string[]): Promise<QmResult> =>
  runHere(['state', ...args], { cwd: workspace });

async function issue(workspace: string): Promise<void> {
  expect((await runHere(['token', 'issue', '--agent', 'tester'], { cwd: workspace })).code).toBe(0);
}

async function tokensOf(workspace: string): Promise<number> {
  const { stdout } = await runHere(['token', 'ls', '--json'], { cwd: workspace });
  return (JSON.parse(stdout) as unknown[]).length;
}

async function backupName(): Promise<string> {
  const folder = await makeWorkspace();
  return join(folder, 'copy');
}

test(
  verifies('state:outside', 'the path is the same through a link, and no command writes into the workspace'),
  async () => {
    const workspace = await makeWorkspace(echo);
    const { stdout } = await state(workspace, 'path', '--json');
    const { folder, home, workspace: path } = statePathSchema.parse(JSON.parse(stdout));
    expect([path, dirname(dirname(folder))]).toEqual([workspace, home]);
    const link = `${workspace}-link`;
    await symlink(workspace, link);
    onTestFinished(() => rm(link));
    expect((await state(link, 'path')).stdout).toBe(`${folder}\n`);
    await issue(workspace);
    const called = await runQm(['call', 'echo.add', 'a=1', 'b=2', '--agent', 'tester', '--workspace', workspace]);
    expect(called).toMatchObject({ code: 0, stdout: '3\n' });
    expect((await readdir(workspace)).sort()).toEqual(['.runs', 'quartermaster.yaml']);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  },
);

test.each([
  [{ QM_STATE_DIR: 'here' }, /QM_STATE_DIR is "here", which is not an absolute path\./],
  [{ QM_STATE_DIR: '', HOME: '', XDG_STATE_HOME: 'relative' }, /no folder for the state of the hub: HOME is not set/],
])(verifies('state:outside', 'without a usable folder there is an error and no fallback: %j'), async (env, says) => {
  const workspace = await makeWorkspace(echo);
  const { code, stdout, stderr } = await runHere(['token', 'ls'], { cwd: workspace, env });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toMatch(says);
  expect(stderr).toContain('QM_STATE_DIR');
  expect(await readdir(workspace)).toEqual(['quartermaster.yaml']);
});

test(verifies('state:outside', 'a state folder in the workspace is refused, also by a link'), async () => {
  const workspace = await makeWorkspace(echo);
  const link = `${workspace}-link`;
  await symlink(workspace, link);
  onTestFinished(() => rm(link));
  const run = (folder: string, more: Record<string, string> = {}): Promise<QmResult> =>
    runHere(['token', 'issue', '--agent', 'tester'], { cwd: workspace, env: { QM_STATE_DIR: folder, ...more } });
  for (const folder of [workspace, join(workspace, '.state'), join(link, 'some', 'state')]) {
    const refused = await run(folder);
    expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('is in the workspace') });
  }
  expect(await readdir(workspace)).toEqual(['quartermaster.yaml']);
  expect(await run(join(workspace, '.state'), { QM_STATE_IN_WORKSPACE: '1' })).toMatchObject({ code: 0 });
  expect(await run(`${workspace}.state`)).toMatchObject({ code: 0 });
  await rm(`${workspace}.state`, { recursive: true });
});

test(verifies('state:backup', 'a backup brings the tokens back, and what was there is kept'), async () => {
  const workspace = await makeWorkspace(echo);
  const copy = await backupName();
  const empty = await state(workspace, 'backup', copy);
  expect(empty).toMatchObject({ code: 2, stdout: '' });
  expect(empty.stderr).toContain('There is no state');
  await issue(workspace);
  const { file } = stateBackupSchema.parse(JSON.parse((await state(workspace, 'backup', copy, '--json')).stdout));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const taken = await state(workspace, 'backup', copy);
  expect(taken.stderr).toContain('Choose a name that is not taken.');
  await issue(workspace);
  expect(await tokensOf(workspace)).toBe(2);

  const asked = await state(workspace, 'restore', copy);
  expect(asked).toMatchObject({ code: 2, stdout: '' });
  expect(await tokensOf(workspace)).toBe(2);
  const restored = await state(workspace, 'restore', copy, '--yes', '--json');
  const { folder, before } = stateRestoredSchema.parse(JSON.parse(restored.stdout));
  expect(await tokensOf(workspace)).toBe(1);
  expect(JSON.parse(await readFile(join(folder, before, 'tokens.json'), 'utf8'))).toMatchObject({ version: 1 });
});

test(verifies('state:backup', 'a backup goes into no workspace and no git checkout unless forced'), async () => {
  const workspace = await makeWorkspace(echo);
  await issue(workspace);
  const checkout = await makeWorkspace();
  await mkdir(join(checkout, '.git'));
  await mkdir(join(checkout, 'below'));
  const link = `${checkout}-link`;
  await symlink(workspace, link);
  onTestFinished(() => rm(link));
  for (const file of ['copy', join(checkout, 'below', 'copy'), join(link, 'missing', 'copy')]) {
    const refused = await state(workspace, 'backup', file);
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('A backup contains keys.') });
  }
  expect(await readdir(workspace)).not.toContain('copy');
  expect(await state(workspace, 'backup', 'copy', '--force')).toMatchObject({ code: 0 });
});

test(
  verifies('state:backup', 'a backup that was changed is refused, and one from elsewhere needs a word'),
  async () => {
    const workspace = await makeWorkspace(echo);
    await issue(workspace);
    const [copy, changed] = [await backupName(), await backupName()];
    expect((await state(workspace, 'backup', copy)).code).toBe(0);
    const archive = JSON.parse(gunzipSync(await readFile(copy)).toString('utf8')) as Record<string, unknown>;
    await writeFile(changed, gzipSync(JSON.stringify({ ...archive, created: '2020-01-01T00:00:00.000Z' })));
    const { code: _code, ...earlier } = archive;
    const unsigned = await backupName();
    await writeFile(unsigned, gzipSync(JSON.stringify({ ...earlier, version: 1 })));
    await issue(workspace);
    const elsewhere = { QM_STATE_DIR: join(dirname(copy), 'other-state') };
    for (const [file, env] of [[changed], [unsigned], [copy, elsewhere]] as const) {
      const options = { cwd: workspace, ...(env === undefined ? {} : { env }) };
      const refused = await runHere(['state', 'restore', file, '--yes'], options);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('add --unverified') });
    }
    expect(await tokensOf(workspace)).toBe(2);
    const agreed = await state(workspace, 'restore', unsigned, '--yes', '--unverified');
    expect(agreed.stderr).toContain('tokens.json: tokens that agents connect with');
    expect(await tokensOf(workspace)).toBe(1);
  },
);

test('nothing but a backup is restored, and nothing beside a running hub', async () => {
  const workspace = await makeWorkspace(echo);
  await issue(workspace);
  const file = (path: unknown): object => ({ path, data: Buffer.from('x').toString('base64') });
  const archive = { quartermaster: 'state', version: 1, workspace: '/', created: '', files: [] as object[] };
  const bad: Buffer[] = [
    Buffer.from('text'),
    gzipSync('{}'),
    ...[['..', 'x'], ['a/b'], ['.hidden'], []].map((path) =>
      gzipSync(JSON.stringify({ ...archive, files: [file(path)] })),
    ),
  ];
  for (const bytes of bad) {
    await writeFile(join(workspace, 'bad'), bytes);
    const { code, stderr } = await state(workspace, 'restore', 'bad', '--yes');
    expect(stderr).toContain('is not a backup');
    expect(code).toBe(2);
  }
  expect((await state(workspace, 'restore', 'missing', '--yes')).stderr).toContain('(ENOENT)');
  expect(await tokensOf(workspace)).toBe(1);

  const copy = await backupName();
  expect((await state(workspace, 'backup', copy)).code).toBe(0);
  const hub = await serveQm(workspace);
  const beside = await state(workspace, 'restore', copy, '--yes');
  expect(beside.stderr).toContain(`process ${hub.pid}`);
  expect(beside.code).toBe(1);
  hub.signal('SIGTERM');
  expect((await hub.ended()).code).toBe(0);
}, 60_000);

test('a workspace that was moved gets its state back', async () => {
  const base = await makeWorkspace();
  const [first, second] = [join(base, 'first'), join(base, 'second')];
  await mkdir(first);
  await issue(first);
  await rename(first, second);
  const warned = await runHere(['call', 'echo.add', '--agent', 'a', '--log-level', 'warn'], { cwd: second });
  expect(warned.stderr).toContain('Run `qm state move`');
  expect(await tokensOf(second)).toBe(0);
  const { from } = stateMovedSchema.parse(JSON.parse((await state(second, 'move', '--yes', '--json')).stdout));
  expect(from).toBe(first);
  expect(await tokensOf(second)).toBe(1);
  const again = await state(second, 'move', '--yes');
  expect(again).toMatchObject({ code: 2 });
  expect(again.stderr).toContain('No state of this workspace is kept under another path.');
});

test('a workspace with secrets of its own keeps them when it could take over an earlier state', async () => {
  const base = await makeWorkspace();
  const [first, second] = [join(base, 'first'), join(base, 'second')];
  await mkdir(first);
  await issue(first);
  await rename(first, second);
  const env = { KEY: 'value-of-key-01' };
  expect((await runHere(['secret', 'set', '--from-env', 'KEY'], { cwd: second, env })).code).toBe(0);
  const refused = await state(second, 'move', '--yes');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('already has tokens or secrets') });
  const { stdout } = await runHere(['secret', 'ls'], { cwd: second });
  expect(stdout).toContain('KEY');
});

test('prune deletes the state of folders that are gone, after a yes', async () => {
  const base = await makeWorkspace();
  const [gone, kept] = [join(base, 'gone'), join(base, 'kept')];
  const env = { QM_STATE_DIR: join(base, 'own-state') };
  for (const workspace of [gone, kept]) {
    await mkdir(workspace);
    await runHere(['token', 'issue', '--agent', 'tester'], { cwd: workspace, env });
  }
  const folder = (await runHere(['state', 'path'], { cwd: gone, env })).stdout.trim();
  await rm(gone, { recursive: true });
  const asked = await runHere(['state', 'prune'], { cwd: kept, env });
  expect(asked).toMatchObject({ code: 2, stdout: '' });
  expect(asked.stderr).toContain(gone);
  await access(folder);
  const { stdout } = await runHere(['state', 'prune', '--yes', '--json'], { cwd: kept, env });
  expect(statePrunedSchema.parse(JSON.parse(stdout))).toEqual({ removed: [{ folder, workspace: gone }] });
  await expect(access(folder)).rejects.toThrow('ENOENT');
  expect((await runHere(['state', 'prune'], { cwd: kept, env })).stderr).toContain('Every workspace with state');
  expect((await runHere(['token', 'ls', '--json'], { cwd: kept, env })).stdout).toContain('tester');
});
