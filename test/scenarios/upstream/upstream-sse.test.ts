import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { explainError } from '../../../src/base/index.ts';
import type { HttpFixture } from '../../support/fixture-servers.ts';
import { codeOf, openStage, type Stage } from '../../support/hub.ts';
import { programModule } from '../../support/programs.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

interface Scene {
  readonly stage: Stage;
  readonly fixture: HttpFixture;
}

/** A hub with the SSE echo server, which behaves as the arguments say. */
async function scene(args: readonly string[] = [], more: object = {}): Promise<Scene> {
  const stage = await openStage();
  const logs = { CALL_LOG: 'calls.log', CANCEL_LOG: 'cancels.log', HEADER_LOG: 'headers.log' };
  const env = Object.fromEntries(Object.entries(logs).map(([name, file]) => [name, stage.path(file)]));
  const fixture = await stage.fixture('echo-sse.mjs', args, env);
  await stage.start({ servers: { up: { type: 'sse', url: fixture.url, ...more } } });
  return { stage, fixture };
}

/** The same, after the server was seen by an earlier hub that found it well. */
async function surprise(args: readonly string[], more: object = {}): Promise<Scene> {
  const { stage, fixture } = await scene();
  await stage.hub.discover();
  await stage.stop();
  await fixture.stop();
  const env = { CALL_LOG: stage.path('calls.log') };
  const bad = await stage.fixture('echo-sse.mjs', [...args, '--port', new URL(fixture.url).port], env);
  await stage.start({ servers: { up: { type: 'sse', url: fixture.url, ...more } } });
  return { stage, fixture: bad };
}

test(verifies('upstream:sse', 'a server of the older HTTP transport is listed and called'), async () => {
  const { stage } = await scene([], { headers: { authorization: 'Bearer mine', 'X-Team': 'blue' } });
  expect(await stage.names()).toEqual(expect.arrayContaining(['up_add', 'up_echo', 'up_slow']));
  expect(await stage.say('up_add', { a: 2, b: 40 })).toBe('42');
  expect(stage.status('up')).toMatchObject({
    state: 'connected',
    transport: 'sse',
    protocolVersion: '2025-11-25',
    tools: 8,
    error: undefined,
  });
  expect(await stage.ledger()).toMatchObject([
    { outcome: 'ok', transport: 'sse', protocol_version: '2025-11-25', session_id: null, http_status: 200, retries: 0 },
  ]);
  // The configured headers are on everything, and in no log.
  const requests = await stage.lines('headers.log');
  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET', 'POST']));
  for (const request of requests) expect(request).toMatchObject({ authorization: 'Bearer mine', team: 'blue' });
  expect(stage.log.join('\n')).not.toContain('Bearer mine');
});

test('arguments arrive byte for byte, and many answers find their own calls', async () => {
  const { stage } = await scene();
  const argumentsText = '{"b": 12345678901234567890, "a":1.0}';
  expect(await stage.say('up_raw_args', {}, { argumentsText })).toBe(argumentsText);
  const said = await Promise.all(Array.from({ length: 50 }, (_, n) => stage.say('up_echo', { message: `${n}` })));
  expect(said).toEqual(Array.from({ length: 50 }, (_, n) => `${n}`));
});

test.each(['relative', 'absolute'])('the endpoint may be %s', async (endpoint) => {
  const { stage } = await scene(['--endpoint', endpoint]);
  await stage.hub.discover();
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
});

test(verifies('upstream:sse-origin', 'an endpoint at another origin is refused, and nothing is sent'), async () => {
  const { stage } = await surprise(['--endpoint', 'foreign'], { headers: { authorization: 'Bearer mine' } });
  const result = await stage.call('up_echo', { message: 'hi' });
  expect(result).toMatchObject({ error: { code: 'UPSTREAM_UNAVAILABLE' } });
  expect(stage.status('up')).toMatchObject({
    state: 'retrying',
    error: expect.stringMatching(/"up" was refused: .* at http:\/\/127\.0\.0\.1:9, another origin/),
  });
  expect(await stage.lines('calls.log')).toEqual([]);
});

test.each(['junk', 'none'])('an endpoint that is %s is a failed connect', async (endpoint) => {
  const { stage } = await surprise(['--endpoint', endpoint]);
  expect(codeOf(await stage.hurry(stage.call('up_echo', { message: 'hi' })))).toBe('UPSTREAM_UNAVAILABLE');
});

