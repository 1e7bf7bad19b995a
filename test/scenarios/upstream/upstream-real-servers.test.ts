import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openStage } from '../../support/hub.ts';
import { eventually } from '../../support/within.ts';

const require = createRequire(import.meta.url);

/** The program of an installed server package. */
function program(name: string): string {
  return require.resolve(`@modelcontextprotocol/${name}/dist/index.js`);
}

test('server-everything over stdio', async () => {
  const stage = await openStage();
  await stage.start({ servers: { all: { command: process.execPath, args: [program('server-everything'), 'stdio'] } } });
  await stage.hub.discover();
  expect(await stage.names()).toEqual(expect.arrayContaining(['all_echo', 'all_get-sum']));
  expect(await stage.say('all_echo', { message: 'hi' })).toBe('Echo: hi');
  const seen: unknown[] = [];
  const said = await stage.say(
    'all_trigger-long-running-operation',
    { duration: 0.3, steps: 3 },
    { onProgress: ({ progress }) => seen.push(progress) },
  );
  expect(said).toContain('Long running operation completed');
  expect(seen).toEqual([1, 2, 3]);
});

test('server-everything over streamable HTTP', async () => {
  const stage = await openStage();
  const port = await freePort();
  const child = spawn(process.execPath, [program('server-everything'), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}/mcp`;
  await eventually(
    () =>
      fetch(url).then(
        () => true,
        () => undefined,
      ),
    'the server to listen',
  );
  await stage.start({ servers: { all: { url } } });
  await stage.hub.discover();
  expect(await stage.say('all_echo', { message: 'hi' })).toBe('Echo: hi');
  expect(await stage.say('all_get-sum', { a: 2, b: 40 })).toContain('42');
  expect(stage.status('all')).toMatchObject({ state: 'connected', transport: 'http' });
  const [line] = await stage.ledger();
  expect(line?.session_id).toMatch(/./);
  await stage.stop();
});

test('server-filesystem', async () => {
  const stage = await openStage();
  await mkdir(stage.path('files'));
  await writeFile(stage.path('files/note.txt'), 'remember the milk');
  const args = [program('server-filesystem'), stage.path('files')];
  await stage.start({ servers: { fs: { command: process.execPath, args } } });
  await stage.hub.discover();
  expect(await stage.say('fs_read_text_file', { path: stage.path('files/note.txt') })).toBe('remember the milk');
  expect(await stage.call('fs_read_text_file', { path: '/etc/hostname' })).toMatchObject({
    result: { value: { isError: true } },
  });
});

test('server-memory', async () => {
  const stage = await openStage();
  const env = { MEMORY_FILE_PATH: stage.path('memory.json') };
  await stage.start({ servers: { memory: { command: process.execPath, args: [program('server-memory')], env } } });
  await stage.hub.discover();
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
  await stage.say('memory_create_entities', { entities });
  expect(await stage.say('memory_search_nodes', { query: 'programs' })).toContain('Ada');
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  await new Promise((resolve) => server.close(resolve));
  return port;
}
