import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type ErrorCode, HubError } from '../base/index.ts';
import { systemFiles } from '../ledger/journal/file-operations.ts';
import type { UpstreamReply } from '../upstream/index.ts';
import type { CallResult } from './call.ts';
import { type CallStage, openCallStage } from './call-stage.fixture.ts';
import { failureOf, scriptConnection, scriptedResult } from './scripted-server.fixture.ts';

const toolsError = '{"isError":true,"content":[{"type":"text","text":"no such file"}]}';

test(
  verifies('ledger:outcomes', 'every way in which a server can answer is on the ledger with its outcome'),
  async () => {
    const stage = await openCallStage();
    const answers: readonly (readonly [UpstreamReply, string, string | null])[] = [
      [scriptedResult('{"content":[]}'), 'ok', null],
      [scriptedResult('{"content":[],"isError":false,"resultType":"complete"}'), 'ok', null],
      [scriptedResult(toolsError), 'tool_error', 'no such file'],
      [scriptedResult('{"isError":true}'), 'tool_error', 'the tool reported an error'],
      [{ kind: 'error', id: 1, text: '{}', code: -32000, message: 'bad day' }, 'upstream_error', 'bad day'],
      [scriptedResult('{"resultType":"task"}'), 'upstream_error', 'task'],
      [scriptedResult('{"resultType":"input_required"}'), 'upstream_error', 'nothing'],
      [scriptedResult('{"resultType":"hunter2"}'), 'upstream_error', 'a result of an unknown type'],
      [scriptedResult('{"resultType":{"toString":1,"valueOf":1}}'), 'upstream_error', 'object'],
      [scriptedResult('{"resultType":null}'), 'upstream_error', 'object'],
      [failureOf('UPSTREAM_LOST', 'connection', true), 'lost', 'scripted'],
      [failureOf('UPSTREAM_TIMEOUT', 'gave-up', true), 'timeout', 'scripted'],
      [failureOf('UPSTREAM_NEEDS_LOGIN', 'answer', true, 401), 'needs_login', 'scripted'],
      [failureOf('UPSTREAM_FORBIDDEN', 'answer', true, 403), 'forbidden', 'scripted'],
      [failureOf('UPSTREAM_THROTTLED', 'answer', true, 429), 'throttled', 'rate limit'],
      [failureOf('UPSTREAM_FAILED', 'answer', true, 500), 'upstream_error', 'scripted'],
      [failureOf('UPSTREAM_GARBLED', 'answer', true), 'upstream_error', 'scripted'],
      [failureOf('OVERLOADED', 'answer', false), 'overloaded', 'scripted'],
    ];
    stage.files.replies = answers.map(
      ([reply]) =>
        () =>
          reply,
    );
    for (const _ of answers) await stage.run(stage.call('files_write'));
    const lines = await stage.lines();
    expect(lines.map(({ outcome }) => outcome)).toEqual(answers.map(([, outcome]) => outcome));
    for (const [index, { status, error, http_status: http, ...line }] of lines.entries()) {
      const [reply, outcome, words] = answers[index] ?? [];
      expect(status).toBe(outcome === 'ok' ? 'ok' : 'error');
      if (words === null) expect(error).toBeNull();
      else expect(error).toContain(words);
      expect(http).toBe((reply?.kind === 'failed' && reply.httpStatus) || null);
      expect(line).toMatchObject({
        agent: 'dev',
        server: 'files',
        tool: 'write',
        run_id: 'run-1',
        transport: 'stdio',
        retries: 0,
      });
    }
    expect(stage.files.sent).toHaveLength(answers.length);
    expectAllReturned(stage);
  },
);

test(verifies('ledger:outcomes', 'every refusal is on the ledger with its outcome, and nothing is sent'), async () => {
  const stage = await openCallStage({}, { concurrency: 0 });
  const cancelled = stage.call('files_read');
  cancelled.cancel('the user left');
  expect(codeOf(await stage.run(stage.call('nowhere_read')))).toBe('TOOL_UNKNOWN');
  expect(codeOf(await stage.run(stage.call('files_secret')))).toBe('TOOL_UNKNOWN');
  expect(codeOf(await stage.run(stage.call('files_ask')))).toBe('APPROVAL_REQUIRED');
  expect(codeOf(await stage.run(stage.call('files_read', { args: [], argumentsText: '[]' })))).toBe(
    'ARGUMENTS_INVALID',
  );
  expect(codeOf(await stage.run(cancelled))).toBe('CANCELLED');
  expect(codeOf(await stage.run(stage.call('files_read')))).toBe('OVERLOADED');
  stage.stopping = true;
  expect(codeOf(await stage.run(stage.call('files_read')))).toBe('HUB_STOPPING');
  const lines = await stage.lines();
  expect(
    lines.map(({ server, tool, outcome, decision, transport }) => [server, tool, outcome, decision, transport]),
  ).toEqual([
    [null, 'nowhere_read', 'unknown_tool', 'deny', null],
    ['files', 'secret', 'denied', 'deny', null],
    ['files', 'ask', 'denied', 'ask', null],
    ['files', 'read', 'invalid', 'allow', null],
    ['files', 'read', 'cancelled', 'allow', null],
    ['files', 'read', 'overloaded', 'allow', null],
    ['files', 'read', 'unavailable', 'allow', null],
  ]);
  for (const { status, error } of lines) expect([status, error]).toEqual(['error', expect.stringMatching(/./)]);
  expect(stage.files.sent).toEqual([]);
  expect(stage.files.connects).toBe(0);
  expectAllReturned(stage);
});