test('progress is relayed, and a cancelled call is cancelled upstream', async () => {
  const { stage } = await scene();
  await stage.hub.discover();
  const seen: unknown[] = [];
  const { call, result } = stage.begin(
    'up_slow',
    { ms: 60_000 },
    { onProgress: ({ progress }) => void seen.push(progress) },
  );
  await eventually(() => seen.length > 0, 'progress');
  call.cancel('enough');
  expect(codeOf(await result)).toBe('CANCELLED');
  await eventually(async () => (await stage.lines('cancels.log')).length > 0, 'the cancellation');
  expect(await stage.say('up_echo', { message: 'next' })).toBe('next');
});

test('a result of ten megabytes arrives whole', async () => {
  const { stage } = await scene();
  await stage.hub.discover();
  expect(await stage.say('up_big', { bytes: 10 * 1024 * 1024 })).toHaveLength(10 * 1024 * 1024);
});

test('noise on the stream disturbs nobody and is reported, but not without end', async () => {
  const { stage } = await scene(['--garbage', '--ask']);
  await stage.hub.discover();
  for (let n = 0; n < 10; n++) expect(await stage.say('up_echo', { message: `${n}` })).toBe(`${n}`);
  const reports = stage.log.filter((line) => line.includes('upstream.garbage-received'));
  expect(reports).toHaveLength(5);
});

test('a POST that is never taken ends at its deadline; others go on', async () => {
  const { stage } = await surprise(['--hang-post'], { limits: { timeout_s: 0.3 } });
  await stage.hub.discover();
  const results = await Promise.all([1, 2, 3].map(() => stage.call('up_counter')));
  expect(results.map(codeOf)).toEqual(Array.from({ length: 3 }, () => 'UPSTREAM_TIMEOUT'));
  expect(stage.status('up').state).toBe('connected');
  expect(await stage.lines('calls.log')).toHaveLength(3);
});

test('the answer counts, even when its POST stays open', async () => {
  const { stage } = await scene(['--hold-post']);
  await stage.hub.discover();
  // More than there are connections: each must be given back.
  for (let round = 0; round < 5; round++) {
    const said = await Promise.all(Array.from({ length: 40 }, (_, n) => stage.say('up_echo', { message: `${n}` })));
    expect(said).toHaveLength(40);
    stage.clock.advance(1500);
  }
});

test('a stream that drops takes sent calls with it, once; the next call finds a new one', async () => {
  const { stage, fixture } = await surprise(['--drop-on-call']);
  await stage.hub.discover();
  const result = await stage.call('up_counter');
  expect(result).toMatchObject({ error: { code: 'UPSTREAM_LOST', hint: expect.stringContaining('may have run') } });
  expect(await stage.lines('calls.log')).toHaveLength(1);
  await fixture.stop();
  await stage.fixture('echo-sse.mjs', ['--port', new URL(fixture.url).port]);
  await stage.hurry(stage.until('up', 'connected'));
  expect(await stage.say('up_counter')).toBe('1');
  expect((await stage.ledger()).map(({ outcome }) => outcome)).toEqual(['lost', 'ok']);
});

test(verifies('upstream:reconnect', 'a lost server is tried again with pauses; calls meanwhile say when'), async () => {
  const { stage, fixture } = await scene();
  await stage.hub.discover();
  stage.clock.advance(6000);
  await fixture.stop();
  await stage.until('up', 'retrying');
  const first = await stage.call('up_echo', { message: 'hi' });
  if (first.kind !== 'failed') throw new Error('it did not fail');
  expect(first.error).toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    details: { state: 'retrying', retryAfterMs: expect.any(Number) },
  });
  expect(explainError(first.error)).toMatch(/connection refused.*Nothing was sent/);
  stage.clock.advance(400);
  await eventually(() => stage.status('up').attempt === 2, 'the second attempt');
  stage.clock.advance(1000);
  await stage.until('up', 'open-circuit');
  expect(await stage.call('up_echo', { message: 'hi' })).toMatchObject({
    error: { details: { state: 'open-circuit' } },
  });
  await fixture.restart();
  stage.clock.advance(61_000);
  await stage.until('up', 'connected');
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
});

