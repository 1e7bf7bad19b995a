import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../../src/base/index.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { codeOf, openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** A wrapper that writes down which methods a stdio fixture was asked, over all its lives. */
function overheard(stage: Stage, file: string, args: readonly string[] = []): object {
  const script = `
    const { spawn } = require('node:child_process');
    const { appendFileSync } = require('node:fs');
    appendFileSync(process.env.HEARD, '{"method":"(start)"}\\n');
    const child = spawn(process.execPath, process.argv.slice(1), { stdio: ['pipe', 'inherit', 'inherit'] });
    child.on('exit', (code) => process.exit(code ?? 1));
    child.stdin.on('error', () => {});
    let rest = '';
    process.stdin.on('data', (chunk) => {
      const lines = (rest + chunk).split('\\n');
      rest = lines.pop();
      for (const line of lines) appendFileSync(process.env.HEARD, JSON.stringify({ method: JSON.parse(line).method }) + '\\n');
      child.stdin.write(chunk);
    }).on('end', () => child.stdin.end());`;
  return {
    command: process.execPath,
    args: ['-e', script, fixturePath(file), ...args],
    env: { HEARD: stage.path('heard.log') },
  };
}

async function heard(stage: Stage): Promise<unknown[]> {
  return (await stage.lines('heard.log')).map(({ method }) => method);
}

/** What is remembered of the server, with the day of the verdict moved into the past. */
async function age(stage: Stage, server: string, days: number): Promise<void> {
  const { catalog } = layoutOf(stage.workspace);
  const document: unknown = JSON.parse(await readFile(catalog, 'utf8'));
  if (!isJsonObject(document) || !Array.isArray(document.servers)) throw new Error('not the catalog');
  const row = document.servers.find((candidate: { name: string }) => candidate.name === server);
  row.verdictAt -= days * 24 * 3600 * 1000;
  await writeFile(catalog, JSON.stringify(document));
}

test.each([
  ['a server of 2025', 'echo-stdio.mjs', [], '2025-11-25', ['(start)', 'server/discover', 'initialize']],
  ['a server of 2026', 'echo-modern.mjs', [], '2026-07-28', ['(start)', 'server/discover', 'tools/list']],
  [
    'one that ends over the question',
    'bad.mjs',
    ['exits-on-probe'],
    '2025-11-25',
    ['(start)', 'server/discover', '(start)', 'initialize'],
  ],
  [
    'one that ignores the question',
    'bad.mjs',
    ['silent-probe'],
    '2025-11-25',
    ['(start)', 'server/discover', 'initialize'],
  ],
  [
    'one that takes its time to start',
    'bad.mjs',
    ['slow-start'],
    '2025-11-25',
    ['(start)', 'server/discover', 'initialize'],
  ],
])(verifies('upstream:era-fallback', 'over stdio, %s is reached'), async (_what, file, args, version, first) => {
  const stage = await openStage();
  await stage.start({ servers: { up: overheard(stage, file, args) } });
  await stage.hub.discover();
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
  expect(stage.status('up').protocolVersion).toBe(version);
  expect((await heard(stage)).slice(0, first.length)).toEqual(first);
});

test.each([
  ['legacy', '2025-11-25'],
  ['modern', '2026-07-28'],
  ['both', '2026-07-28'],
])('over HTTP, a server that speaks %s is reached', async (era, version) => {
  const stage = await openStage();
  const { url } = await stage.fixture('echo-http.mjs', ['--era', era, '--sessions']);
  await stage.start({ servers: { up: { url } } });
  await stage.hub.discover();
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
  expect(stage.status('up').protocolVersion).toBe(version);
});

test('a verdict is remembered over lives of the hub, and asked again when it is old', async () => {
  const stage = await openStage();
  const config = { servers: { up: overheard(stage, 'bad.mjs', ['exits-on-probe']) } };
  const lives: unknown[][] = [];
  for (const daysAgo of [0, 6, 2]) {
    if (lives.length > 0) await age(stage, 'up', daysAgo);
    const before = (await heard(stage)).length;
    await stage.start(config);
    expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
    await stage.stop();
    lives.push((await heard(stage)).slice(before).filter((method) => method !== 'notifications/initialized'));
  }
  expect(lives).toEqual([
    ['(start)', 'server/discover', '(start)', 'initialize', 'tools/list', 'tools/call'],
    ['(start)', 'initialize', expect.any(String), expect.any(String)],
    // Believing it again on the sixth day did not make it younger.
    ['(start)', 'server/discover', '(start)', 'initialize', expect.any(String), expect.any(String)],
  ]);
});

/** A server whose program can be exchanged under the same configuration. */
function replaceable(stage: Stage) {
  return {
    config: { servers: { up: { command: process.execPath, args: [stage.path('server.mjs'), '--stdio'] } } },
    become: (file: string): Promise<void> =>
      writeFile(stage.path('server.mjs'), `await import(${JSON.stringify(fixturePath(file))});\n`),
  };
}

test('a server that learnt the newer revision is found when the verdict is old', async () => {
  const stage = await openStage();
  const { config, become } = replaceable(stage);
  const versions: unknown[] = [];
  for (const [file, daysPassed] of [
    ['echo-stdio.mjs', 0],
    ['everything.mjs', 1],
    ['everything.mjs', 7],
  ] as const) {
    await become(file);
    if (daysPassed > 0) await age(stage, 'up', daysPassed);
    await stage.start(config);
    await stage.hub.discover();
    versions.push(stage.status('up').protocolVersion);
    await stage.stop();
  }
  expect(versions).toEqual(['2025-11-25', '2025-11-25', '2026-07-28']);
});

test('a server that forgot the older revision is found at once, and one that was taken back too', async () => {
  const stage = await openStage();
  const { config, become } = replaceable(stage);
  for (const [file, version] of [
    ['echo-stdio.mjs', '2025-11-25'],
    ['echo-modern.mjs', '2026-07-28'],
    ['echo-stdio.mjs', '2025-11-25'],
  ] as const) {
    await become(file);
    await stage.start(config);
    expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
    expect(stage.status('up').protocolVersion).toBe(version);
    await stage.stop();
  }
});

test.each(['401', '403', '500', 'hang'])('HTTP: %s is no verdict about the era', async (mode) => {
  const stage = await openStage();
  const bad = await stage.fixture('bad-http.mjs', [mode, '--era', 'modern']);
  const port = new URL(bad.url).port;
  await stage.start({ servers: { up: { url: bad.url } } });
  await (mode === 'hang' ? stage.hurry(stage.hub.discover()) : stage.hub.discover());
  expect(['needs-login', 'forbidden', 'retrying']).toContain(stage.status('up').state);
  expect(stage.status('up').protocolVersion).toBeUndefined();
  await bad.stop();
  await stage.fixture('echo-http.mjs', ['--era', 'both', '--port', port]);
  await stage.hurry(
    eventually(async () => {
      await stage.hub.discover();
      return stage.status('up').state === 'connected' ? true : undefined;
    }, 'the other server'),
  );
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
  expect(stage.status('up').protocolVersion).toBe('2026-07-28');
});

test('a server under another configuration is another server: nothing is remembered of it', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: stdioServer('echo-stdio.mjs') } });
  await stage.hub.discover();
  await stage.start({ servers: { up: stdioServer('echo-stdio.mjs', [], { env: { OTHER: '1' } }) } });
  expect(stage.status('up')).toMatchObject({ tools: undefined, protocolVersion: undefined });
  expect(codeOf(await stage.call('up_nothing'))).toBe('TOOL_UNKNOWN');
  expect(await stage.say('up_env', { name: 'OTHER' })).toBe('1');
});
