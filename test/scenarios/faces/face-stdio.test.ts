import { PassThrough, Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../../../src/base/index.ts';
import { serveStdio } from '../../../src/faces/mcp-stdio/index.ts';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import {
  clientInfo,
  initializeRequest,
  metaPrefix,
  modernMeta,
  modernVersion,
  namesOf,
  textOf,
} from '../../support/mcp-clients.ts';
import type { Message } from '../../support/mcp-http.ts';
import { eventually, within } from '../../support/within.ts';

/** An agent's view on a pair of pipes, without a process around it. */
interface Pipes {
  readonly stage: Stage;
  readonly input: PassThrough;
  readonly ended: Promise<void>;
  /** Every line so far. */
  readonly lines: readonly string[];
  send(...messages: object[]): void;
  /** The message that answers to the id. */
  answer(id: unknown): Promise<Message>;
  notice(method: string): Promise<Message>;
  close(): void;
}

const echo = stdioServer('echo-stdio.mjs');
const growing = stdioServer('tools-change.mjs');

async function open(config: object = {}, output?: Writable): Promise<Pipes> {
  const pipes = await openCold(config, output);
  await pipes.stage.hub.discover();
  return pipes;
}

/** As at the very first start: what the servers offer is not known yet. */
async function openCold(config: object = {}, output?: Writable): Promise<Pipes> {
  const stage = await openStage();
  const hub = await stage.start({ servers: { echo, growing }, ...config });
  const input = new PassThrough();
  const lines: string[] = [];
  let rest = '';
  const collect = new Writable({
    write(chunk: Buffer, _, done) {
      const parts = (rest + chunk.toString('utf8')).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
      done();
    },
  });
  const face = serveStdio({
    hub,
    caller: hub.callerFor({ agent: 'tester' }),
    clock: createSystemClock(),
    logger: createSilentLogger(),
    random: systemRandom,
    input,
    output: output ?? collect,
  });
  onTestFinished(() => face.close());
  const messages = (): Message[] => lines.flatMap((line) => JSON.parse(line) as Message | Message[]); // all lines are JSON
  const until = (check: (message: Message) => boolean, what: string): Promise<Message> =>
    eventually(() => messages().find(check), `${what} among ${lines.join('\n').slice(0, 2000)}`);
  return {
    stage,
    input,
    lines,
    ended: face.ended,
    send(...all) {
      for (const message of all) input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    },
    answer: (id) => until((message) => message.id === id && message.method === undefined, `an answer to ${String(id)}`),
    notice: (method) => until((message) => message.method === method, method),
    close: () => face.close(),
  };
}

const modern = (id: unknown, method: string, params: object = {}, meta: object = {}): object => ({
  id,
  method,
  params: { ...params, _meta: modernMeta(meta) },
});
const call = (id: unknown, name: string, args: object = {}): object => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('with a handshake', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('%s lists, calls and pings', async (version) => {
    const pipes = await open();
    pipes.send(initializeRequest(version), { method: 'notifications/initialized' });
    expect((await pipes.answer('init')).result).toMatchObject({ protocolVersion: version });
    pipes.send({ id: 1, method: 'tools/list' }, { id: 2, method: 'ping' }, { id: 3, method: 'no/such' });
    expect(namesOf(await pipes.answer(1))).toContain('echo_add');
    expect((await pipes.answer(2)).result).toEqual({});
    expect((await pipes.answer(3)).error?.code).toBe(-32601);
    pipes.send(call('four', 'echo_add', { a: 1, b: 2 }));
    const { result } = await pipes.answer('four');
    expect(result).toEqual({ content: [{ type: 'text', text: '3' }] });
  });

  test('progress comes before the answer, and only where it was asked for', async () => {
    const pipes = await open();
    pipes.send(initializeRequest(), {
      id: 1,
      method: 'tools/call',
      params: { name: 'echo_slow', arguments: { ms: 20 }, _meta: { progressToken: 'tok' } },
    });
    await pipes.answer(1);
    pipes.send(call(2, 'echo_slow', { ms: 20 }));
    await pipes.answer(2);
    const notices = pipes.lines.filter((line) => line.includes('notifications/progress'));
    expect(notices).toHaveLength(5);
    expect(JSON.parse(notices[0] ?? '')).toMatchObject({ params: { progress: 1, total: 5, progressToken: 'tok' } });
  });

  test('a cancelled call is cancelled at the server and gets no answer', async () => {
    const pipes = await open();
    const slow = { name: 'echo_slow', arguments: { ms: 60_000 }, _meta: { progressToken: 1 } };
    pipes.send(initializeRequest(), { id: 9, method: 'tools/call', params: slow });
    await pipes.notice('notifications/progress');
    pipes.send({ method: 'notifications/cancelled', params: { requestId: '9' } });
    pipes.send({ method: 'notifications/cancelled', params: { requestId: 9, reason: 'enough' } });
    await eventually(() => pipes.stage.hub.callsInFlight === 0 || undefined, 'the call to end');
    pipes.send({ id: 10, method: 'ping' });
    await pipes.answer(10);
    expect(pipes.lines.filter((line) => line.includes('"id":9'))).toEqual([]);
    const [line] = await eventually(async () => {
      const lines = await pipes.stage.ledger();
      return lines.length > 0 ? lines : undefined;
    }, 'the call on the ledger');
    expect(line).toMatchObject({ outcome: 'cancelled', error: 'The call was cancelled: enough.' });
  });

  test('a changed list is announced', async () => {
    const pipes = await open();
    pipes.send(initializeRequest(), { id: 1, method: 'tools/list' });
    const before = namesOf(await pipes.answer(1));
    pipes.send(call(2, 'growing_grow'));
    expect(await pipes.notice('notifications/tools/list_changed')).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
    });
    pipes.send({ id: 3, method: 'tools/list' });
    expect(namesOf(await pipes.answer(3)).length).toBe(before.length + 1);
  });

  test.each(['2025-03-26', '2025-11-25'])('a batch in %s', async (version) => {
    const pipes = await open();
    pipes.send(initializeRequest(version));
    await pipes.answer('init');
    const batch = [{ jsonrpc: '2.0', id: 1, method: 'ping' }, 7, { jsonrpc: '2.0', method: 'notifications/x' }];
    pipes.input.write(`${JSON.stringify(batch)}\n`);
    await eventually(() => pipes.lines[1], 'the answer');
    const refused = { id: null, error: { code: -32600 } };
    expect(JSON.parse(pipes.lines[1] ?? '')).toMatchObject(
      version === '2025-03-26' ? [{ id: 1, result: {} }, refused] : refused,
    );
    pipes.input.write('[]\n[{"jsonrpc":"2.0","method":"notifications/x"}]\n');
    pipes.send({ id: 2, method: 'ping' });
    await pipes.answer(2);
    expect(JSON.parse(pipes.lines[2] ?? '')).toMatchObject(refused);
  });
});