test.each<[ErrorCode, string]>([
  ['UPSTREAM_UNAVAILABLE', 'unavailable'],
  ['UPSTREAM_NEEDS_LOGIN', 'needs_login'],
  ['UPSTREAM_FORBIDDEN', 'forbidden'],
  ['SERVER_INVALID', 'unavailable'],
])('a server that cannot be connected (%s) is a refusal: %s', async (code, outcome) => {
  const stage = await openCallStage();
  stage.files.onConnect = () => Promise.reject(new HubError(code, 'away'));
  expect(codeOf(await stage.run(stage.call('files_read')))).toBe(code);
  expect(await stage.lines()).toMatchObject([{ outcome, error: 'away', transport: null }]);
  expectAllReturned(stage);
});

test(
  verifies('view:ask-without-human', 'where a rule asks for a human the call is denied, says why and what to do'),
  async () => {
    const stage = await openCallStage();
    const result = await stage.run(stage.call('files_ask'));
    expect(result).toMatchObject({
      kind: 'failed',
      error: { code: 'APPROVAL_REQUIRED', details: { server: 'files', tool: 'ask' } },
    });
    expect(result.kind === 'failed' && result.error.message).toContain('requires approval');
    expect(result.kind === 'failed' && result.error.hint).toContain('operator');
    expect(stage.files.sent).toEqual([]);
  },
);

test(verifies('journal:before-send', 'when a call reaches the server, its record is in the journal'), async () => {
  const stage = await openCallStage();
  const seen: boolean[] = [];
  stage.files.replies = [
    ({ meta }) => {
      const id = /"quartermaster\/call-id":"([^"]+)"/.exec(meta)?.[1];
      const records = stage
        .journal()
        .split('\n')
        .filter((line) => line.includes('"k":"sent"'));
      seen.push(records.some((line) => line.includes(`"id":"${id}"`)));
      return scriptedResult('{}');
    },
  ];
  await stage.run(stage.call('files_read'));
  await Promise.all(Array.from({ length: 20 }, () => stage.run(stage.call('files_write'))));
  // Eight at a time; the others are refused.
  expect(seen).toEqual(Array(9).fill(true));
  expectAllReturned(stage);
});

test('arguments are sent as the text that came, under the own name of the tool', async () => {
  const stage = await openCallStage();
  const argumentsText = '{ "n": 12345678901234567890, "b": 1.0 }';
  await stage.run(stage.call('files_read', { argumentsText, args: JSON.parse(argumentsText), meta: '"trace":"x"' }));
  expect(stage.files.sent).toMatchObject([
    {
      method: 'tools/call',
      members: `"name":"read","arguments":${argumentsText}`,
      name: 'read',
      handlers: undefined,
      capabilities: '{}',
    },
  ]);
  expect(stage.files.sent[0]?.meta).toMatch(/^"trace":"x","quartermaster\/call-id":"[^"]+"$/);
  expect(await stage.lines()).toMatchObject([{ args: JSON.parse(argumentsText) }]);
});

test('nothing is sent while the journal refuses, and the refusal itself is kept', async () => {
  let full = false;
  const stage = await openCallStage({
    write(fd, bytes, offset, length, position) {
      if (full) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      return systemFiles.write(fd, bytes, offset, length, position);
    },
  });
  full = true;
  const results = await Promise.all([1, 2, 3].map(() => stage.run(stage.call('files_read'))));
  expect(results.map(codeOf)).toEqual(Array(3).fill('LEDGER_UNAVAILABLE'));
  expect(stage.files.sent).toEqual([]);
  expectAllReturned(stage);
  full = false;
  await stage.ledger.flush();
  expect(await stage.run(stage.call('files_read'))).toMatchObject({ kind: 'result' });
  expect((await stage.lines()).map(({ outcome }) => outcome)).toEqual([
    'unavailable',
    'unavailable',
    'unavailable',
    'ok',
  ]);
});

