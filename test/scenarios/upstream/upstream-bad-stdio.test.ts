import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { codeOf, openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { settledView } from '../../support/views.ts';
import { eventually, within } from '../../support/within.ts';

/** A hub that once saw the good server, and now finds the bad one under the same configuration. */
async function surprise(mode: string, limits: object = {}): Promise<Stage> {
  const stage = await openStage();
  const server = { command: process.execPath, args: [stage.path('server.mjs'), mode], limits };
  const config = { servers: { up: { ...server, env: { CALL_LOG: stage.path('calls.log') } } } };
  const become = (file: string): Promise<void> =>
    writeFile(stage.path('server.mjs'), `await import(${JSON.stringify(fixturePath(file))});\n`);
  await become('echo-stdio.mjs');
  await stage.start(config);
  await stage.hub.discover();
  await stage.stop();
  await become('bad.mjs');
  await stage.start(config);
  return stage;
}

test.each(['garbage', 'floods-stderr', 'ignores-term', 'wrong-ids'])('%s: calls work all the same', async (mode) => {
  const stage = await surprise(mode);
  const said = await Promise.all(
    Array.from({ length: 20 }, (_, index) => stage.say('up_echo', { message: `number ${index}` })),
  );
  expect(said).toEqual(Array.from({ length: 20 }, (_, index) => `number ${index}`));
  expect(stage.status('up')).toMatchObject({ state: 'connected', error: undefined });
});

test('huge: an answer of ten megabytes arrives whole', async () => {
  const stage = await surprise('huge');
  expect(await stage.say('up_echo')).toHaveLength(10 * 1024 * 1024);
});

test('schema-without-type: the tool is offered with a valid schema, and the log says so', async () => {
  const stage = await surprise('schema-without-type');
  await stage.hub.discover();
  const view = await settledView(stage.hub);
  expect(JSON.parse(view.toolsText)).toMatchObject([
    { name: 'up_echo' },
    { name: 'up_untyped', inputSchema: { type: 'object', properties: { a: {} } } },
  ]);
  expect(await stage.say('up_untyped')).toBe('untyped ran');
  expect(stage.log.filter((line) => line.includes('upstream.catalog-warned'))).toMatchObject([
    expect.stringContaining('untyped'),
  ]);
});

test('hang-on-call: the call ends at its timeout, and neither server nor breaker suffers', async () => {
  const stage = await surprise('hang-on-call', { timeout_s: 0.2 });
  await stage.hub.discover();
  for (let time = 0; time < 4; time++) expect(codeOf(await stage.call('up_echo'))).toBe('UPSTREAM_TIMEOUT');
  expect(stage.status('up')).toMatchObject({ state: 'connected', error: undefined });
  expect((await stage.ledger()).map(({ outcome, status }) => [outcome, status])).toEqual(
    Array.from({ length: 4 }, () => ['timeout', 'error']),
  );
});

test('closes-mid-call: the call may have run, so it is not sent again; the third crash opens the circuit', async () => {
  const stage = await surprise('closes-mid-call');
  for (let time = 1; time <= 3; time++) {
    const result = await stage.call('up_counter');
    expect(codeOf(result)).toBe('UPSTREAM_LOST');
    // The next call gets a new process, but a server that dies of every call is left alone in the end.
    await stage.until('up', time < 3 ? 'connected' : 'open-circuit');
    expect(await stage.lines('calls.log')).toHaveLength(time);
  }
  expect(await stage.ledger()).toMatchObject(
    Array.from({ length: 3 }, () => ({ outcome: 'lost', retries: 0, error: expect.stringContaining('exited') })),
  );
});

test('closes-mid-call: a tool that only reads is sent once more', async () => {
  const stage = await surprise('closes-mid-call');
  expect(codeOf(await stage.call('up_add', { a: 1, b: 2 }))).toBe('UPSTREAM_LOST');
  expect(await stage.lines('calls.log')).toHaveLength(2);
  expect(await stage.ledger()).toMatchObject([{ outcome: 'lost', retries: 1 }]);
});

test('exits-at-start: the call says what the server said, and that nothing was sent', async () => {
  const stage = await surprise('exits-at-start');
  const result = await stage.call('up_echo');
  expect(codeOf(result)).toBe('UPSTREAM_UNAVAILABLE');
  if (result.kind !== 'failed') throw new Error('it did not fail');
  expect(result.error.message).toMatch(/"up" is unavailable.*code 3 \(fatal: cannot start, API_KEY is not set\)/);
  expect(result.error.message).toMatch(/Nothing was sent/);
  expect(result.error.details.retryAfterMs).toBeGreaterThan(0);
  expect(stage.status('up')).toMatchObject({
    state: 'retrying',
    attempt: 1,
    error: expect.stringContaining('API_KEY'),
  });
  expect(await stage.ledger()).toMatchObject([{ outcome: 'unavailable', transport: null }]);
});

test('never-answers: the call ends when the handshake does', async () => {
  const stage = await surprise('never-answers');
  const result = await stage.hurry(stage.call('up_echo'));
  expect(codeOf(result)).toBe('UPSTREAM_UNAVAILABLE');
  expect(await stage.ledger()).toMatchObject([
    { outcome: 'unavailable', error: expect.stringContaining('did not answer') },
  ]);
});

test('never-answers: a caller waits for a connect no longer than for an answer', async () => {
  const stage = await surprise('never-answers', { timeout_s: 0.2 });
  const result = await within(stage.call('up_echo'), 'the end of patience', 25_000);
  if (result.kind !== 'failed') throw new Error('it did not fail');
  expect(result.error).toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringMatching(/still connecting/),
  });
  expect(stage.status('up').state).toBe('connecting');
});