test.each([
  ['401', 'UPSTREAM_NEEDS_LOGIN', 'needs-login'],
  ['403', 'UPSTREAM_FORBIDDEN', 'forbidden'],
  ['451', 'UPSTREAM_FORBIDDEN', 'forbidden'],
  ['429', 'UPSTREAM_THROTTLED', 'retrying'],
  ['500', 'UPSTREAM_UNAVAILABLE', 'retrying'],
  ['302', 'UPSTREAM_UNAVAILABLE', 'retrying'],
])('%s to the stream: %s', async (status, code, state) => {
  const { stage } = await surprise(['--get-status', status]);
  expect(codeOf(await stage.call('up_echo', { message: 'hi' }))).toBe(code);
  expect(stage.status('up')).toMatchObject({ state, error: expect.stringContaining(status) });
});

test.each([
  ['401', 'UPSTREAM_NEEDS_LOGIN', 'needs-login'],
  ['403', 'UPSTREAM_FORBIDDEN', 'forbidden'],
  ['429', 'UPSTREAM_THROTTLED', 'connected'],
  ['500', 'UPSTREAM_FAILED', 'connected'],
])('%s to a message: %s', async (status, code, state) => {
  const { stage } = await surprise(['--call-status', status]);
  await stage.hub.discover();
  expect(codeOf(await stage.call('up_counter'))).toBe(code);
  expect(stage.status('up').state).toBe(state);
  expect(await stage.ledger()).toMatchObject([{ transport: 'sse', http_status: Number(status) }]);
});

test('404 to a message is a forgotten session: it is opened anew and the call is sent once more', async () => {
  const { stage } = await surprise(['--call-status', '404']);
  await stage.hub.discover();
  expect(codeOf(await stage.call('up_counter'))).toBe('UPSTREAM_UNAVAILABLE');
  expect(await stage.ledger()).toMatchObject([{ http_status: 404, retries: 1 }]);
});

test('server-everything over SSE', async () => {
  const stage = await openStage();
  const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const url = await serve(program, ['sse'], '/sse');
  await stage.start({ servers: { all: { type: 'sse', url } } });
  await stage.hub.discover();
  expect(await stage.say('all_echo', { message: 'hi' })).toBe('Echo: hi');
  expect(await stage.say('all_get-sum', { a: 2, b: 40 })).toContain('42');
  expect(stage.status('all')).toMatchObject({ state: 'connected', transport: 'sse' });
  await stage.stop();
});

test('a server of the first SDK over SSE, found by its plain address', async () => {
  const stage = await openStage();
  await writeFile(stage.path('sdk-sse.mjs'), sdkServer());
  const url = await serve(stage.path('sdk-sse.mjs'), [], '/sse');
  await stage.start({ servers: { old: { url } } });
  await stage.hub.discover();
  expect(await stage.say('old_shout', { text: 'hi' })).toBe('HI');
  expect(stage.status('old')).toMatchObject({ state: 'connected', transport: 'sse' });
  await stage.stop();
});

/** Starts a program that listens on the port that PORT names. */
async function serve(program: string, args: readonly string[], path: string): Promise<string> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await within(exited, 'the server to end');
  });
  const url = `http://127.0.0.1:${port}${path}`;
  await eventually(
    () =>
      fetch(`http://127.0.0.1:${port}/nothing`).then(
        () => true,
        () => undefined,
      ),
    'the server to listen',
  );
  return url;
}

function sdkServer(): string {
  const from = (module: string): string => JSON.stringify(programModule(`@modelcontextprotocol/sdk/${module}`));
  return `
    import { createServer } from 'node:http';
    import { Server } from ${from('server/index.js')};
    import { SSEServerTransport } from ${from('server/sse.js')};
    import { CallToolRequestSchema, ListToolsRequestSchema } from ${from('types.js')};
    const transports = new Map();
    createServer(async (req, res) => {
      const url = new URL(req.url, 'http://localhost');
      if (req.method === 'GET' && url.pathname === '/sse') {
        const server = new Server({ name: 'old', version: '1' }, { capabilities: { tools: {} } });
        const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
        server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'shout', inputSchema }] }));
        server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
          content: [{ type: 'text', text: params.arguments.text.toUpperCase() }],
        }));
        const transport = new SSEServerTransport('/messages', res);
        transports.set(transport.sessionId, transport);
        await server.connect(transport);
      } else if (req.method === 'POST' && url.pathname === '/messages') {
        await transports.get(url.searchParams.get('sessionId')).handlePostMessage(req, res);
      } else {
        res.writeHead(url.pathname === '/sse' ? 405 : 404).end();
      }
    }).listen(Number(process.env.PORT), '127.0.0.1');
  `;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  await new Promise((resolve) => server.close(resolve));
  return port;
}