describe('without a handshake', () => {
  test('discover, list and call stand for themselves', async () => {
    const pipes = await open();
    pipes.send(
      modern(1, 'server/discover'),
      modern(2, 'tools/list'),
      modern(3, 'tools/call', { name: 'echo', arguments: { message: 'hi' } }),
    );
    expect((await pipes.answer(1)).result).toMatchObject({ supportedVersions: [modernVersion], ttlMs: 0 });
    expect((await pipes.answer(2)).result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
    expect((await pipes.answer(3)).result).toMatchObject({ resultType: 'complete', content: [{ text: 'hi' }] });
    pipes.send(modern(4, 'ping'), { id: 5, method: 'tools/list' });
    expect((await pipes.answer(4)).error?.code).toBe(-32601);
    expect((await pipes.answer(5)).error?.code).toBe(-32602);
  });

  test('a revision nobody speaks is -32022', async () => {
    const pipes = await open();
    pipes.send(modern(1, 'tools/list', {}, { [`${metaPrefix}protocolVersion`]: '2027-01-01' }));
    expect((await pipes.answer(1)).error).toMatchObject({ code: -32022, data: { supported: [modernVersion] } });
  });

  test('progress, cancellation and subscriptions', async () => {
    const pipes = await open();
    const tag = { [`${metaPrefix}subscriptionId`]: 'sub' };
    pipes.send(modern('sub', 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    expect((await pipes.notice('notifications/subscriptions/acknowledged')).params).toEqual({
      notifications: { toolsListChanged: true },
      _meta: tag,
    });
    pipes.send(modern(1, 'tools/call', { name: 'growing_grow', arguments: {} }));
    expect((await pipes.notice('notifications/tools/list_changed')).params).toEqual({ _meta: tag });
    pipes.send(modern(2, 'tools/call', { name: 'echo_slow', arguments: { ms: 60_000 } }, { progressToken: 7 }));
    expect((await pipes.notice('notifications/progress')).params).toEqual({ progress: 1, total: 5, progressToken: 7 });
    pipes.send({ method: 'notifications/cancelled', params: { requestId: 2 } });
    await eventually(() => pipes.stage.hub.callsInFlight === 0 || undefined, 'the call to end');
    pipes.close();
    expect((await pipes.answer('sub')).result).toMatchObject({ resultType: 'complete', _meta: tag });
    await within(pipes.ended, 'the end');
    expect(pipes.lines.filter((line) => line.includes('"id":2,'))).toEqual([]);
  });

  test('a cancelled subscription gets no more notifications', async () => {
    const pipes = await open();
    pipes.send(modern('sub', 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    await pipes.notice('notifications/subscriptions/acknowledged');
    pipes.send({ method: 'notifications/cancelled', params: { requestId: 'sub' } });
    const before = (await pipes.stage.names()).length;
    pipes.send(modern(1, 'tools/call', { name: 'growing_grow', arguments: {} }));
    await pipes.answer(1);
    await eventually(async () => (await pipes.stage.names()).length > before || undefined, 'the new tool');
    await new Promise((resolve) => setTimeout(resolve, 100));
    pipes.send(modern(2, 'server/discover'));
    await pipes.answer(2);
    expect(pipes.lines.filter((line) => line.includes('list_changed"'))).toEqual([]);
  });
});

test('a client that asks the modern question first may still shake hands', async () => {
  const pipes = await open();
  pipes.send(modern('probe', 'server/discover'));
  await pipes.answer('probe');
  pipes.send(initializeRequest('2025-06-18'), { id: 1, method: 'tools/list' });
  expect((await pipes.answer('init')).result).toMatchObject({ protocolVersion: '2025-06-18' });
  expect((await pipes.answer(1)).result).not.toHaveProperty('resultType');
});

test('a question of an unknown era is answered at once, so that the client can fall back', async () => {
  const pipes = await open();
  pipes.send({ id: 'probe', method: 'server/discover', params: { clientInfo } });
  expect((await pipes.answer('probe')).error?.code).toBe(-32601);
  pipes.send(initializeRequest());
  expect((await pipes.answer('init')).result).toMatchObject({ protocolVersion: '2025-11-25' });
});

test('garbage is answered line by line, and the next message is read', async () => {
  const pipes = await open();
  const garbage = [
    '{',
    'hello',
    '[1',
    '"x"',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"a":1,"a":2}',
    `${'['.repeat(65)}`,
  ];
  pipes.input.write(`${garbage.join('\n')}\n\r\n\n   \n`);
  pipes.input.write(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]));
  pipes.send(initializeRequest());
  await pipes.answer('init');
  const codes = pipes.lines.slice(0, -1).map((line) => (JSON.parse(line) as Message).error?.code);
  expect(codes.toSorted()).toEqual([-32700, -32700, -32700, -32700, -32600, -32600, -32600, -31003].toSorted());
});

describe('large messages', () => {
  test('a line within the limit is taken whole', async () => {
    const pipes = await open({ serve: { maxBodyBytes: 8_000_000 } });
    const message = 'x'.repeat(5_000_000);
    pipes.send(initializeRequest(), call(1, 'echo', { message }));
    expect(textOf(await pipes.answer(1))).toBe(message);
  });

  test('a line over the limit is refused, and the connection goes on', async () => {
    const pipes = await open();
    pipes.send(initializeRequest(), call(1, 'echo', { message: 'x'.repeat(5_000_000) }), { id: 2, method: 'ping' });
    await pipes.answer(2);
    const ids = pipes.lines.map((line) => (JSON.parse(line) as Message).id);
    expect(new Set(ids)).toEqual(new Set(['init', null, 2]));
    expect(ids).toHaveLength(3);
  });
});

describe('the end', () => {
  test('comes with the end of input', async () => {
    const pipes = await open();
    pipes.send(initializeRequest());
    await pipes.answer('init');
    pipes.input.end();
    await within(pipes.ended, 'the end');
  });

  test('waits for the answers to what was asked, even of servers that have yet to start', async () => {
    const pipes = await openCold();
    pipes.send(initializeRequest(), { id: 1, method: 'tools/list' }, call(2, 'echo_slow', { ms: 300 }));
    pipes.input.end();
    await within(pipes.ended, 'the end');
    expect(namesOf(await pipes.answer(1))).toContain('echo_add');
    expect(textOf(await pipes.answer(2))).toBe('waited 300 ms');
  });

  test('does not wait when the client reads no more', async () => {
    const broken = new Writable({
      write(_, __, done) {
        done(new Error('EPIPE'));
      },
    });
    const pipes = await open({}, broken);
    pipes.send(call(1, 'echo_slow', { ms: 1500 }), { id: 2, method: 'ping' });
    await within(pipes.ended, 'the end');
    expect(pipes.stage.hub.callsInFlight).toBe(1);
  });

  test('comes at once when the hub is told to stop, and what is in flight is on the ledger', async () => {
    const pipes = await open();
    pipes.send(initializeRequest(), call(2, 'echo_slow', { ms: 300 }));
    await eventually(() => pipes.stage.hub.callsInFlight === 1 || undefined, 'the call to begin');
    pipes.close();
    await within(pipes.ended, 'the end');
    await eventually(() => pipes.stage.hub.callsInFlight === 0 || undefined, 'the call to end');
    expect((await pipes.stage.ledger())[0]).toMatchObject({ outcome: 'ok' });
    pipes.send({ id: 3, method: 'ping' });
    expect(pipes.lines.filter((line) => line.includes('"id":3'))).toEqual([]);
  });
});

test('a client that does not read is not read either', async () => {
  let release: () => void = () => {};
  let written = 0;
  const stalled = new Writable({
    write(chunk: Buffer, _, done) {
      written += chunk.length;
      release = done;
    },
  });
  const pipes = await open({}, stalled);
  pipes.send(initializeRequest());
  for (let id = 0; id < 40; id++) pipes.send(call(id, 'echo_big', { bytes: 500_000 }));
  await eventually(() => pipes.input.isPaused() || undefined, 'the input to be held back');
  await eventually(() => pipes.stage.hub.callsInFlight === 0 || undefined, 'the calls to end');
  expect(written).toBeLessThan(1000);
  const drain = setInterval(() => release(), 1);
  onTestFinished(() => clearInterval(drain));
  await eventually(() => written > 40 * 500_000 || undefined, 'everything to be written');
});
