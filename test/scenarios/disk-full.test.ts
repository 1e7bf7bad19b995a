import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { readCalls } from '../../src/ledger/index.ts';
import { fixturePath } from '../support/fixture-servers.ts';
import { openSession, servedWorkspace } from '../support/served-hub.ts';
import { verifies } from '../support/verifies.ts';
import { eventually } from '../support/within.ts';

const run = promisify(execFile);

/** A real file system of two megabytes; mounting needs root, without which a directory quota is imitated by nobody. */
async function tinyDisk(): Promise<string | undefined> {
  const folder = join(tmpdir(), `qm-disk-${process.pid}`);
  await mkdir(folder, { recursive: true });
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', folder]);
  } catch {
    await rm(folder, { recursive: true });
    return undefined;
  }
  onTestFinished(async () => {
    await run('umount', ['-l', folder]);
    await rm(folder, { recursive: true });
  });
  return folder;
}

test(verifies(
  'journal:disk-full',
  'a full disk refuses calls clearly and nothing runs; space brings the hub back by itself',
), async () => {
  const disk = await tinyDisk();
  // Without root there is no small disk; the ledger's own tests inject the same fault everywhere.
  if (disk === undefined) return expect(process.getuid?.()).not.toBe(0);
  const seen = join(tmpdir(), `qm-disk-seen-${process.pid}.jsonl`);
  onTestFinished(() => rm(seen, { force: true }));
  const echo = { command: process.execPath, args: [fixturePath('echo-stdio.mjs')], env: { CALL_LOG: seen } };
  const workspace = await servedWorkspace({ servers: { echo } }, disk);
  const { token } = (await workspace.qm('token', 'issue', '--agent', 'tester', '--run', 'full')) as { token: string };
  const hub = await workspace.serve();
  const client = await openSession(hub.url, token);
  const call = (message: string) => client.call('echo', { message });
  expect((await call('before'))?.result?.content?.[0]?.text).toBe('before');

  await expect(writeFile(join(disk, 'ballast'), Buffer.alloc(4 * 1024 * 1024))).rejects.toThrow(/ENOSPC/);
  const refused = await eventually(async () => {
    const answer = await call('x'.repeat(8000));
    return answer?.error === undefined ? undefined : answer;
  }, 'the disk to be full');
  expect(refused.error).toMatchObject({ data: { code: 'LEDGER_UNAVAILABLE', retryable: true } });
  expect(refused.error?.message).toMatch(/not sent/);

  await rm(join(disk, 'ballast'));
  const back = await eventually(async () => {
    const answer = await call('after');
    return answer?.result === undefined ? undefined : answer;
  }, 'the hub to recover');
  expect(back.result?.content?.[0]?.text).toBe('after');
  await client.close();
  expect(await hub.kill('SIGTERM')).toBe(0);
  const lines = await readCalls(disk, { run: 'full', limit: 10_000 });
  expect(lines.map((line) => (line.args as { message: string }).message)).toEqual(
    expect.arrayContaining(['before', 'after']),
  );
  const sent = lines.filter((line) => line.outcome === 'ok').length;
  const { stdout } = await run('grep', ['-c', '', seen]);
  expect(Number(stdout)).toBe(sent);
}, 60_000);
