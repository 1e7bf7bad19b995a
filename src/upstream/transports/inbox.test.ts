import { expect, test } from 'vitest';
import { createSilentLogger, type HubError } from '../../base/index.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { type ClientResponse, unanswered } from '../../mcp/index.ts';
import { Deadlines } from '../connecting/deadlines.ts';
import { maxUnreadable, tooMuchUnreadable } from '../failures.ts';
import { handlers } from '../request-handlers.fixture.ts';
import { controlRequest, type RequestHandlers } from '../transport.ts';
import { Inbox } from './inbox.ts';
import { Pending, PendingRequests } from './pending.ts';

/** What follows an answer takes some turns of the loop's microtasks, not time. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

const accepted: ClientResponse = { kind: 'result', text: '{"action":"accept"}' };

function begin(exclusive = true) {
  const clock = createManualClock();
  const deadlines = new Deadlines(clock);
  const pending = new PendingRequests();
  const sent: string[] = [];
  const unreadable: string[] = [];
  const ended: (number | HubError)[] = [];
  const inbox = new Inbox('files', {
    logger: createSilentLogger(),
    events: { onNotification() {} },
    pending,
    onAnswer(call) {
      pending.delete(call);
      call.deadline.end();
    },
    send: (message) => sent.push(message),
    onUnreadable: (what) => unreadable.push(what),
    exclusive,
  });
  const start = (id: number, parts: Partial<RequestHandlers> | undefined): void => {
    const request = { ...controlRequest('tools/call', {}, 1000), handlers: parts && handlers(parts) };
    pending.add(new Pending(id, request, deadlines, (_call, why) => ended.push(why)));
  };
  const receive = (message: object): void => inbox.receive(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const ask = (id: number, method = 'elicitation/create'): void => receive({ id, method, params: { message: 'Who?' } });
  return { clock, sent, ended, start, receive, ask, inbox, unreadable };
}

test('a question goes to the newest call of the only client, and time stands still for all that may have asked', async () => {
  const { clock, sent, ended, start, ask } = begin();
  const asked: string[] = [];
  let settle: (answer: ClientResponse) => void = () => {};
  const owner = {};
  start(1, { owner, ask: async () => accepted });
  start(2, undefined);
  start(3, {
    owner,
    ask(serverRequest) {
      asked.push(serverRequest.paramsText);
      return new Promise((resolve) => {
        settle = resolve;
      });
    },
  });
  ask(7);
  expect(asked).toEqual(['{"message":"Who?"}']);
  clock.advance(999);
  expect(ended).toEqual([]);
  clock.advance(100_000);
  // The one whose client cannot be asked.
  expect(ended).toEqual([1000]);
  settle(accepted);
  await turns();
  expect(sent).toEqual(['{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}']);
  clock.advance(1000);
  expect(ended).toEqual([1000, 1000, 1000]);
});

test('a question outlives a call that ends first: it was asked by another one of that client', async () => {
  const { sent, start, ask, receive } = begin();
  const asked: number[] = [];
  const owner = {};
  const ends = new Map<number, (answer: ClientResponse) => void>();
  const listen = (id: number): void =>
    start(id, {
      owner,
      ask() {
        asked.push(id);
        return new Promise((resolve) => ends.set(id, resolve));
      },
    });
  listen(1);
  listen(2);
  ask(7);
  // It came later, so it cannot have asked.
  listen(3);
  receive({ id: 2, result: {} });
  ends.get(2)?.(unanswered('The call has ended'));
  await turns();
  expect(asked).toEqual([2, 1]);
  expect(sent).toEqual([]);
  ends.get(1)?.(accepted);
  await turns();
  expect(sent).toEqual(['{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}']);
});

test('a client that refuses is not asked again, and the last call that ends has the last word', async () => {
  const { sent, start, ask, receive } = begin();
  const owner = {};
  let asked = 0;
  const refuse = async (): Promise<ClientResponse> => {
    asked++;
    return unanswered('no');
  };
  start(1, { owner, ask: refuse });
  start(2, { owner, ask: refuse });
  ask(7);
  await turns();
  expect(asked).toBe(1);
  let settle: (answer: ClientResponse) => void = () => {};
  receive({ id: 2, result: {} });
  receive({ id: 1, result: {} });
  start(3, {
    owner,
    ask: () =>
      new Promise((resolve) => {
        settle = resolve;
      }),
  });
  ask(8);
  receive({ id: 3, result: {} });
  settle(unanswered('The call has ended'));
  await turns();
  expect(sent.map((message) => (JSON.parse(message) as { error: { message: string } }).error.message)).toEqual([
    'no',
    'The call has ended',
  ]);
});

test('with two clients on one connection, neither gets server requests or logs', () => {
  const { sent, start, ask, receive } = begin();
  const heard: unknown[] = [];
  const ear = (): Partial<RequestHandlers> => ({
    owner: {},
    ask: async () => accepted,
    log: (line) => heard.push(line),
  });
  start(1, ear());
  start(2, ear());
  ask(7);
  receive({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
  expect(heard).toEqual([]);
  expect(JSON.parse(String(sent[0]))).toMatchObject({ id: 7, error: { code: -32601 } });
  // One of them is done.
  receive({ id: 1, result: {} });
  receive({ method: 'notifications/message', params: { level: 'info', data: 'y' } });
  expect(heard).toEqual([{ level: 'info', data: 'y' }]);
});

test('on a connection that all share nobody is asked', () => {
  const { sent, start, ask } = begin(false);
  start(1, { ask: async () => accepted });
  ask(7);
  expect(JSON.parse(String(sent[0]))).toMatchObject({ id: 7, error: { code: -32601 } });
});

test('a ping is answered by the hub itself, whoever is there', () => {
  const { sent, start, ask } = begin();
  ask(7, 'ping');
  start(1, { ask: async () => accepted });
  ask(8, 'ping');
  expect(sent).toEqual(['{"jsonrpc":"2.0","id":7,"result":{}}', '{"jsonrpc":"2.0","id":8,"result":{}}']);
});

test('a call that is answered while its question is open is not timed out later', async () => {
  const { clock, ended, start, ask, receive, sent } = begin();
  let settle: (answer: ClientResponse) => void = () => {};
  start(1, {
    ask: () =>
      new Promise((resolve) => {
        settle = resolve;
      }),
  });
  ask(7);
  ask(8);
  receive({ id: 1, result: {} });
  settle(accepted);
  await turns();
  expect(sent).toHaveLength(1);
  clock.advance(1_000_000);
  expect(ended).toEqual([]);
});

test('a server that sends nothing but garbage is given up, one that answers in between is not', () => {
  const { inbox, receive, unreadable } = begin();
  const flood = (count: number): void => {
    for (let index = 0; index < count; index++) inbox.receive(index % 2 === 0 ? 'x' : '{');
  };
  for (let round = 0; round < 3; round++) {
    flood(maxUnreadable - 1);
    receive({ method: 'notifications/message', params: {} });
  }
  expect(unreadable).toEqual([]);
  flood(maxUnreadable + 10);
  expect(unreadable).toEqual([tooMuchUnreadable]);
});
