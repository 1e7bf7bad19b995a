import { expect, onTestFinished, test } from 'vitest';
import { openStage, type Stage, stdioServer } from '../../../test/support/hub.ts';
import { initializeRequest, modernMeta } from '../../../test/support/mcp-clients.ts';
import type { Message } from '../../../test/support/mcp-http.ts';
import { eventually } from '../../../test/support/within.ts';
import { createSilentLogger, systemRandom } from '../../base/index.ts';
import { readBody } from '../../mcp/index.ts';
import { Conversation } from './conversation.ts';

const forms = { elicitation: { form: {} } };
const accept = { action: 'accept', content: {} };

async function begin() {
  const stage = await openStage();
  await stage.start({ servers: { asker: stdioServer('asker.mjs', [], { isolation: 'per-session' }) } });
  await stage.hub.discover();
  return { stage, ...converse(stage) };
}

function converse(stage: Stage) {
  const sent: Message[] = [];
  const defects: unknown[] = [];
  const conversation = new Conversation({
    hub: stage.hub,
    caller: stage.hub.callerFor({ agent: 'tester' }),
    clock: stage.clock,
    logger: createSilentLogger(),
    random: systemRandom,
    send: (text) => sent.push(JSON.parse(text)),
    isBehind: () => false,
    onIdle() {},
    onDefect: (error) => defects.push(error),
  });
  onTestFinished(() => conversation.close());
  let taken = 0;
  return {
    conversation,
    defects,
    sent,
    sayText: (text: string) => conversation.receive(readBody(text)),
    say: (message: object) => conversation.receive(readBody(JSON.stringify({ jsonrpc: '2.0', ...message }))),
    next: (): Promise<Message> => {
      const index = taken++;
      return eventually(() => sent[index], `message ${index + 1}`);
    },
  };
}

/** A call of a modern client that can be asked. */
function modernCall(id: number, args: object, more: object = {}): object {
  const _meta = modernMeta({ 'io.modelcontextprotocol/clientCapabilities': forms });
  return { id, method: 'tools/call', params: { _meta, name: 'asker_ask', arguments: args, ...more } };
}

function answersTo({ result }: Message): object {
  const keys = Object.keys((result?.inputRequests ?? {}) as object); // an object by the protocol
  return {
    requestState: result?.requestState,
    inputResponses: Object.fromEntries(keys.map((key) => [key, accept])),
  };
}

function noCalls({ hub }: Stage): Promise<true> {
  return eventually(() => hub.callsInFlight === 0 || undefined, 'all calls to end');
}

test('a modern client on one connection comes again with its answers', async () => {
  const { say, next, stage } = await begin();
  say(modernCall(1, { rounds: 2 }));
  const first = await next();
  say(modernCall(2, { rounds: 2 }, answersTo(first)));
  const second = await next();
  expect([first.result?.resultType, second.result?.resultType]).toEqual(['input_required', 'input_required']);
  say(modernCall(3, { rounds: 2 }, answersTo(second)));
  expect(await next()).toMatchObject({ id: 3, result: { content: [{ text: '["accept","accept"]' }] } });
  await noCalls(stage);
});

test('a modern client that leaves before it is asked again is not waited for', async () => {
  const { say, next, stage, conversation } = await begin();
  say(modernCall(1, { rounds: 2 }));
  const first = await next();
  say(modernCall(2, { rounds: 2 }, answersTo(first)));
  conversation.close();
  await noCalls(stage);
  expect(await stage.ledger()).toMatchObject([{ outcome: 'cancelled' }]);
});

test('a modern client that leaves while its call waits for it ends the call', async () => {
  const { say, next, stage, conversation } = await begin();
  say(modernCall(1, {}));
  await next();
  conversation.close();
  await noCalls(stage);
  expect(await stage.ledger()).toMatchObject([{ outcome: 'cancelled' }]);
});

test('the state of one connection is worth nothing on another', async () => {
  const { say, next, stage } = await begin();
  const other = converse(stage);
  say(modernCall(1, {}));
  const first = await next();
  other.say(modernCall(1, {}, answersTo(first)));
  expect(await other.next()).toMatchObject({ id: 1, error: { code: -32602 } });
  say(modernCall(2, {}, answersTo(first)));
  expect(await next()).toMatchObject({ id: 2, result: { content: [{ text: '["accept"]' }] } });
});

test('the state of one call is worth nothing with arguments that only parse to the same', async () => {
  const { sayText, next } = await begin();
  const call = (id: number, ticket: string, more?: object): string =>
    JSON.stringify({ jsonrpc: '2.0', ...modernCall(id, { ticket: 'here', a: 1 }, more) }).replace('"here"', ticket);
  sayText(call(1, '9007199254740992'));
  const first = await next();
  sayText(call(2, '9007199254740993', answersTo(first)));
  expect(await next()).toMatchObject({ id: 2, error: { code: -32602 } });
  // The order of the keys and blanks do not matter.
  const sameArguments = call(3, '', answersTo(first)).replace(
    '{"ticket":,"a":1}',
    '{"a": 1, "ticket": 9007199254740992}',
  );
  sayText(sameArguments);
  expect(await next()).toMatchObject({ id: 3, result: { content: [{ text: '["accept"]' }] } });
});

test('a client of the handshake era is asked in between, and its answer is no request', async () => {
  const { say, next, stage } = await begin();
  say(initializeRequest('2025-11-25', 'init', forms));
  await next();
  say({ id: 1, method: 'tools/call', params: { name: 'asker_ask', arguments: { count: 2 } } });
  const serverRequests = [await next(), await next()];
  expect(serverRequests.map(({ method }) => method)).toEqual(['elicitation/create', 'elicitation/create']);
  for (const { id } of serverRequests.toReversed()) say({ id, result: accept });
  expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: '["accept","accept"]' }] } });
  await noCalls(stage);
});

test('a client of the handshake era that leaves while it is asked answers nothing, and the call ends', async () => {
  const { say, next, stage, conversation } = await begin();
  say(initializeRequest('2025-11-25', 'init', forms));
  await next();
  say({ id: 1, method: 'tools/call', params: { name: 'asker_ask', arguments: { rounds: 2 } } });
  await next();
  conversation.close();
  await noCalls(stage);
  await eventually(() => stage.children().length === 1 || undefined, 'its connection to close');
});

test('a call that is cancelled while it asks gets no answer, and its question is taken back', async () => {
  const { say, next, stage, sent } = await begin();
  say(initializeRequest('2025-11-25', 'init', forms));
  await next();
  say({ id: 1, method: 'tools/call', params: { name: 'asker_ask', arguments: {} } });
  const { id } = await next();
  say({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } });
  expect(await next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
  await noCalls(stage);
  say({ id: 2, method: 'ping' });
  expect(await next()).toMatchObject({ id: 2, result: {} });
  expect(sent.filter((message) => message.id === 1)).toEqual([]);
});

test('a defect in handling a message is told to whoever has the connection, and rejects into nothing', async () => {
  const { stage } = await begin();
  const defects: unknown[] = [];
  const broken = new Conversation({
    hub: stage.hub,
    caller: stage.hub.callerFor({ agent: 'tester' }),
    clock: stage.clock,
    logger: createSilentLogger(),
    random: systemRandom,
    send() {
      throw new TypeError('a defect');
    },
    isBehind: () => false,
    onIdle() {},
    onDefect: (error) => defects.push(error),
  });
  onTestFinished(() => broken.close());
  broken.receive(readBody('{"jsonrpc":"2.0","id":1,"method":"ping"}'));
  await eventually(() => defects[0], 'the defect');
  expect(defects).toEqual([new TypeError('a defect')]);
});
