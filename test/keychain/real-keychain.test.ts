// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { secretListSchema, secretRotatedSchema } from '../../src/faces/cli/state-shapes.ts';
import { makeWorkspace, type QmResult, runQm, serveQm, startQm } from '../scenarios/qm.fixture.ts';
import { stdioServer } from '../support/hub.ts';
import { layoutOf } from '../support/state-home.ts';
import { verifies } from '../support/verifies.ts';
import { type Desktop, openDesktop } from './desktop.fixture.ts';

const value = 'sesame-4711-open';

interface Stage extends Desktop {
  readonly workspace: string;
  qm(args: readonly string[], input?: string): Promise<QmResult>;
  /** What a program of the workspace gets. */
  use(): Promise<QmResult>;
  list(): Promise<ReturnType<typeof secretListSchema.parse>>;
}

async function openStage(): Promise<Stage> {
  const desktop = await openDesktop();
  await desktop.unlock();
  const workspace = await makeWorkspace({
    servers: { echo: stdioServer('echo-stdio.mjs', [], { env: { API_TOKEN: '${KEY}' } }) },
  });
  const qm = (args: readonly string[], input = ''): Promise<QmResult> =>
    runQm([...args, '--workspace', workspace], { env: desktop.env, input });
  return {
    ...desktop,
    workspace,
    qm,
    use: () => qm(['call', 'echo.env', 'name=API_TOKEN', '--agent', 'a', '--foreground']),
    list: async () => secretListSchema.parse(JSON.parse((await qm(['secret', 'ls', '--json'])).stdout)),
  };
}

test(verifies('secrets:keychain', 'a real keychain has the key, also at the next login'), async () => {
  const { qm, use, list, workspace, unlock } = await openStage();
  const set = await qm(['secret', 'set', 'KEY'], value);
  expect(set).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('The key that encrypts stored values is in the keychain'),
  });
  expect(await list()).toMatchObject({ key: 'keychain', secrets: [{ name: 'KEY', servers: ['echo'] }] });
  expect(await use()).toMatchObject({ code: 0, stdout: `${value}\n` });
  const layout = layoutOf(workspace);
  expect(existsSync(layout.secretKeys)).toBe(false);
  for (const file of (await readdir(layout.folder, { withFileTypes: true })).filter((each) => each.isFile())) {
    expect(await readFile(join(layout.folder, file.name), 'utf8')).not.toContain('sesame');
  }
  await unlock();
  expect(await use()).toMatchObject({ code: 0, stdout: `${value}\n` });
});

test(verifies('secrets:keychain', 'a hub reads it, and takes up what the command line stores'), async () => {
  const { qm, env, workspace } = await openStage();
  await qm(['secret', 'set', 'KEY'], value);
  const hub = await serveQm(workspace, { env });
  const call = (): Promise<QmResult> => qm(['call', 'echo.env', 'name=API_TOKEN', '--agent', 'a']);
  expect(await call()).toMatchObject({ stdout: `${value}\n` });
  const replaced = await qm(['secret', 'set', 'KEY'], 'second-value-0002');
  expect(replaced.stderr).toContain('has applied the change');
  expect(await call()).toMatchObject({ stdout: 'second-value-0002\n' });
  await qm(['secret', 'rotate']);
  await qm(['secret', 'set', 'KEY'], 'third-value-0003');
  expect(await call()).toMatchObject({ stdout: 'third-value-0003\n' });
  hub.signal('SIGTERM');
  await hub.ended();
});

/** Nothing works, nothing changes, and the message says why. */
async function expectRefused({ qm, use, workspace }: Stage, says: RegExp): Promise<void> {
  const { secrets } = layoutOf(workspace);
  const before = await readFile(secrets, 'utf8');
  for (const args of [['ls'], ['set', 'OTHER'], ['rm', 'KEY'], ['rotate'], ['rotate', '--key-file']]) {
    const { code, stdout, stderr } = await qm(['secret', ...args], 'x');
    expect({ args, code: code === 0, stdout }).toEqual({ args, code: false, stdout: '' });
    expect(stderr).toMatch(says);
  }
  expect(await use()).toMatchObject({ code: 3, stderr: expect.stringMatching(says) });
  expect(await readFile(secrets, 'utf8')).toBe(before);
  expect(existsSync(layoutOf(workspace).secretKeys)).toBe(false);
}

