import { expect, test, vi } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { createSystemClock, type ErrorCode, HubError } from '../base/index.ts';
import { type ClientResponse, clientCapabilitiesOf, type ServerRequest } from '../mcp/index.ts';
import { createExclusiveAccess } from '../upstream/connecting/exclusive-access.ts';
import type { UpstreamReply } from '../upstream/index.ts';
import type { CallRequest, CallResult } from './call.ts';
import { type CallStage, openCallStage } from './call-stage.fixture.ts';
import type { CallClient } from './channel.ts';
import { failureOf, scriptConnection, scriptedResult } from './scripted-server.fixture.ts';

const done = scriptedResult('{"content":[]}');
const accepted: ClientResponse = { kind: 'result', text: '{"action":"accept"}' };

function inputRequired(count: number, more: object = {}, method = 'elicitation/create'): UpstreamReply {
  const keys = Array.from({ length: count }, (_, index) => `k${index}`);
  const inputRequests = Object.fromEntries(keys.map((key) => [key, { method, params: { message: key } }]));
  return scriptedResult(JSON.stringify({ resultType: 'input_required', inputRequests, ...more }));
}

function clientOf(takesInputRequired = false, capabilities: unknown = { elicitation: {}, roots: {} }): CallClient {
  return { principal: 'p', session: 's', clientCapabilities: clientCapabilitiesOf(capabilities), takesInputRequired };
}

/** A client of the handshake era that answers as the test says. */
function asking(
  answer: (serverRequest: ServerRequest) => Promise<ClientResponse> = async () => accepted,
  client = clientOf(),
): Partial<CallRequest> {
  return { client, channel: { ask: answer } };
}

function reply(...replies: (UpstreamReply | (() => Promise<UpstreamReply>))[]): CallStage['files']['replies'] {
  return replies.map((each) => () => (typeof each === 'function' ? each() : each));
}

test('a waiting client gets the requests of a modern server, and the call is sent again with the answers', async () => {
  const stage = await openCallStage();
  stage.files.replies = reply(
    inputRequired(2, { requestState: 'one' }),
    inputRequired(0, { requestState: 'two' }),
    inputRequired(1),
    done,
  );
  const seen: string[] = [];
  const result = await stage.run(
    stage.call(
      'files_write',
      asking(async ({ paramsText }) => {
        seen.push(paramsText);
        return accepted;
      }),
    ),
  );
  expect(result).toMatchObject({ kind: 'result', result: { value: { content: [] } } });
  expect(seen).toEqual(['{"message":"k0"}', '{"message":"k1"}', '{"message":"k0"}']);
  const both = '"inputResponses":{"k0":{"action":"accept"},"k1":{"action":"accept"}},"requestState":"one"';
  expect(stage.files.sent.map(({ members }) => members.replace('"name":"write","arguments":{}', ''))).toEqual([
    '',
    `,${both}`,
    ',"inputResponses":{},"requestState":"two"',
    ',"inputResponses":{"k0":{"action":"accept"}}',
  ]);
  expect(await stage.lines()).toMatchObject([{ outcome: 'ok', retries: 0 }]);
  expectAllReturned(stage);
});

test(
  verifies(
    'upstream:session-lost',
    'a call whose connection is lost before its answers are sent goes on with them, and does not begin again',
  ),
  async () => {
    const stage = await openCallStage();
    const state = { requestState: 'one' };
    stage.files.replies = reply(inputRequired(1, state), failureOf('UPSTREAM_LOST', 'connection', false), done);
    expect(await stage.run(stage.call('files_write', asking()))).toMatchObject({ kind: 'result' });
    const answered = ',"inputResponses":{"k0":{"action":"accept"}},"requestState":"one"';
    expect(stage.files.sent.map(({ members }) => members.replace('"name":"write","arguments":{}', ''))).toEqual([
      '',
      answered,
      answered,
    ]);
    expect(await stage.lines()).toMatchObject([{ outcome: 'ok', retries: 1 }]);
    expectAllReturned(stage);
  },
);