test('a call is repeated when nothing was sent or the tool only reads, once, and never otherwise', async () => {
  const causes = fc.constantFrom('connection' as const, 'session' as const, 'answer' as const, 'gave-up' as const);
  const failures = fc.tuple(causes, fc.boolean()).map(([cause, sent]) => failureOf('UPSTREAM_LOST', cause, sent));
  const tools = fc.constantFrom('files_read', 'files_write');
  const second = fc.oneof(fc.constant(scriptedResult('{}')), failures);
  await fc.assert(
    fc.asyncProperty(tools, failures, second, fc.boolean(), async (tool, first, then, reconnects) => {
      const stage = await openCallStage();
      const { files } = stage;
      files.connection = scriptConnection(files);
      files.replies = [() => first, () => then];
      if (!reconnects) files.onConnect = () => Promise.reject(new HubError('UPSTREAM_UNAVAILABLE', 'away'));
      const mayRepeat =
        (first.cause === 'connection' || first.cause === 'session') && (!first.sent || tool === 'files_read');
      const repeated = mayRepeat && reconnects;
      const result = await stage.run(stage.call(tool));
      expect(files.sent).toHaveLength(repeated ? 2 : 1);
      expect(files.losses).toEqual(mayRepeat ? [first] : []);
      const answer = repeated ? then : first;
      if (answer.kind === 'failed') expect(codeOf(result)).toBe(answer.error.code);
      else expect(result).toMatchObject({ kind: 'result' });
      expect(await stage.lines()).toMatchObject([
        { retries: repeated ? 1 : 0, outcome: answer.kind === 'failed' ? 'lost' : 'ok' },
      ]);
      expectAllReturned(stage);
    }),
    { numRuns: 80 },
  );
});

test('a call cancelled while it connects ends at once, unsent, and gives its place back', async () => {
  const stage = await openCallStage({}, { concurrency: 1 });
  let connect: (error: Error) => void = () => {};
  stage.files.onConnect = () =>
    new Promise((_, reject) => {
      connect = reject;
    });
  const call = stage.call('files_read');
  const running = stage.run(call);
  await vi.waitFor(() => expect(stage.files.connects).toBe(1));
  expect(codeOf(await stage.run(stage.call('files_read')))).toBe('OVERLOADED');
  call.cancel('the user left');
  expect(codeOf(await running)).toBe('CANCELLED');
  expectAllReturned(stage);
  // The connection comes to nothing later; nobody is left to hear of it.
  connect(new HubError('UPSTREAM_UNAVAILABLE', 'away'));
  await pause(1);
  expect(stage.files.sent).toEqual([]);
  expect((await stage.lines()).map(({ outcome }) => outcome).toSorted()).toEqual(['cancelled', 'overloaded']);
});

test('a call cancelled while its record is written is not sent', async () => {
  let cancel = (): void => {};
  const stage = await openCallStage({
    write(fd, bytes, offset, length, position) {
      cancel();
      return systemFiles.write(fd, bytes, offset, length, position);
    },
  });
  const call = stage.call('files_write');
  cancel = () => call.cancel('the user left');
  expect(codeOf(await stage.run(call))).toBe('CANCELLED');
  expect(stage.files.sent).toEqual([]);
  expect(stage.files.cancelled).toEqual([]);
  expect(await stage.lines()).toMatchObject([
    { outcome: 'cancelled', error: 'The call was cancelled: the user left.' },
  ]);
  expectAllReturned(stage);
});

test('a call cancelled after it was sent is cancelled at the server, and not repeated', async () => {
  const stage = await openCallStage();
  stage.files.replies = [() => new Promise(() => {})];
  const call = stage.call('files_read');
  const running = stage.run(call);
  await vi.waitFor(() => expect(stage.files.sent).toHaveLength(1));
  expect(stage.inFlight.size).toBe(1);
  call.cancel('the user left');
  call.cancel('again');
  expect(codeOf(await running)).toBe('CANCELLED');
  expect(stage.files.cancelled).toHaveLength(1);
  expect(stage.files.sent).toHaveLength(1);
  expect(await stage.lines()).toMatchObject([{ outcome: 'cancelled' }]);
  expectAllReturned(stage);
});

test('a call cancelled between two attempts keeps the outcome of the first', async () => {
  const stage = await openCallStage();
  stage.files.connection = scriptConnection(stage.files);
  stage.files.replies = [() => failureOf('UPSTREAM_LOST', 'connection', true)];
  stage.files.onConnect = () => new Promise(() => {});
  const call = stage.call('files_read');
  const running = stage.run(call);
  await vi.waitFor(() => expect(stage.files.connects).toBe(1));
  call.cancel('the user left');
  expect(codeOf(await running)).toBe('UPSTREAM_LOST');
  expect(stage.files.sent).toHaveLength(1);
  expect(await stage.lines()).toMatchObject([{ outcome: 'lost', retries: 0 }]);
  expectAllReturned(stage);
});

