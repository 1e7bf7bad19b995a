import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { temporaryWorkspace } from '../files/temporary-workspace.fixture.ts';
import { claimWorkspace } from './workspace-claim.ts';

// By a socket, as on Linux, and by a file in the temporary folder, as elsewhere.
const ways = process.platform === 'linux' ? [false, true] : [true];

describe.each(ways)('by file: %s', (byFile) => {
  test(verifies('state:one-hub', 'a claim holds without any state, and names its process'), async () => {
    const { workspace, folder } = await temporaryWorkspace();
    const claim = await claimWorkspace(workspace, { byFile });
    await rm(folder, { recursive: true, force: true });
    await expect(claimWorkspace(workspace, { byFile })).rejects.toMatchObject({
      code: 'STATE_LOCKED',
      details: { pid: process.pid },
    });
    await claim.release();
    await (await claimWorkspace(workspace, { byFile })).release();
  });

  test('other workspaces are not affected, and another path to the same one is', async () => {
    const [first, second] = [await temporaryWorkspace(), await temporaryWorkspace()];
    const claims = [
      await claimWorkspace(first.workspace, { byFile }),
      await claimWorkspace(second.workspace, { byFile }),
    ];
    await expect(
      claimWorkspace(`${second.workspace}/../${first.workspace.split('/').at(-1)}`, { byFile }),
    ).rejects.toMatchObject({
      code: 'STATE_LOCKED',
    });
    for (const claim of claims) await claim.release();
  });
});

test('a claim goes with its process, however it ends', async () => {
  const { workspace } = await temporaryWorkspace();
  const built = JSON.stringify(join(import.meta.dirname, '..', '..', '..', 'dist', 'storage', 'index.js'));
  const script = `import { claimWorkspace } from ${built};
    await claimWorkspace(${JSON.stringify(workspace)});
    console.log('held');
    setInterval(() => {}, 60_000);`;
  const args = ['--input-type=module', '-e', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  await expect(claimWorkspace(workspace)).rejects.toMatchObject({ code: 'STATE_LOCKED' });
  child.kill('SIGKILL');
  await once(child, 'close');
  await (await claimWorkspace(workspace)).release();
});

test('a failure that is no second hub is told as it is', async () => {
  await expect(claimWorkspace('/nowhere/at/all')).rejects.toMatchObject({ code: 'ENOENT' });
});
