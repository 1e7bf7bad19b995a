import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

/** Nobody listens there. */
const nobody = 'http://127.0.0.1:9/mcp';

async function connect(stage: Stage, server: object): Promise<void> {
  await stage.start({ servers: { up: server } });
  await stage.hub.discover();
}

/** How often the fixture was asked, by method. */
async function requests(stage: Stage): Promise<string[]> {
  return (await stage.lines('headers.log')).map(({ method }) => String(method));
}

test.each(['404', '405'])(
  verifies('upstream:fallback-implicit-sse', 'after %s to Streamable HTTP the older transport is tried'),
  async (status) => {
    const stage = await openStage();
    const { url } = await stage.fixture('echo-sse.mjs', ['--streamable', status]);
    await connect(stage, { url });
    expect(stage.status('up')).toMatchObject({ state: 'connected', transport: 'sse' });
    expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
    expect(await stage.ledger()).toMatchObject([{ transport: 'sse' }]);
  },
);

test('the detected protocol version is remembered: the next hub uses it at once', async () => {
  const stage = await openStage();
  const env = { HEADER_LOG: stage.path('headers.log') };
  const fixture = await stage.fixture('echo-sse.mjs', [], env);
  await connect(stage, { url: fixture.url });
  expect((await requests(stage))[0]).toBe('POST');
  await stage.stop();
  stage.clock.advance(3_600_000);
  const before = (await requests(stage)).length;
  await connect(stage, { url: fixture.url });
  expect(stage.status('up')).toMatchObject({ state: 'connected', transport: 'sse' });
  expect((await requests(stage)).slice(before)[0]).toBe('GET');

  // A server that was renewed since is found all the same.
  await stage.stop();
  await fixture.stop();
  await stage.fixture('echo-http.mjs', ['--port', new URL(fixture.url).port]);
  await connect(stage, { url: fixture.url });
  expect(stage.status('up')).toMatchObject({ state: 'connected', transport: 'http' });
});

test.each(['400', '500'])('%s to streamable HTTP does not', async (status) => {
  const stage = await openStage();
  const env = { HEADER_LOG: stage.path('headers.log') };
  const { url } = await stage.fixture('echo-sse.mjs', ['--streamable', status], env);
  await connect(stage, { url });
  expect(stage.status('up')).toMatchObject({ state: 'retrying', error: expect.stringContaining(status) });
  expect(new Set(await requests(stage))).toEqual(new Set(['POST']));
});

test.each([
  ['401', 'needs-login'],
  ['403', 'forbidden'],
  ['451', 'forbidden'],
  ['429', 'retrying'],
])(
  verifies('upstream:fallback-ends-on-refusal', '%s is an answer: no other transport is tried after it'),
  async (status, state) => {
    const stage = await openStage();
    const { url } = await stage.fixture('echo-sse.mjs', ['--streamable', status]);
    await connect(stage, { url, fallback: [{ type: 'sse', url }, stdioServer('echo-stdio.mjs')] });
    expect(stage.status('up')).toMatchObject({ state, error: expect.stringContaining(status) });
    expect(stage.children()).toEqual([]);
  },
);

test('401 ends it in the middle too', async () => {
  const stage = await openStage();
  const { url } = await stage.fixture('echo-sse.mjs', ['--get-status', '401']);
  await connect(stage, { url, fallback: [stdioServer('echo-stdio.mjs')] });
  expect(stage.status('up').state).toBe('needs-login');
});

test(verifies('upstream:fallback', 'an unavailable server is reached by the next configured transport'), async () => {
  const stage = await openStage();
  const bad = await stage.fixture('bad-http.mjs', ['500']);
  const gone = { command: 'no-such-program-anywhere' };
  const fallback = [{ url: bad.url }, gone, stdioServer('echo-stdio.mjs')];
  await connect(stage, { url: nobody, fallback });
  expect(stage.status('up')).toMatchObject({ state: 'connected', transport: 'stdio', error: undefined });
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
  expect(await stage.ledger()).toMatchObject([{ transport: 'stdio', outcome: 'ok' }]);
});

test('a stand-in is tried first for a while, then its better gets another chance', async () => {
  const stage = await openStage();
  const http = await stage.fixture('echo-http.mjs', []);
  await http.stop();
  const server = { url: http.url, fallback: [stdioServer('echo-stdio.mjs')] };
  await connect(stage, server);
  expect(stage.status('up').transport).toBe('stdio');
  await stage.stop();
  await http.restart();
  await connect(stage, server);
  expect(stage.status('up').transport).toBe('stdio');
  stage.clock.advance(11 * 60_000);
  for (const pid of stage.children()) process.kill(pid, 'SIGKILL');
  await eventually(() => stage.status('up').transport === 'http', 'the better one');
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
});

test('if all transports fail, the error names each in a few words', async () => {
  const stage = await openStage();
  const sse = await stage.fixture('echo-sse.mjs', ['--get-status', '404']);
  const fallback = [{ url: sse.url }, { command: 'uvx-of-nobody', args: ['server'] }];
  await connect(stage, { url: nobody, fallback });
  const { error } = stage.status('up');
  expect(error).toBe(
    'Server "up" cannot be reached: http: connection refused; http: 404; sse: 404; stdio: command not found.',
  );
  expect(stage.status('up')).toMatchObject({ state: 'retrying', attempt: 1, transport: 'http' });
});

test(
  verifies('upstream:start-stderr', 'a child that ends at once leaves its last words, without secrets'),
  async () => {
    const stage = await openStage();
    const script = `
    for (let line = 0; line < 40; line++) console.error('line ' + line);
    console.error('cannot log in with ' + process.env.KEY);
    console.error('give it another key');
    process.exit(3);`;
    await writeFile(stage.path('dies.mjs'), script);
    const dies = { command: process.execPath, args: [stage.path('dies.mjs')], env: { KEY: `\${KEY}` } };
    await stage.start({ servers: { up: dies } }, { env: { KEY: 'sesame-open-42' } });
    await stage.hub.discover();
    const status = stage.status('up');
    expect(status.error).toContain('exited with code 3 (give it another key)');
    expect(JSON.stringify([status, stage.log])).not.toContain('sesame-open-42');
  },
);

test('a program that is missing says which, and how to get it', async () => {
  const stage = await openStage();
  await connect(stage, { command: 'docker-of-nobody' });
  expect(stage.status('up').error).toBe('Server "up": its command "docker-of-nobody" was not found on PATH.');
});

test('a failure of all transports counts once, and all are tried again', async () => {
  const stage = await openStage();
  const http = await stage.fixture('echo-http.mjs', []);
  await http.stop();
  await connect(stage, { url: nobody, fallback: [{ url: http.url }] });
  expect(stage.status('up')).toMatchObject({ state: 'retrying', attempt: 1 });
  await http.restart();
  stage.clock.advance(400);
  await stage.until('up', 'connected');
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
});
