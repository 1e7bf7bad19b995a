import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { type WorkspaceLayout, workspaceLayout } from '../files/layout.ts';
import { temporaryWorkspace } from '../files/temporary-workspace.fixture.ts';
import { claimWorkspace } from './workspace-claim.ts';

// By a socket, as on Linux, and by a file in the temporary folder, as elsewhere.
const ways = process.platform === 'linux' ? [false, true] : [true];

describe.each(ways)('by file: %s', (byFile) => {
  test(verifies('state:one-hub', 'a claim holds without any state, and names its process'), async () => {
    const layout = await temporaryWorkspace();
    const claim = await claimWorkspace(layout, { byFile });
    await rm(layout.folder, { recursive: true, force: true });
    await expect(claimWorkspace(layout, { byFile })).rejects.toMatchObject({
      code: 'STATE_LOCKED',
      details: { pid: process.pid },
    });
    await claim.release();
    await (await claimWorkspace(layout, { byFile })).release();
  });

  test('other workspaces are not affected, and another path to the same one is', async () => {
    const [first, second] = [await temporaryWorkspace(), await temporaryWorkspace()];
    const claims = [await claimWorkspace(first, { byFile }), await claimWorkspace(second, { byFile })];
    const link = `${first.workspace}-link`;
    await symlink(first.workspace, link);
    await expect(claimWorkspace(workspaceLayout(link, first.home), { byFile })).rejects.toMatchObject({
      code: 'STATE_LOCKED',
    });
    for (const claim of claims) await claim.release();
  });
});

test('a claim goes with its process, however it ends', async () => {
  const layout = await temporaryWorkspace();
  const built = JSON.stringify(join(import.meta.dirname, '..', '..', '..', 'dist', 'storage', 'index.js'));
  const script = `import { claimWorkspace } from ${built};
    await claimWorkspace(${JSON.stringify(layout)});
    console.log('held');
    setInterval(() => {}, 60_000);`;
  const args = ['--input-type=module', '-e', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  await expect(claimWorkspace(layout)).rejects.toMatchObject({ code: 'STATE_LOCKED' });
  child.kill('SIGKILL');
  await once(child, 'close');
  await (await claimWorkspace(layout)).release();
});

/** Takes the name before the hub does, as any user of the machine can. */
async function takeName({ workspace }: WorkspaceLayout, answer: (socket: Socket) => void): Promise<void> {
  const { dev, ino } = statSync(workspace);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => socket.destroy()));
    answer(socket);
  });
  server.listen(`\0quartermaster/${process.getuid?.()}/${dev}-${ino}`);
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
}

const proof = 'a'.repeat(64);

/** Abstract sockets are a matter of Linux. */
describe.each(process.platform === 'linux' ? ['socket'] : [])('by %s', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['names a process', (socket) => socket.end('4242\n')],
    ['makes a proof up', (socket) => socket.end(`4242 ${proof}\n`)],
    ['says nothing', () => {}],
    ['never ends', (socket) => socket.write('4'.repeat(1_000_000))],
  ])(
    verifies('state:one-hub', 'another user who takes the name of the socket keeps nobody from starting: it %s'),
    async (_, answer) => {
      const layout = await temporaryWorkspace();
      await takeName(layout, answer);
      const claim = await claimWorkspace(layout);
      // The lock file counts instead, and names the process that really has it.
      await expect(claimWorkspace(layout)).rejects.toMatchObject({
        code: 'STATE_LOCKED',
        details: { pid: process.pid },
      });
      await claim.release();
      await (await claimWorkspace(layout)).release();
    },
  );

  test(verifies('state:one-hub', 'the proof of another workspace does not count'), async () => {
    const [layout, other] = [await temporaryWorkspace(), await temporaryWorkspace()];
    const shared = workspaceLayout(other.workspace, layout.home);
    const claim = await claimWorkspace(shared);
    const { dev, ino } = statSync(shared.workspace);
    await takeName(layout, (socket) => {
      const relay = connect(`\0quartermaster/${process.getuid?.()}/${dev}-${ino}`);
      relay.on('error', () => socket.destroy());
      socket.pipe(relay).pipe(socket);
    });
    await (await claimWorkspace(layout)).release();
    await claim.release();
  });

  test(
    verifies('state:one-hub', 'a claim holds when the state home is deleted, and for another state home'),
    async () => {
      const [layout, other] = [await temporaryWorkspace(), await temporaryWorkspace()];
      const claim = await claimWorkspace(layout);
      await rm(layout.home, { recursive: true, force: true });
      for (const { home } of [layout, other]) {
        await expect(claimWorkspace(workspaceLayout(layout.workspace, home))).rejects.toMatchObject({
          code: 'STATE_LOCKED',
        });
      }
      await claim.release();
    },
  );
});

test('a failure that is no second hub is told as it is', async () => {
  const { home } = await temporaryWorkspace();
  await expect(claimWorkspace(workspaceLayout('/nowhere/at/all', home))).rejects.toMatchObject({ code: 'ENOENT' });
});