test('an unanswered form counts as cancelled; a failed sampling request ends the call', async () => {
  const stage = await openCallStage();
  const client = clientOf(false, { elicitation: {}, sampling: {} });
  const refuse = asking(async () => ({ kind: 'error', text: '{"code":-1,"message":"no"}' }), client);
  stage.files.replies = reply(inputRequired(1), done);
  expect(await stage.run(stage.call('files_write', refuse))).toMatchObject({ kind: 'result' });
  expect(stage.files.sent[1]?.members).toContain('"inputResponses":{"k0":{"action":"cancel"}}');
  stage.files.replies = reply(inputRequired(1, {}, 'sampling/createMessage'), done);
  expect(codeOf(await stage.run(stage.call('files_write', refuse)))).toBe('INPUT_MISSING');
  expectAllReturned(stage);
});

test.each([
  ['something that no client declares', inputRequired(1, {}, 'roots/delete'), 'CAPABILITY_MISSING'],
  ['what this client did not declare', inputRequired(1, {}, 'sampling/createMessage'), 'CAPABILITY_MISSING'],
  [
    'a question that is none',
    scriptedResult('{"resultType":"input_required","inputRequests":{"a":7}}'),
    'CAPABILITY_MISSING',
  ],
  ['33 things at once', inputRequired(33), 'UPSTREAM_GARBLED'],
  ['for nothing', inputRequired(0), 'UPSTREAM_GARBLED'],
  [
    'for nothing that could be read',
    scriptedResult('{"resultType":"input_required","inputRequests":[]}'),
    'UPSTREAM_GARBLED',
  ],
] as const)('a server that asks for %s gets no answer, and nobody is asked', async (_what, serverRequest, code) => {
  for (const takesInputRequired of [false, true]) {
    const stage = await openCallStage();
    stage.files.replies = reply(serverRequest);
    const ask = vi.fn(async () => accepted);
    const result = await stage.run(stage.call('files_write', asking(ask, clientOf(takesInputRequired))));
    expect(codeOf(result)).toBe(code);
    expect(ask).not.toHaveBeenCalled();
    expect(stage.files.sent).toHaveLength(1);
    expectAllReturned(stage);
  }
});

test('a caller without a client is not asked', async () => {
  const stage = await openCallStage();
  stage.files.replies = reply(inputRequired(1));
  expect(codeOf(await stage.run(stage.call('files_write')))).toBe('CAPABILITY_MISSING');
});

test('a server that keeps requesting input is stopped', async () => {
  const stage = await openCallStage();
  stage.files.replies = reply(inputRequired(1));
  expect(codeOf(await stage.run(stage.call('files_write', asking())))).toBe('UPSTREAM_GARBLED');
  expect(stage.files.sent).toHaveLength(17);
  expectAllReturned(stage);
});

test('a modern client gets the server requests as its result', async () => {
  const stage = await openCallStage();
  stage.files.replies = reply(inputRequired(1, { requestState: 'mine' }));
  const inputs = '"inputResponses":{},"requestState":"before"';
  const result = await stage.run(stage.call('files_write', { client: clientOf(true), inputs }));
  expect(result).toMatchObject({ kind: 'result', result: { value: { requestState: 'mine' } } });
  expect(stage.files.sent[0]?.members).toContain(inputs);
  expect(await stage.lines()).toMatchObject([{ outcome: 'input_required' }]);
});

test('a call that is cancelled while its client is asked ends at once, and nothing more is sent', async () => {
  const stage = await openCallStage();
  stage.files.replies = reply(inputRequired(1), done);
  let answer: (answer: ClientResponse) => void = () => {};
  const ask = vi.fn(() => new Promise<ClientResponse>((resolve) => (answer = resolve)));
  const call = stage.call('files_write', asking(ask));
  const running = stage.run(call);
  await vi.waitFor(() => expect(ask).toHaveBeenCalled());
  call.cancel('enough');
  expect(codeOf(await running)).toBe('CANCELLED');
  answer(accepted);
  await new Promise((resolve) => setImmediate(resolve));
  expect(stage.files.sent).toHaveLength(1);
  expect(await stage.lines()).toMatchObject([{ outcome: 'cancelled' }]);
  expectAllReturned(stage);
});

test('a call that is cancelled after its client was asked is cancelled at the server', async () => {
  const stage = await openCallStage();
  stage.files.replies = reply(inputRequired(1), () => new Promise(() => {}));
  const call = stage.call('files_write', asking());
  const running = stage.run(call);
  await vi.waitFor(() => expect(stage.files.sent).toHaveLength(2));
  call.cancel('enough');
  expect(codeOf(await running)).toBe('CANCELLED');
  expect(stage.files.cancelled).toHaveLength(1);
  expectAllReturned(stage);
});

