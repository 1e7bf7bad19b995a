import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createAgentAccounts } from '../../base/index.ts';
import type { Connection } from '../connecting/connection.ts';
import { scriptedConnection } from '../connecting/scripted-connection.fixture.ts';
import { lostConnection } from '../failures.ts';
import { errorOf, resultOf, settle } from '../scripted-transport.fixture.ts';
import type { UpstreamReply } from '../transport.ts';
import { createResourceSubscriptions } from './resource-subscriptions.ts';

/** A connection that writes down what it is asked; the test answers. */
function scriptConnection() {
  const asked: { readonly uri: string; answer(reply: UpstreamReply): void }[] = [];
  const given: string[] = [];
  const connection = scriptedConnection({
    subscribe(uri) {
      let answer: (reply: UpstreamReply) => void = () => {};
      const reply = new Promise<UpstreamReply>((resolve) => {
        answer = resolve;
      });
      asked.push({ uri, answer });
      return { reply, cancel() {} };
    },
    unsubscribe: (uri) => given.push(uri),
  });
  return { connection, asked, given };
}

function begin() {
  const heard: string[] = [];
  const log: string[] = [];
  const note = (event: string, fields: object = {}): void => void log.push(JSON.stringify({ event, ...fields }));
  let current: Connection | undefined;
  const subscriptions = createResourceSubscriptions(
    {
      logger: { debug: note, info: note, warn: note, error: note },
      redact: (text) => text.replaceAll('hunter2', '[redacted]'),
      connection: () => current,
      onUpdated: (uri) => heard.push(uri),
    },
    { server: 'files' },
  );
  const use = (connection: Connection | undefined): void => {
    current = connection;
  };
  return { subscriptions, heard, log, use };
}

const done = resultOf({});

test('every watch is sent; only the last one to leave ends it', async () => {
  const { subscriptions, use } = begin();
  const { connection, asked, given } = scriptConnection();
  use(connection);
  const replies = [subscriptions.subscribe(connection, 'a:1').reply, subscriptions.subscribe(connection, 'a:1').reply];
  for (const { answer } of asked) answer(done);
  expect(await Promise.all(replies)).toEqual([done, done]);
  subscriptions.unsubscribe('a:1');
  expect(given).toEqual([]);
  subscriptions.unsubscribe('a:1');
  expect(given).toEqual(['a:1']);
  subscriptions.unsubscribe('a:1');
  expect([given.length, subscriptions.size]).toEqual([1, 0]);
});

test.each([errorOf(-32602, 'no such resource'), lostConnection('files', 'gone', true)])(
  'without a result nobody watches',
  async (reply) => {
    const { subscriptions, use } = begin();
    const { connection, asked } = scriptConnection();
    use(connection);
    const first = subscriptions.subscribe(connection, 'a:1').reply;
    asked[0]?.answer(done);
    await first;
    const second = subscriptions.subscribe(connection, 'a:1').reply;
    asked[1]?.answer(reply);
    expect(await second).toBe(reply);
    await settle();
    expect(subscriptions.size).toBe(1);
    subscriptions.unsubscribe('a:1');
    expect(subscriptions.size).toBe(0);
  },
);

test('what the server says of resources is passed on; what is no URI is not', () => {
  const { subscriptions, heard } = begin();
  subscriptions.updated({ uri: 'a:1/part' });
  subscriptions.updated({});
  subscriptions.updated({ uri: 7 });
  expect(heard).toEqual(['a:1/part']);
});

test('a new connection is asked for all that is watched; each may have changed meanwhile', async () => {
  const { subscriptions, heard, log, use } = begin();
  const [old, next] = [scriptConnection(), scriptConnection()];
  use(old.connection);
  for (const uri of ['a:1', 'a:2', 'a:hunter2']) void subscriptions.subscribe(old.connection, uri);
  for (const { answer } of old.asked) answer(done);
  await settle();
  use(next.connection);
  void subscriptions.resume(next.connection);
  expect(next.asked.map(({ uri }) => uri)).toEqual(['a:1', 'a:2', 'a:hunter2']);
  subscriptions.unsubscribe('a:2');
  expect([old.given, next.given]).toEqual([[], ['a:2']]);
  await settle();
  expect(heard).toEqual([]);
  next.asked[0]?.answer(done);
  next.asked[1]?.answer(done);
  next.asked[2]?.answer(errorOf(-32602, 'no hunter2'));
  await settle();
  expect(heard).toEqual(['a:1', 'a:hunter2']);
  expect(log).toEqual([
    JSON.stringify({
      event: 'upstream.subscription-lost',
      server: 'files',
      uri: 'a:[redacted]',
      error: 'no [redacted]',
    }),
  ]);
});