test('a server that cannot list its tools says why, and is asked again', async () => {
  const stage = await openStage();
  const script = `
    let rest = '', lists = 0;
    const say = (id, member) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...member }) + '\\n');
    process.stdin.on('data', (chunk) => {
      const lines = (rest + chunk).split('\\n');
      rest = lines.pop();
      for (const line of lines) {
        const { id, method } = JSON.parse(line);
        if (method === 'server/discover') say(id, { error: { code: -32601, message: 'no' } });
        if (method === 'initialize') say(id, { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
        if (method !== 'tools/list') continue;
        if (lists++ === 0) say(id, { error: { code: -32603, message: 'no database' } });
        else say(id, { result: { tools: [{ name: 'late', inputSchema: { type: 'object' } }] } });
      }
    }).on('end', () => process.exit(0));`;
  await stage.start({ servers: { up: { command: process.execPath, args: ['-e', script] } } });
  await stage.hub.discover();
  expect(stage.status('up')).toMatchObject({
    state: 'connected',
    tools: undefined,
    error: expect.stringMatching(/did not list its tools: no database/),
  });
  stage.clock.advance(61_000);
  await eventually(() => (stage.status('up').tools === 1 ? true : undefined), 'the list');
  expect(stage.status('up').error).toBeUndefined();
});

test('a command that does not exist', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: { command: 'no-such-program-anywhere' } } });
  await stage.hub.discover();
  expect(stage.status('up')).toMatchObject({
    state: 'retrying',
    attempt: 1,
    error: expect.stringContaining('no-such-program-anywhere'),
  });
  expect(await stage.names()).toEqual([]);
});

test(verifies('ledger:redaction', 'a secret in the last words of a server is in no error, status or log'), async () => {
  const stage = await openStage();
  const script = `process.stderr.write('cannot log in with ' + process.env.TOKEN + '\\n'); process.exitCode = 1;`;
  const up = { command: process.execPath, args: ['-e', script], env: { TOKEN: `\${TOKEN}` } };
  await stage.start({ servers: { up } }, { env: { TOKEN: 'correct-horse-battery' } });
  await stage.hub.discover();
  expect(stage.status('up').error).toMatch(/cannot log in with/);
  expect(JSON.stringify(stage.hub.status()) + stage.log.join()).not.toContain('correct-horse');
});

test(verifies('upstream:failing-server-alone', 'hung, dead and lying servers cost only their own calls'), async () => {
  const stage = await openStage();
  const hung = await stage.fixture('bad-http.mjs', ['hang']);
  const good = {
    one: stdioServer('echo-stdio.mjs'),
    two: stdioServer('echo-modern.mjs'),
    three: { url: (await stage.fixture('echo-http.mjs')).url },
  };
  const bad = {
    hung: { url: hung.url },
    silent: stdioServer('bad.mjs', ['never-answers']),
    missing: { command: 'no-such-program-anywhere' },
    dying: stdioServer('bad.mjs', ['exits-at-start']),
    liar: { url: (await stage.fixture('bad-http.mjs', ['html'])).url },
    gone: { url: 'http://127.0.0.1:9/mcp' },
  };
  const seen = async (servers: Record<string, object>) => {
    await stage.start({ servers });
    // A handshake may take half a minute; the first list waits for the hung ones only as for any unseen server.
    const { entries } = await within(settledView(stage.hub, 'tester', 2000), 'the first list', 10_000);
    const answers = await Promise.all(
      ['one_echo', 'two_echo', 'three_echo'].map((tool) => stage.say(tool, { message: `to ${tool}` })),
    );
    await stage.stop();
    return { names: [...entries.keys()], answers };
  };
  const alone = await seen(good);
  expect(alone.answers).toEqual(['to one_echo', 'to two_echo', 'to three_echo']);
  expect(await seen({ ...bad, ...good })).toEqual(alone);
});
