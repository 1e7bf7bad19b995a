import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryWorkspace } from '../files/temporary-workspace.fixture.ts';
import { checkControlSocket, listenOnControlSocket } from './control-socket.ts';

async function stage() {
  const layout = await temporaryWorkspace();
  const runtime = await mkdtemp(join(tmpdir(), 'qm-rt-'));
  const server = createServer();
  onTestFinished(async () => {
    await new Promise((resolve) => server.close(resolve));
    await rm(runtime, { recursive: true, force: true });
  });
  return { layout, runtime, server };
}

test('the runtime folder comes first, and the socket there is accepted', async () => {
  const { layout, runtime, server } = await stage();
  const path = await listenOnControlSocket(server, layout, { XDG_RUNTIME_DIR: runtime });
  expect(dirname(path)).toBe(join(runtime, 'quartermaster'));
  expect(() => checkControlSocket(path)).not.toThrow();
});

test('a runtime folder with a long path is passed over, never cut', async () => {
  const { layout, runtime, server } = await stage();
  const long = join(runtime, 'x'.repeat(90));
  await mkdir(long);
  const path = await listenOnControlSocket(server, layout, { XDG_RUNTIME_DIR: long });
  expect(path.startsWith(long)).toBe(false);
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100);
});

test.each(['link', 'file'])('a %s in its place is refused and left alone', async (kind) => {
  const { layout, runtime, server } = await stage();
  const path = await listenOnControlSocket(server, layout, { XDG_RUNTIME_DIR: runtime });
  await new Promise((resolve) => server.close(resolve));
  if (kind === 'link') await symlink(join(runtime, 'target'), path);
  else await writeFile(path, '');
  const other = createServer();
  await expect(listenOnControlSocket(other, layout, { XDG_RUNTIME_DIR: runtime })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
  expect(() => checkControlSocket(path)).toThrow(basename(path));
});

test('a linked folder is refused', async () => {
  const { layout, runtime, server } = await stage();
  await mkdir(join(runtime, 'elsewhere'));
  await symlink(join(runtime, 'elsewhere'), join(runtime, 'quartermaster'));
  await expect(listenOnControlSocket(server, layout, { XDG_RUNTIME_DIR: runtime })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

test('a socket that somebody listens on is not taken away', async () => {
  const { layout, runtime, server } = await stage();
  await listenOnControlSocket(server, layout, { XDG_RUNTIME_DIR: runtime });
  await expect(listenOnControlSocket(createServer(), layout, { XDG_RUNTIME_DIR: runtime })).rejects.toMatchObject({
    code: 'STATE_LOCKED',
  });
});