test('a connection that is lost between two rounds costs another connection, and the client is asked there', async () => {
  const stage = await openCallStage();
  const ask = vi.fn(async () => accepted);
  stage.files.replies = reply(
    inputRequired(1),
    failureOf('UPSTREAM_UNAVAILABLE', 'connection', false),
    inputRequired(1),
    done,
  );
  const result = await stage.run(stage.call('files_write', asking(ask)));
  expect(result).toMatchObject({ kind: 'result', result: { value: { content: [] } } });
  expect(ask).toHaveBeenCalledTimes(2);
  expect(await stage.lines()).toMatchObject([{ outcome: 'ok', retries: 1 }]);
  expectAllReturned(stage);
});

test('a call that is repeated over another connection has a turn there, and leaves it', async () => {
  const stage = await openCallStage();
  const accesses = [1, 2].map(() =>
    createExclusiveAccess({ clock: createSystemClock() }, { server: 'files', timeoutMs: 30_000 }),
  );
  stage.files.onConnect = async () => {
    const connection = { ...scriptConnection(stage.files), exclusiveAccess: accesses[stage.files.connects - 1] };
    stage.files.connection = connection;
    return connection;
  };
  stage.files.replies = reply(failureOf('UPSTREAM_UNAVAILABLE', 'connection', false), done);
  expect(await stage.run(stage.call('files_write', asking()))).toMatchObject({ kind: 'result' });
  expect(stage.files.connects).toBe(2);
  for (const exclusiveAccess of accesses) {
    // Another client has its turn at once.
    const other = {};
    await exclusiveAccess.enter(other, 'other');
    exclusiveAccess.leave(other);
  }
  expectAllReturned(stage);
});

test('a call that is cancelled while it waits for its turn gives its place back', async () => {
  const stage = await openCallStage();
  const exclusiveAccess = createExclusiveAccess({ clock: createSystemClock() }, { server: 'files', timeoutMs: 30_000 });
  stage.files.connection = { ...scriptConnection(stage.files), exclusiveAccess };
  const before = {};
  await exclusiveAccess.enter(before, 'before');
  const call = stage.call('files_write', asking());
  const running = stage.run(call);
  await vi.waitFor(() => expect(stage.files.held).toBe(1));
  call.cancel('enough');
  expect(codeOf(await running)).toBe('CANCELLED');
  expect(stage.files.sent).toHaveLength(0);
  exclusiveAccess.leave(before);
  await exclusiveAccess.enter({}, 'after');
  expectAllReturned(stage);
});

test('a call without a connection is refused and recorded', async () => {
  const stage = await openCallStage();
  const full = (): never => {
    throw new HubError('OVERLOADED', 'All connections are in use.');
  };
  Object.assign(stage.files.dispatch, { isolated: { at: full } });
  expect(codeOf(await stage.run(stage.call('files_write')))).toBe('OVERLOADED');
  expect(await stage.lines()).toMatchObject([{ outcome: 'overloaded' }]);
  expectAllReturned(stage);
});

test('so many questions of a call are open at once, and no more', async () => {
  const stage = await openCallStage();
  const open: ((answer: ClientResponse) => void)[] = [];
  let answers: ClientResponse[] = [];
  stage.files.replies = [
    async ({ handlers }) => {
      const serverRequest: ServerRequest = { method: 'elicitation/create', params: {}, paramsText: '{}' };
      const all = Array.from({ length: 100 }, () => handlers?.ask(serverRequest) ?? accepted);
      for (const settle of open) settle(accepted);
      answers = await Promise.all(all);
      return done;
    },
  ];
  await stage.run(
    stage.call(
      'files_write',
      asking(() => new Promise((resolve) => open.push(resolve))),
    ),
  );
  expect(answers.filter(({ kind }) => kind === 'result')).toHaveLength(32);
  expect(answers.filter(({ kind }) => kind === 'error')).toHaveLength(68);
});

function codeOf(result: CallResult): ErrorCode | undefined {
  return result.kind === 'failed' ? result.error.code : undefined;
}

function expectAllReturned(stage: CallStage): void {
  expect(stage.files.held).toBe(0);
  expect(stage.inFlight.size).toBe(0);
}
