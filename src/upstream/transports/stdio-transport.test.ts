import { tmpdir } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually, within } from '../../../test/support/within.ts';
import { ByteBudget, countedBytes, HubError, type Logger, systemRandom } from '../../base/index.ts';
import { createChildren } from '../children/index.ts';
import { handlers } from '../request-handlers.fixture.ts';
import { legacyEnvelope, modernEnvelope, type UpstreamReply, type UpstreamRequest } from '../transport.ts';
import { createStdioTransport } from './stdio-transport.ts';

/** What every script below can use: `on(message => …)` for each line, `say(message)`, `answer(id, result)`. */
const prelude = `
const say = (message) => process.stdout.write((typeof message === 'string' ? message : JSON.stringify(message)) + '\\n');
const answer = (id, result) => say({ jsonrpc: '2.0', id, result });
let rest = '';
const on = (take) => process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) take(JSON.parse(line), line);
}).on('end', () => process.exit(0));
`;

/** A transport to a real process that runs the script. */
async function start(
  script: string,
  redact: (text: string) => string = (text) => text,
  onNotification: (method: string) => void = () => {},
  lines?: ByteBudget,
) {
  const clock = createMovingClock();
  const log: string[] = [];
  const events: string[] = [];
  const note = (event: string): void => void log.push(event);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const children = createChildren(
    { clock, logger, random: systemRandom },
    { baseEnv: { PATH: process.env.PATH ?? '' }, graceMs: 300 },
  );
  const child = await children.start({
    server: 'files',
    command: process.execPath,
    args: ['-e', prelude + script],
    env: {},
    cwd: tmpdir(),
  });
  const transport = createStdioTransport(
    {
      clock,
      logger,
      child,
      redact,
      lines,
      events: {
        onNotification(method) {
          events.push(method);
          onNotification(method);
        },
        onLost: (error) => events.push(error.code),
        onRefused: (error) => events.push(error.code),
      },
    },
    { server: 'files', exclusive: false },
  );
  onTestFinished(async () => {
    await within(transport.close(), 'the transport to close');
    await within(children.close(), 'the children to end');
    await eventually(() => (clock.waiting === 0 ? true : undefined), 'every timer to end');
  });
  return { transport, child, clock, log, events };
}

function request(method: string, more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method,
    members: '',
    meta: '',
    name: undefined,
    mirrored: [],
    args: undefined,
    timeoutMs: 20_000,
    maxMs: 20_000,
    capabilities: '{}',
    handlers: undefined,
    ...more,
  };
}

function codeOf(reply: UpstreamReply): string {
  return reply.kind === 'failed' ? reply.error.code : reply.kind;
}