test('no more calls are in flight than the server may have, and each place is used again', async () => {
  const stage = await openCallStage({}, { concurrency: 3 });
  const waiting: (() => void)[] = [];
  stage.files.replies = [
    () => new Promise<UpstreamReply>((resolve) => waiting.push(() => resolve(scriptedResult('{}')))),
  ];
  for (let roundTrip = 0; roundTrip < 3; roundTrip++) {
    const calls = Array.from({ length: 5 }, () => stage.run(stage.call('files_write')));
    await vi.waitFor(() => expect(waiting).toHaveLength(3));
    expect(stage.files.held).toBe(3);
    for (const answer of waiting.splice(0)) answer();
    const results = await Promise.all(calls);
    expect(results.filter(({ kind }) => kind === 'result')).toHaveLength(3);
    expect(results.filter((result) => codeOf(result) === 'OVERLOADED')).toHaveLength(2);
  }
  expectAllReturned(stage);
});

test('a call that is given up for a reason of its own reads so, and the server is told', async () => {
  const stage = await openCallStage();
  stage.files.replies = [() => new Promise(() => {})];
  const call = stage.call('files_write');
  const running = stage.run(call);
  await vi.waitFor(() => expect(stage.files.sent).toHaveLength(1));
  const late = new HubError('UPSTREAM_TIMEOUT', 'The deadline passed.');
  call.cancel(late);
  expect(await running).toMatchObject({
    error: { code: 'UPSTREAM_TIMEOUT', details: { server: 'files', tool: 'write' } },
  });
  expect(stage.files.cancelled).toEqual([late]);
  expect(await stage.lines()).toMatchObject([{ outcome: 'timeout', error: 'The deadline passed.' }]);
  expectAllReturned(stage);
});

test('progress reaches the caller while the call is in flight', async () => {
  const stage = await openCallStage();
  const seen: unknown[] = [];
  stage.files.replies = [
    ({ handlers }) => {
      handlers?.progress({ progress: 1 });
      return scriptedResult('{}');
    },
  ];
  await stage.run(stage.call('files_read', { channel: { progress: (params) => seen.push(params) } }));
  expect(seen).toEqual([{ progress: 1 }]);
  stage.files.sent[0]?.handlers?.progress({ progress: 2 });
  expect(seen).toEqual([{ progress: 1 }]);
});

test('a defect on the way is thrown, and the call has an end on the ledger all the same', async () => {
  const stage = await openCallStage();
  stage.files.connection = {
    ...scriptConnection(stage.files),
    send() {
      throw new TypeError('a defect');
    },
  };
  await expect(stage.run(stage.call('files_read'))).rejects.toThrow('a defect');
  expect(await stage.lines()).toMatchObject([{ status: 'error', error: 'a defect', transport: 'stdio' }]);
  expectAllReturned(stage);
});

test('a failure names the server and the tool', async () => {
  const stage = await openCallStage();
  stage.files.replies = [() => failureOf('UPSTREAM_TIMEOUT', 'gave-up', true)];
  const result = await stage.run(stage.call('files_read'));
  expect(result).toMatchObject({ kind: 'failed', error: { details: { server: 'files', tool: 'read' } } });
});

function codeOf(result: CallResult): ErrorCode | undefined {
  return result.kind === 'failed' ? result.error.code : undefined;
}

function expectAllReturned(stage: CallStage): void {
  expect(stage.files.held).toBe(0);
  expect(stage.inFlight.size).toBe(0);
}

test('a call by reference is recorded like any other, and says what it found unless it is denied', async () => {
  const stage = await openCallStage();
  const by = (tool: string, only?: readonly string[]) =>
    stage.call(`files.${tool}`, {
      reference: { server: 'files', tool },
      only: only?.map((name) => ({ server: 'files', tool: name })),
    });
  const [read, secret, unknown, unselected] = [by('read'), by('secret'), by('nothing'), by('write', ['read'])];
  expect((await stage.run(read)).kind).toBe('result');
  expect(codeOf(await stage.run(secret))).toBe('TOOL_UNKNOWN');
  expect(await stage.run(unknown)).toMatchObject({ error: { message: 'Unknown tool: files.nothing' } });
  expect(await stage.run(unselected)).toMatchObject({ error: { code: 'TOOL_UNKNOWN', details: { tool: 'write' } } });
  expect([read, secret, unknown].map(({ target }) => target?.subjectName)).toEqual(['read', undefined, undefined]);
  expect(stage.files.sent).toHaveLength(1);
  const lines = await stage.lines();
  expect(lines.map(({ server, tool, outcome }) => [server, tool, outcome])).toEqual([
    ['files', 'read', 'ok'],
    ['files', 'secret', 'denied'],
    [null, 'files.nothing', 'unknown_tool'],
    ['files', 'write', 'unknown_tool'],
  ]);
});