test('a subscriber that waited for the old connection moves to the new one', async () => {
  const { subscriptions, use } = begin();
  const [old, next] = [scriptConnection(), scriptConnection()];
  use(old.connection);
  const { reply } = subscriptions.subscribe(old.connection, 'a:1');
  use(next.connection);
  void subscriptions.resume(next.connection);
  old.asked[0]?.answer(lostConnection('files', 'gone', true));
  await reply;
  await settle();
  expect(next.given).toEqual(['a:1']);
});

test('after a reconnect every subscribed resource is reported as changed, until it is unsubscribed', async () => {
  const { subscriptions, heard, use } = begin();
  const { connection } = scriptConnection();
  use(connection);
  void subscriptions.subscribe(connection, 'a:1');
  void subscriptions.subscribe(connection, 'a:2');
  subscriptions.missed();
  expect(heard).toEqual(['a:1', 'a:2']);
  subscriptions.stop();
  subscriptions.missed();
  subscriptions.updated({ uri: 'a:1' });
  expect(heard).toHaveLength(2);
});

test('a thousand resources are enough', async () => {
  const { subscriptions, use } = begin();
  const { connection, asked } = scriptConnection();
  use(connection);
  for (let count = 0; count < 1000; count++) void subscriptions.subscribe(connection, `a:${count}`);
  expect(await subscriptions.subscribe(connection, 'a:1000').reply).toMatchObject({
    kind: 'failed',
    sent: false,
    error: { code: 'OVERLOADED', details: { server: 'files' } },
  });
  void subscriptions.subscribe(connection, 'a:7');
  expect([asked.length, subscriptions.size]).toEqual([1001, 1000]);
});

test(verifies('subscriptions:shares', 'an agent leaves room for those that come later'), async () => {
  const { subscriptions, use } = begin();
  const { connection } = scriptConnection();
  use(connection);
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  const all = (agent: string): number => {
    const before = subscriptions.size;
    const account = accounts.of(agent);
    for (let count = 0; count < 1000; count++) void subscriptions.subscribe(connection, `${agent}:${count}`, account);
    return subscriptions.size - before;
  };
  expect([all('a'), all('b'), all('c')]).toEqual([500, 250, 125]);
  expect(await subscriptions.subscribe(connection, 'a:x', accounts.of('a')).reply).toMatchObject({
    kind: 'failed',
    error: { code: 'OVERLOADED', message: expect.stringContaining('its share') },
  });
  const late = Array.from({ length: 8 }, (_, index) => all(`late-${index}`));
  expect(Math.min(...late.slice(0, 4))).toBeGreaterThan(7);
  // What others have subscribed to takes no room.
  void subscriptions.subscribe(connection, 'b:1', accounts.of('a'));
  subscriptions.unsubscribe('b:1', accounts.of('b'));
  expect(subscriptions.size).toBe(1000);
  for (let count = 0; count < 500; count++) subscriptions.unsubscribe(`a:${count}`, accounts.of('a'));
  expect(subscriptions.size).toBe(500);
});

test('a server that came back is asked for many resources in turns', async () => {
  const { subscriptions, use } = begin();
  const [old, next] = [scriptConnection(), scriptConnection()];
  use(old.connection);
  for (let count = 0; count < 60; count++) void subscriptions.subscribe(old.connection, `a:${count}`);
  use(next.connection);
  void subscriptions.resume(next.connection);
  expect(next.asked).toHaveLength(50);
  subscriptions.unsubscribe('a:55');
  for (const { answer } of next.asked) answer(done);
  await settle();
  expect(next.asked.slice(50).map(({ uri }) => uri)).not.toContain('a:55');
  expect(next.asked).toHaveLength(59);
});