test('requests are lines with their own ids, in the words of the era', async () => {
  const { transport } = await start(`on((message, line) => answer(message.id, { line }))`);
  const members = '"name":"echo","arguments":{"n": 12345678901234567890, "é":"☃"}';
  transport.speak(legacyEnvelope('2025-06-18'));
  const legacy = await transport.request(request('tools/call', { members, meta: '"a/b":1' })).reply;
  expect(legacy).toMatchObject({
    kind: 'result',
    value: { line: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${members},"_meta":{"a/b":1}}}` },
  });
  transport.speak(modernEnvelope('2026-07-28', { name: 'q', version: '1' }));
  const modern = await transport.request(request('tools/list', { handlers: handlers({ progress() {} }) })).reply;
  if (modern.kind !== 'result') throw new Error('no result');
  expect(JSON.parse(String(modern.value.line))).toEqual({
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/list',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'q', version: '1' },
        progressToken: 2,
      },
    },
  });
});

test('answers find their calls in whatever order they come', async () => {
  const { transport } = await start(`
    const held = [];
    on((message) => { held.push(message.id); if (held.length === 50) for (const id of held.reverse()) answer(id, { id }); })`);
  const replies = await Promise.all(Array.from({ length: 50 }, () => transport.request(request('x')).reply));
  expect(replies.map((reply) => (reply.kind === 'result' ? reply.value.id : reply))).toEqual(
    Array.from({ length: 50 }, (_, index) => index + 1),
  );
});

test('invalid messages and messages for nobody are dropped and logged a few times', async () => {
  const { transport, log } = await start(`
    on((message) => {
      for (let i = 0; i < 100; i++) say('Listening on port 3000');
      say('{"jsonrpc":"2.0","id":1,"resu');
      answer('1', { said: 'a string' });
      answer(null, { said: 'null' });
      answer(1.5, { said: 'half' });
      answer({}, { said: 'object' });
      answer(message.id, { said: 'right' });
      answer(message.id, { said: 'twice' });
    })`);
  expect(await transport.request(request('x')).reply).toMatchObject({ value: { said: 'right' } });
  expect(await transport.request(request('x')).reply).toMatchObject({ value: { said: 'right' } });
  expect(log).toEqual(Array.from({ length: 5 }, () => 'upstream.garbage-received'));
});

test('questions of the server are answered, for it would wait', async () => {
  const { transport, events } = await start(`
    let call;
    on((message) => {
      if (message.method === 'x') { call = message.id; say({ jsonrpc: '2.0', id: 'a', method: 'ping' }); }
      else if (message.id === 'a') say({ jsonrpc: '2.0', id: 7, method: 'roots/list' });
      else { say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }); answer(call, message); }
    })`);
  expect(await transport.request(request('x')).reply).toMatchObject({ value: { id: 7, error: { code: -32601 } } });
  expect(events).toEqual(['notifications/tools/list_changed']);
});

test('progress reaches its own call and keeps it alive, up to the cap', async () => {
  const { transport, clock } = await start(`
    on((message) => {
      if (message.method !== 'x') return;
      const { progressToken } = message.params._meta;
      const tell = (token, progress) => say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress } });
      tell(progressToken + 1, -1); tell(String(progressToken), -2);
      let step = 0;
      setInterval(() => tell(progressToken, step++), 20);
    })`);
  const seen: unknown[] = [];
  const limits = {
    timeoutMs: 30_000,
    maxMs: 100_000,
    handlers: handlers({ progress: (params) => seen.push(params.progress) }),
  };
  const { reply } = transport.request(request('x', limits));
  for (let passed = 0; passed < 80_000; passed += 20_000) {
    const before = seen.length;
    await eventually(() => (seen.length > before + 1 ? true : undefined), 'more progress');
    clock.advance(20_000);
  }
  const before = seen.length;
  await eventually(() => (seen.length > before + 1 ? true : undefined), 'more progress');
  clock.advance(20_000);
  expect(await within(reply, 'the cap')).toMatchObject({
    error: { code: 'UPSTREAM_TIMEOUT', message: expect.stringContaining('100 s') },
  });
  expect(seen[0]).toBe(0);
});

test('a timeout and a cancel are told to the server, and late answers go nowhere', async () => {
  const { transport, clock } = await start(`
    const told = [];
    on((message) => {
      if (message.method === 'notifications/cancelled') { told.push(message.params); answer(message.params.requestId, { said: 'late' }); }
      if (message.method === 'told') answer(message.id, { told });
      if (message.method === 'here') answer(message.id, {});
    })`);
  const silent = transport.request(request('x', { timeoutMs: 5000 }));
  const cancelled = transport.request(request('y'));
  await transport.request(request('here')).reply;
  clock.advance(5000);
  expect(codeOf(await silent.reply)).toBe('UPSTREAM_TIMEOUT');
  cancelled.cancel(new HubError('CANCELLED', 'by the client'));
  expect(await cancelled.reply).toMatchObject({ sent: true, cause: 'gave-up', error: { message: 'by the client' } });
  expect(await transport.request(request('told')).reply).toMatchObject({
    value: {
      told: [
        { requestId: 1, reason: 'timeout' },
        { requestId: 2, reason: 'by the client' },
      ],
    },
  });
});

test('nobody cancels initialize', async () => {
  const { transport, clock } = await start(`
    const heard = [];
    on((message) => { heard.push(message.method); if (message.method === 'heard') answer(message.id, { heard }); })`);
  const { reply } = transport.request(request('initialize', { timeoutMs: 1000 }));
  clock.advance(1000);
  expect(codeOf(await reply)).toBe('UPSTREAM_TIMEOUT');
  expect(await transport.request(request('heard')).reply).toMatchObject({ value: { heard: ['initialize', 'heard'] } });
});

test('an exit fails the calls in flight, says why, and is told once', async () => {
  const { transport, events } = await start(`
    on(() => { process.stderr.write('fatal: first\\nfatal: the disk is full\\n'); process.exitCode = 3; process.stdin.destroy(); })`);
  const replies = await Promise.all([transport.request(request('x')).reply, transport.request(request('y')).reply]);
  expect(replies).toMatchObject([
    { cause: 'connection', sent: true, error: { code: 'UPSTREAM_LOST' } },
    { cause: 'connection', sent: true },
  ]);
  const message = replies[0]?.kind === 'failed' ? replies[0].error.message : '';
  expect(message).toMatch(/exited with code 3 \(fatal: the disk is full\)/);
  expect(await transport.request(request('z')).reply).toMatchObject({ cause: 'connection', sent: false });
  void transport.notify('notifications/anything');
  expect(events).toEqual(['UPSTREAM_UNAVAILABLE']);
});

test('a signal is named', async () => {
  const { transport, child } = await start(`on(() => {})`);
  const { reply } = transport.request(request('x'));
  process.kill(child.pid, 'SIGKILL');
  expect(await reply).toMatchObject({ error: { message: expect.stringContaining('was ended by SIGKILL') } });
});

test('secrets are taken out of the last words', async () => {
  const { transport } = await start(
    `on(() => { process.stderr.write('bad token hunter2-hunter2\\n', () => process.exit(1)); })`,
    (text) => text.replace('hunter2-hunter2', '[redacted]'),
  );
  expect(await transport.request(request('x')).reply).toMatchObject({
    error: { message: expect.stringContaining('bad token [redacted]') },
  });
});

test('an answer that was written before the exit counts, however long it is', async () => {
  const { transport } = await start(`
    on((message) => {
      const text = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { said: 'x'.repeat(3_000_000) } });
      process.stdout.write(text + '\\n', () => process.exit(0));
    })`);
  expect(codeOf(await transport.request(request('x')).reply)).toBe('result');
});

test('a child that closes its output and stays is lost, and ended', async () => {
  const { transport, child, events } = await start(`
    on(() => { require('node:fs').closeSync(1); setInterval(() => {}, 1000); })`);
  expect(await within(transport.request(request('x')).reply, 'the loss')).toMatchObject({
    error: { code: 'UPSTREAM_LOST', message: expect.stringContaining('closed its output') },
  });
  await within(child.exited, 'its end');
  expect(events).toEqual(['UPSTREAM_UNAVAILABLE']);
});

test(verifies('upstream:bounded', 'a child that does not read gets only so much to read'), async () => {
  const { transport } = await start(`setInterval(() => {}, 1000)`);
  const members = `"text":"${'x'.repeat(1024 * 1024)}"`;
  const calls = Array.from({ length: 24 }, () => transport.request(request('x', { members })));
  const refused = await Promise.all(calls.slice(18).map(({ reply }) => reply));
  for (const reply of refused) {
    expect(reply).toMatchObject({ kind: 'failed', sent: false, cause: 'answer', error: { code: 'OVERLOADED' } });
  }
  for (const call of calls) call.cancel(new HubError('CANCELLED', 'enough'));
});

test('a child that asks without end and does not read is not answered without end', async () => {
  const { transport, child, events } = await start(`
    const line = JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(100_000), method: 'ping' }) + '\\n';
    let sent = 0;
    const more = () => { if (sent++ < 400) process.stdout.write(line, more); else say({ jsonrpc: '2.0', method: 'over' }); };
    more();
    setInterval(() => {}, 1000);`);
  await eventually(() => events[0], 'all questions to be asked');
  void transport.notify('notifications/cancelled', { requestId: 1, reason: 'x'.repeat(1_000_000) });
  expect(child.stdin.writableLength).toBeGreaterThan(15 * 1024 * 1024);
  expect(child.stdin.writableLength).toBeLessThan(17 * 1024 * 1024);
});

test('a line over the bound ends the connection', async () => {
  const { transport, child } = await start(`
    const chunk = 'x'.repeat(1024 * 1024);
    const more = () => process.stdout.write(chunk, more);
    on(() => more())`);
  expect(await within(transport.request(request('x')).reply, 'the end')).toMatchObject({
    error: { code: 'UPSTREAM_LOST', message: expect.stringContaining('over 67108864 bytes') },
  });
  await within(child.exited, 'its end');
});

test('closing tells nobody that the connection was lost', async () => {
  const { transport, events } = await start(`on(() => {})`);
  await within(transport.close(), 'the close');
  expect(events).toEqual([]);
});

test('a defect in handling a message ends that connection, with a line in the log, and nothing else', async () => {
  const script = `on(({ id }) => {
    say({ jsonrpc: '2.0', method: 'notifications/odd' });
    answer(id, {});
  });`;
  const { transport, log, events } = await start(script, undefined, () => {
    throw new TypeError('a defect');
  });
  const reply = await within(transport.request(request('tools/list')).reply, 'the request to fail');
  expect(reply).toMatchObject({ kind: 'failed', cause: 'connection', error: { code: 'UPSTREAM_LOST' } });
  expect(log).toContain('upstream.defect-contained');
  expect(events).toEqual(['notifications/odd', 'UPSTREAM_UNAVAILABLE']);
});

test('a defect on the side of a caller costs neither the answer nor the connection', async () => {
  const script = `on(({ id }) => {
    say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: 1 } });
    answer(id, {});
  });`;
  const { transport, log, events } = await start(script);
  const broken = handlers({
    wantsProgress: true,
    progress() {
      throw new TypeError('a defect');
    },
  });
  const reply = await within(transport.request(request('tools/call', { handlers: broken })).reply, 'the answer');
  expect(reply.kind).toBe('result');
  expect(log).toContain('caller.defect-contained');
  expect(events).toEqual([]);
});

test(
  verifies('upstream:bounded', 'a large answer without room fails its own call, and the next one has room'),
  async () => {
    const whole = new ByteBudget(16 * countedBytes);
    const others = new ByteBudget(16 * countedBytes, whole);
    const lines = new ByteBudget(16 * countedBytes, whole);
    const { transport, events } = await start(
      `on(({ id }) => answer(id, { text: 'x'.repeat(${4 * countedBytes}) }))`,
      undefined,
      undefined,
      lines,
    );
    others.add(14 * countedBytes);
    const refused = await transport.request(request('tools/call')).reply;
    expect(refused).toMatchObject({ kind: 'failed', sent: true, cause: 'answer', error: { code: 'RESULT_TOO_LARGE' } });
    others.release(14 * countedBytes);
    expect(codeOf(await transport.request(request('tools/call')).reply)).toBe('result');
    expect([events, whole.used]).toEqual([[], 0]);
  },
);
