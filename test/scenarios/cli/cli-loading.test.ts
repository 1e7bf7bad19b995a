import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../support/verifies.ts';
import { writeCalls } from '../hub/ledger-lines.fixture.ts';
import { makeWorkspace } from '../qm.fixture.ts';

const main = resolve(import.meta.dirname, '..', '..', '..', 'dist', 'faces', 'cli', 'main.js');

/** Modules that commands on files do not need: connections, the hub, HTTP, a database. */
const heavy = [
  'undici',
  'hono',
  '@hono/node-server',
  'pg',
  '@electric-sql/pglite',
  '@modelcontextprotocol/client',
  '@opentelemetry/api',
  'src/faces/telemetry',
  'src/upstream',
  'src/hub',
  'src/calls',
  'src/faces/gateway',
  'src/faces/mcp-http',
];

/** Modules that read and validate the configuration. */
const parsers = ['yaml', 'smol-toml', 'src/config', 'src/governance', 'src/faces/api'];
const readers = [...parsers, 'zod', 'src/storage'];

const commands: readonly [args: readonly string[], absent: readonly string[]][] = [
  [['--version'], [...heavy, ...readers, 'src/ledger']],
  [['--help'], [...heavy, ...readers, 'src/ledger']],
  [
    ['completion', 'bash'],
    [...heavy, ...readers, 'src/ledger'],
  ],
  [
    ['__complete', '--', 'calls', '--st'],
    [...heavy, ...readers, 'src/ledger'],
  ],
  [
    ['__complete', '--', 'call', ''],
    [...heavy, 'src/ledger', 'src/faces/api'],
  ],
  // The journal is in the state folder, and storage knows where that is.
  [['calls'], [...heavy, ...parsers]],
  [['summarize'], [...heavy, ...parsers]],
  [['ls'], [...heavy, 'src/ledger']],
  [
    ['token', 'ls'],
    [...heavy, 'src/ledger', 'yaml'],
  ],
];

test.each(commands)(verifies('cli:light', 'qm %s loads only what it needs'), async (args, absent) => {
  const workspace = await makeWorkspace({ servers: { files: { command: 'node' } }, agents: { tester: {} } });
  writeCalls(workspace, 'one', {});
  const loaded = await loadedParts(args, workspace);
  expect(loaded, 'the coverage that node writes').toContain('commander');
  expect(loaded.filter((part) => absent.includes(part))).toEqual([]);
  // Nothing was opened or started that would leave a trace.
  expect((await readdir(workspace)).sort()).toEqual(['.runs', 'quartermaster.yaml']);
});

test('the check itself detects loaded modules, including heavy ones', async () => {
  const workspace = await makeWorkspace({ servers: { files: { command: 'node', args: ['-e', '0'] } } });
  expect(await loadedParts(['tools', '--agent', 'a'], workspace)).toEqual(
    expect.arrayContaining(['commander', 'zod', 'yaml', 'src/hub', 'src/upstream', 'src/config']),
  );
});

test(verifies('telemetry:off', 'tracing modules are loaded only if the environment enables tracing'), async () => {
  const workspace = await makeWorkspace({ agents: { a: {} } });
  const telemetryOf = async (env: Readonly<Record<string, string>>): Promise<string[]> => {
    const loaded = await loadedParts(['tools', '--agent', 'a'], workspace, env);
    expect(loaded).toContain('src/calls');
    return loaded.filter((part) => part.startsWith('@opentelemetry/') || part === 'src/faces/telemetry');
  };
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  expect(await telemetryOf({})).toEqual([]);
  expect(await telemetryOf({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual([]);
  expect(await telemetryOf(endpoint)).toEqual(
    expect.arrayContaining(['src/faces/telemetry', '@opentelemetry/sdk-trace-base']),
  );
});

/** The packages and modules from which a command ran any file, according to V8's coverage. */
async function loadedParts(
  args: readonly string[],
  workspace: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-loaded-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // Runs the separate files instead of the bundle, in which modules have no names.
  const start = `import(${JSON.stringify(main)}).then(({ main }) => main(process.argv.slice(1)));`;
  const env = { PATH: process.env.PATH ?? '', HOME: tmpdir(), NODE_V8_COVERAGE: folder, QM_FOREGROUND: '1', ...more };
  await promisify(execFile)(process.execPath, ['-e', start, '--', ...args], { cwd: workspace, env, timeout: 30_000 });
  const parts = new Set<string>();
  for (const file of await readdir(folder)) {
    // V8's own format
    const { result } = JSON.parse(await readFile(join(folder, file), 'utf8')) as { result: { url: string }[] };
    for (const { url } of result) parts.add(partOf(url));
  }
  return [...parts];
}

function partOf(url: string): string {
  const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url) ?? [];
  const [, room] = /\/dist\/((?:faces\/)?[^/]+)\//.exec(url) ?? [];
  return name ?? (room === undefined ? url : `src/${room}`);
}