test(verifies('secrets:keychain-refuses', 'a locked keychain'), async () => {
  const stage = await openStage();
  await stage.qm(['secret', 'set', 'KEY'], value);
  await stage.lock();
  await expectRefused(stage, /The keychain cannot be used/);
  await stage.unlock();
  expect(await stage.use()).toMatchObject({ stdout: `${value}\n` });
});

test(verifies('secrets:keychain-refuses', 'a keychain that was replaced by a new one'), async () => {
  const stage = await openStage();
  await stage.qm(['secret', 'set', 'KEY'], value);
  await stage.lock();
  await rm(join(stage.home, '.local', 'share', 'keyrings'), { recursive: true });
  await stage.unlock();
  await expectRefused(stage, /their key [0-9a-f]{16} is not in the keychain/);
});

test(verifies('secrets:keychain-refuses', 'a keychain that does not answer'), async () => {
  const stage = await openStage();
  await stage.qm(['secret', 'set', 'KEY'], value);
  stage.freeze();
  const { code, stderr } = await stage.qm(['secret', 'ls']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('The keychain cannot be used') });
  stage.thaw();
  expect(await stage.use()).toMatchObject({ stdout: `${value}\n` });
});

test(verifies('secrets:keychain-refuses', 'a session without D-Bus'), async () => {
  const { qm, workspace } = await openStage();
  await qm(['secret', 'set', 'KEY'], value);
  const away = await runQm(['secret', 'ls', '--workspace', workspace], { env: { QM_KEYCHAIN: '' } });
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('this session has no D-Bus') });
});

test(verifies('secrets:key-moves', 'between a real keychain and the file'), async () => {
  const { qm, use, list, workspace } = await openStage();
  await qm(['secret', 'set', 'KEY'], value);
  const moved = await qm(['secret', 'rotate', '--key-file', '--json']);
  expect(secretRotatedSchema.parse(JSON.parse(moved.stdout))).toEqual({ secrets: 1, key: 'file', left: null });
  expect(existsSync(layoutOf(workspace).secretKeys)).toBe(true);
  expect(await use()).toMatchObject({ stdout: `${value}\n` });
  await qm(['secret', 'rotate', '--keychain']);
  expect(existsSync(layoutOf(workspace).secretKeys)).toBe(false);
  expect(await list()).toMatchObject({ key: 'keychain' });
  expect(await use()).toMatchObject({ stdout: `${value}\n` });
});

test('a backup says that it has no key, and the key goes with a workspace that is pruned', async () => {
  const { qm, env, keychain, workspace, home } = await openStage();
  const gone = join(workspace, 'gone');
  await mkdir(gone);
  const own = { ...env, QM_STATE_DIR: join(home, 'state') };
  const there = (args: readonly string[]): Promise<QmResult> =>
    runQm([...args, '--workspace', gone], { env: own, input: value });
  expect((await there(['secret', 'set', 'KEY'])).stderr).toContain('in the keychain');
  const backup = await there(['state', 'backup', join(home, 'copy')]);
  expect(backup).toMatchObject({ code: 0, stderr: expect.stringContaining('qm secret rotate --key-file') });
  const { folder } = JSON.parse((await there(['state', 'path', '--json'])).stdout) as { folder: string };
  const { store } = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')) as { store: string };
  expect(await keychain.read(`secrets of store ${store}`)).toContain('"keys"');
  await rm(gone, { recursive: true });
  await runQm(['state', 'prune', '--yes', '--workspace', workspace], { env: own });
  expect(existsSync(folder)).toBe(false);
  expect(await keychain.read(`secrets of store ${store}`)).toBeUndefined();
  expect((await qm(['secret', 'ls'])).code).toBe(0);
});

test(verifies('secrets:key-moves', 'a process that is killed while it moves the key loses nothing'), async () => {
  const { qm, env, use, workspace } = await openStage();
  await qm(['secret', 'set', 'KEY'], value);
  const started = performance.now();
  await qm(['secret', 'rotate', '--key-file']);
  const tookMs = performance.now() - started;
  for (let round = 0; round < 12; round += 1) {
    const to = round % 2 === 0 ? '--keychain' : '--key-file';
    const running = startQm(['secret', 'rotate', to, '--workspace', workspace], { env });
    // Spread over all of its steps.
    await new Promise((done) => setTimeout(done, (tookMs * (round + 1)) / 12));
    running.signal('SIGKILL');
    await running.ended();
    expect(await use()).toMatchObject({ code: 0, stdout: `${value}\n` });
  }
});
