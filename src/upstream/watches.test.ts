import { expect, test } from 'vitest';
import { lostConnection } from './failures.ts';
import type { Link } from './link.ts';
import { scriptedLink } from './scripted-link.fixture.ts';
import { errorOf, resultOf, settle } from './scripted-wire.fixture.ts';
import { createWatches } from './watches.ts';
import type { WireReply } from './wire.ts';

/** A connection that writes down what it is asked; the test answers. */
function scriptLink() {
  const asked: { readonly uri: string; answer(reply: WireReply): void }[] = [];
  const given: string[] = [];
  const link = scriptedLink({
    watch(uri) {
      let answer: (reply: WireReply) => void = () => {};
      const reply = new Promise<WireReply>((resolve) => {
        answer = resolve;
      });
      asked.push({ uri, answer });
      return { reply, cancel() {} };
    },
    unwatch: (uri) => given.push(uri),
  });
  return { link, asked, given };
}

function begin() {
  const heard: string[] = [];
  const log: string[] = [];
  const note = (event: string, fields: object = {}): void => void log.push(JSON.stringify({ event, ...fields }));
  let current: Link | undefined;
  const watches = createWatches(
    {
      logger: { debug: note, info: note, warn: note, error: note },
      redact: (text) => text.replaceAll('hunter2', '[redacted]'),
      link: () => current,
      onUpdated: (uri) => heard.push(uri),
    },
    { server: 'files' },
  );
  const use = (link: Link | undefined): void => {
    current = link;
  };
  return { watches, heard, log, use };
}

const done = resultOf({});

test('every watch is sent; only the last one to leave ends it', async () => {
  const { watches, use } = begin();
  const { link, asked, given } = scriptLink();
  use(link);
  const replies = [watches.watch(link, 'a:1').reply, watches.watch(link, 'a:1').reply];
  for (const { answer } of asked) answer(done);
  expect(await Promise.all(replies)).toEqual([done, done]);
  watches.unwatch('a:1');
  expect(given).toEqual([]);
  watches.unwatch('a:1');
  expect(given).toEqual(['a:1']);
  watches.unwatch('a:1');
  expect([given.length, watches.size]).toEqual([1, 0]);
});

test.each([errorOf(-32602, 'no such resource'), lostConnection('files', 'gone', true)])(
  'without a result nobody watches',
  async (reply) => {
    const { watches, use } = begin();
    const { link, asked } = scriptLink();
    use(link);
    const first = watches.watch(link, 'a:1').reply;
    asked[0]?.answer(done);
    await first;
    const second = watches.watch(link, 'a:1').reply;
    asked[1]?.answer(reply);
    expect(await second).toBe(reply);
    await settle();
    expect(watches.size).toBe(1);
    watches.unwatch('a:1');
    expect(watches.size).toBe(0);
  },
);

test('what the server says of resources is passed on; what is no URI is not', () => {
  const { watches, heard } = begin();
  watches.updated({ uri: 'a:1/part' });
  watches.updated({});
  watches.updated({ uri: 7 });
  expect(heard).toEqual(['a:1/part']);
});

test('a new connection is asked for all that is watched; each may have changed meanwhile', async () => {
  const { watches, heard, log, use } = begin();
  const [old, next] = [scriptLink(), scriptLink()];
  use(old.link);
  for (const uri of ['a:1', 'a:2', 'a:hunter2']) void watches.watch(old.link, uri);
  for (const { answer } of old.asked) answer(done);
  await settle();
  use(next.link);
  void watches.resume(next.link);
  expect(next.asked.map(({ uri }) => uri)).toEqual(['a:1', 'a:2', 'a:hunter2']);
  watches.unwatch('a:2');
  expect([old.given, next.given]).toEqual([[], ['a:2']]);
  await settle();
  expect(heard).toEqual([]);
  next.asked[0]?.answer(done);
  next.asked[1]?.answer(done);
  next.asked[2]?.answer(errorOf(-32602, 'no hunter2'));
  await settle();
  expect(heard).toEqual(['a:1', 'a:hunter2']);
  expect(log).toEqual([
    JSON.stringify({ event: 'upstream_watch_lost', server: 'files', uri: 'a:[redacted]', error: 'no [redacted]' }),
  ]);
});

test('whoever waited for the old connection is not left on the new one', async () => {
  const { watches, use } = begin();
  const [old, next] = [scriptLink(), scriptLink()];
  use(old.link);
  const { reply } = watches.watch(old.link, 'a:1');
  use(next.link);
  void watches.resume(next.link);
  old.asked[0]?.answer(lostConnection('files', 'gone', true));
  await reply;
  await settle();
  expect(next.given).toEqual(['a:1']);
});

test('what passed unheard is told of everything that is watched, until it is stopped', async () => {
  const { watches, heard, use } = begin();
  const { link } = scriptLink();
  use(link);
  void watches.watch(link, 'a:1');
  void watches.watch(link, 'a:2');
  watches.missed();
  expect(heard).toEqual(['a:1', 'a:2']);
  watches.stop();
  watches.missed();
  watches.updated({ uri: 'a:1' });
  expect(heard).toHaveLength(2);
});

test('a thousand resources are enough', async () => {
  const { watches, use } = begin();
  const { link, asked } = scriptLink();
  use(link);
  for (let count = 0; count < 1000; count++) void watches.watch(link, `a:${count}`);
  expect(await watches.watch(link, 'a:1000').reply).toMatchObject({
    kind: 'failed',
    sent: false,
    error: { code: 'OVERLOADED', details: { server: 'files' } },
  });
  void watches.watch(link, 'a:7');
  expect([asked.length, watches.size]).toEqual([1001, 1000]);
});

test('a server that came back is asked for many resources in turns', async () => {
  const { watches, use } = begin();
  const [old, next] = [scriptLink(), scriptLink()];
  use(old.link);
  for (let count = 0; count < 60; count++) void watches.watch(old.link, `a:${count}`);
  use(next.link);
  void watches.resume(next.link);
  expect(next.asked).toHaveLength(50);
  watches.unwatch('a:55');
  for (const { answer } of next.asked) answer(done);
  await settle();
  expect(next.asked.slice(50).map(({ uri }) => uri)).not.toContain('a:55');
  expect(next.asked).toHaveLength(59);
});
