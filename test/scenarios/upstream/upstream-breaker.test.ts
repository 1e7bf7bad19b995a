import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { codeOf, openStage, type Stage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, pause } from '../../support/within.ts';

/** A stdio server that writes down each start and then runs what the test wants it to be. */
async function changeable(stage: Stage, body: string) {
  const become = (next: string): Promise<void> =>
    writeFile(
      stage.path('server.mjs'),
      `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(stage.path('starts.log'))}, '{}\\n');\n${next}\n`,
    );
  await become(body);
  const config = { servers: { up: { command: process.execPath, args: [stage.path('server.mjs')] } } };
  return { become, config, starts: async () => (await stage.lines('starts.log')).length };
}

const good = `await import(${JSON.stringify(fixturePath('echo-stdio.mjs'))});`;
const dead = `process.stderr.write('no database\\n'); process.exit(1);`;

async function attempt(stage: Stage, number: number): Promise<void> {
  await eventually(() => (stage.status('up').attempt === number ? true : undefined), `attempt ${number} to fail`);
}

test(verifies('breaker:opens', 'three failed connects open the circuit, later one trial decides'), async () => {
  const stage = await openStage();
  const { become, config, starts } = await changeable(stage, good);
  await stage.start(config);
  await stage.hub.discover();
  await stage.stop();
  await become(dead);
  await stage.start(config);
  expect(codeOf(await stage.call('up_echo'))).toBe('UPSTREAM_UNAVAILABLE');
  expect(stage.status('up')).toMatchObject({ state: 'retrying', attempt: 1 });
  stage.clock.advance(400);
  await attempt(stage, 2);
  expect(stage.status('up').state).toBe('retrying');
  stage.clock.advance(1000);
  await attempt(stage, 3);
  expect(stage.status('up')).toMatchObject({ state: 'open-circuit', error: expect.stringContaining('no database') });
  expect(stage.status('up').retryAt).toBeGreaterThan(stage.clock.now() + 50_000);

  // While it is open nobody bothers the server, and everybody is told at once.
  const before = await starts();
  const results = await Promise.all(Array.from({ length: 10 }, () => stage.call('up_echo', { message: 'hi' })));
  for (const result of results) {
    expect(result).toMatchObject({ error: { code: 'UPSTREAM_UNAVAILABLE', details: { state: 'open-circuit' } } });
  }
  stage.clock.advance(50_000);
  await pause(100);
  expect(await starts()).toBe(before);
  expect(await stage.names()).toContain('up_echo');

  // One trial, which fails, and another minute.
  stage.clock.advance(11_000);
  await attempt(stage, 4);
  expect(stage.status('up').state).toBe('open-circuit');
  expect(await starts()).toBe(before + 1);

  // The next trial finds it well, without anybody asking.
  await become(good);
  stage.clock.advance(61_000);
  await stage.until('up', 'connected');
  expect(await starts()).toBe(before + 2);
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
  expect(stage.status('up')).toMatchObject({ error: undefined, attempt: undefined, retryAt: undefined });
});

test('a server that starts, lists its tools and dies opens the circuit too', async () => {
  const stage = await openStage();
  const dying = `
    import { onLines } from ${JSON.stringify(fixturePath('raw/lines.mjs'))};
    const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
    onLines(process.stdin, (line) => {
      const { id, method } = JSON.parse(line);
      if (method === 'server/discover') process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
      if (method === 'initialize') say(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
      if (method === 'tools/list') { say(id, { tools: [] }); setTimeout(() => process.exit(1), 20); }
    });`;
  const { config, starts } = await changeable(stage, dying);
  await stage.start(config);
  await stage.hub.discover();
  await stage.until('up', 'open-circuit');
  expect(await starts()).toBe(3);
});

test('a server that is connected for long starts counting anew', async () => {
  const stage = await openStage();
  const { become, config } = await changeable(stage, dead);
  await stage.start(config);
  await stage.hub.discover();
  await attempt(stage, 2);
  await become(good);
  await stage.hurry(stage.until('up', 'connected'));
  expect(await stage.say('up_env', { name: 'NOTHING' })).toBe('');
  await become(dead);
  stage.clock.advance(6000);
  for (const pid of stage.children()) process.kill(pid, 'SIGKILL');
  await attempt(stage, 1);
});

test.each(['401', '403', '429'])(verifies('breaker:counts-connects-only', '%s does not count'), async (mode) => {
  const stage = await openStage();
  const bad = await stage.fixture('bad-http.mjs', [mode]);
  await stage.start({ servers: { up: { url: bad.url } } });
  for (let time = 0; time < 5; time++) {
    await stage.hub.discover();
    expect(stage.status('up').attempt).toBe(0);
    expect(stage.status('up').state).not.toBe('open-circuit');
    stage.clock.advance(11_000);
    await pause(30);
  }
  await bad.stop();
  await stage.fixture('echo-http.mjs', ['--port', new URL(bad.url).port]);
  stage.clock.advance(11_000);
  await pause(30);
  await stage.hub.discover();
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
});

test(verifies('breaker:counts-connects-only', 'timeouts and tool errors do not count'), async () => {
  const stage = await openStage();
  const { become, config, starts } = await changeable(stage, good);
  await stage.start(config);
  for (let time = 0; time < 5; time++) {
    expect(await stage.call('up_fail')).toMatchObject({ kind: 'result' });
    const late = stage.call('up_slow', { ms: 600_000 });
    expect(codeOf(await stage.hurry(late))).toBe('UPSTREAM_TIMEOUT');
    expect(stage.status('up')).toMatchObject({ state: 'connected', attempt: undefined, error: undefined });
  }
  expect(await starts()).toBe(1);
  // The first connect that fails is the first that counts.
  await become(dead);
  for (const pid of stage.children()) process.kill(pid, 'SIGKILL');
  await attempt(stage, 1);
  expect(stage.status('up').state).toBe('retrying');
});

test('calls that come together start one process', async () => {
  const stage = await openStage();
  const { config, starts } = await changeable(stage, good);
  await stage.start(config);
  const said = await Promise.all(Array.from({ length: 20 }, (_, n) => stage.say('up_echo', { message: `${n}` })));
  expect(said).toEqual(Array.from({ length: 20 }, (_, n) => `${n}`));
  expect(await starts()).toBe(1);
});
