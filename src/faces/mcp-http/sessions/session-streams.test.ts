import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openStream, type Stream } from '../../../../test/support/mcp-http.ts';
import { createMovingClock } from '../../../../test/support/moving-clock.ts';
import { eventually } from '../../../../test/support/within.ts';
import type { RequestAnswer } from '../../mcp/index.ts';
import type { Exchange } from '../exchange.ts';
import { resumableAnswer } from './resumable-answer.ts';
import { SessionStreams } from './session-streams.ts';

function answerOf(text: string): RequestAnswer {
  return { idText: '1', text, ran: true };
}

/** The streams of a session, and real readers for them. */
async function begin(version = '2025-11-25') {
  const clock = createMovingClock();
  const streams = new SessionStreams(clock, version);
  let act: (response: ServerResponse) => void = () => {};
  const server = createServer((_, response) => act(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has one
  /** What is done with the response of the next request; the stream that its client reads. */
  async function read(what: (response: ServerResponse) => void): Promise<{ stream: Stream; response: ServerResponse }> {
    let given: ServerResponse | undefined;
    act = (response) => {
      given = response;
      what(response);
    };
    const stream = await openStream(url);
    return { stream, response: given as ServerResponse }; // the stream is its answer
  }
  return {
    clock,
    streams,
    read,
    /** Comes back with the id of an event. */
    back: (eventId: string) =>
      read((response) => {
        const found = streams.find(eventId);
        if (found === undefined) response.writeHead(404).end();
        else found.log.attach(response, found.after);
      }),
    sweep(ms: number): void {
      clock.advance(ms);
      streams.sweep(clock.monotonic());
    },
  };
}

const message = (value: unknown): string => JSON.stringify({ value });
const closed = (response: ServerResponse): Promise<true> =>
  eventually(() => response.destroyed || undefined, 'the connection to be gone');

async function textOf(stream: Stream): Promise<string> {
  await stream.ended;
  return stream.text();
}

test.each([
  ['2025-11-25', 'id: 1-0\nretry: 1000\ndata: \n\n'],
  ['2025-06-18', ''],
])('events are numbered; to a client of %s the place is told first', async (version, first) => {
  const { streams, read } = await begin(version);
  const { stream } = await read((response) => {
    const answer = resumableAnswer(response, streams);
    answer.between('{"b":1}');
    answer.end(answerOf('{"a":1}'));
  });
  expect(await textOf(stream)).toBe(
    `${first}event: message\nid: 1-1\ndata: {"b":1}\n\nevent: message\nid: 1-2\ndata: {"a":1}\n\n`,
  );
});

test('an answer to which nothing was said before is plain JSON and leaves nothing behind', async () => {
  const { streams, read } = await begin();
  const { stream } = await read((response) => resumableAnswer(response, streams).end(answerOf('{"a":1}')));
  expect([stream.headers['content-type'], await textOf(stream)]).toEqual(['application/json', '{"a":1}']);
  expect(streams.find('1-0')).toBeUndefined();
});

test('a client that reconnects gets the events after its last one, and its loss is not reported', async () => {
  const { streams, read, back } = await begin();
  let gone = 0;
  const { stream, response } = await read((given) => {
    const answer = resumableAnswer(given, streams);
    answer.onGone(() => gone++);
    answer.between(message(1));
    answer.onGone(() => gone++);
  });
  await stream.next();
  stream.close();
  await closed(response);
  const log = streams.find('1-1')?.log;
  log?.send(message(2));
  const second = await back('1-1');
  expect(await second.stream.next()).toEqual({ value: 2 });
  // While the connection seems to be there, its client may know better.
  const third = await back('1-1');
  await second.stream.ended;
  log?.send(message(3));
  log?.end();
  await third.stream.ended;
  expect([await third.stream.next(), await third.stream.next()]).toEqual([{ value: 2 }, { value: 3 }]);
  const fourth = await back('1-2');
  await fourth.stream.ended;
  expect(await fourth.stream.next()).toEqual({ value: 3 });
  expect(gone).toBe(0);
});

test('it is gone when nobody came back for a minute, or at once where nothing can be resumed', async () => {
  const { streams, read, sweep } = await begin();
  const heard: string[] = [];
  const plain = await read((response) => {
    resumableAnswer(response, streams).onGone(() => heard.push('plain'));
    response.write(' ');
  });
  plain.stream.close();
  await eventually(() => heard[0], 'the loss');
  const grown = await read((response) => {
    const answer = resumableAnswer(response, streams);
    answer.between(message(1));
    answer.onGone(() => heard.push('grown'));
  });
  sweep(70_000);
  grown.stream.close();
  await closed(grown.response);
  const log = streams.find('1-1')?.log;
  sweep(59_000);
  log?.onGone(() => heard.push('late'));
  expect(heard).toEqual(['plain']);
  sweep(2000);
  expect(heard).toEqual(['plain', 'grown', 'late']);
  log?.onGone(() => heard.push('at once'));
  expect([heard.at(-1), streams.find('1-1')]).toEqual(['at once', undefined]);
});

test('the end of the session is the end of all coming back; who reads may read on', async () => {
  const { streams, read, back } = await begin();
  const heard: string[] = [];
  const begun = async (name: string) => {
    const { stream, response } = await read((given) => {
      const answer = resumableAnswer(given, streams);
      answer.between(message(name));
      answer.onGone(() => heard.push(name));
    });
    await stream.next();
    return { stream, response, log: streams.find(`${name}-1`)?.log };
  };
  const [away, reading, leaving] = [await begun('1'), await begun('2'), await begun('3')];
  away.stream.close();
  await closed(away.response);
  const { stream: announced } = await read((response) => void streams.listen(response, undefined));
  streams.close();
  await announced.ended;
  expect(heard).toEqual(['1']);
  reading.log?.send(message('end'));
  reading.log?.end();
  expect(await reading.stream.next()).toEqual({ value: 'end' });
  await reading.stream.ended;
  leaving.stream.close();
  await eventually(() => heard[1], 'the second loss');
  expect(heard).toEqual(['1', '3']);
  expect((await back('2-1')).stream.status).toBe(404);
  // A call outlives the session that it came over.
  const { stream: late } = await read((response) => {
    const answer = resumableAnswer(response, streams);
    answer.between(message('late'));
    answer.end(answerOf(message('answer')));
  });
  expect([await late.next(), await late.next()]).toEqual([{ value: 'late' }, { value: 'answer' }]);
  await late.ended;
  expect(streams.find('5-1')).toBeUndefined();
});

test('events, bytes, ended streams and time are bounded', async () => {
  const { streams, back, sweep } = await begin();
  const many = streams.open();
  for (let count = 1; count <= 100; count++) many.send(message(count));
  const { stream } = await back('1-0');
  expect(await stream.next()).toEqual({ value: 37 });
  const heavy = streams.open();
  for (let count = 1; count <= 4; count++) heavy.send(message(String(count).repeat(400_000)));
  const { stream: last } = await back('2-0');
  expect(JSON.stringify(await last.next())).toContain('333');
  heavy.send(message('a'));
  many.end();
  heavy.end();
  const names = (): string[] =>
    Array.from({ length: 120 }, (_, at) => String(at + 1)).filter((name) => streams.find(`${name}-0`) !== undefined);
  for (let count = 3; count <= 100; count++) streams.open().end();
  sweep(0);
  expect(names()).toEqual(Array.from({ length: 64 }, (_, at) => String(at + 37)));
  for (let count = 101; count <= 106; count++) {
    const log = streams.open();
    log.send(message('x'.repeat(900_000)));
    log.end();
  }
  sweep(0);
  expect(names()).toEqual(['103', '104', '105', '106']);
  sweep(60_000);
  expect(names()).toEqual([]);
});

test('a very large answer is kept until it was taken', async () => {
  const { streams, read, back } = await begin();
  const large = message('x'.repeat(5_000_000));
  const { stream, response } = await read((given) => resumableAnswer(given, streams).between(message(1)));
  stream.close();
  await closed(response);
  const log = streams.find('1-1')?.log;
  log?.send(large);
  log?.end();
  expect(JSON.stringify(await (await back('1-1')).stream.next())).toBe(large);
  await eventually(() => streams.find('1-1') === undefined || undefined, 'the answer to be let go');
});

test('an answer that takes long becomes a stream that shows signs of life', async () => {
  const { clock, streams, read, sweep } = await begin();
  const waiting = (response: ServerResponse): Exchange => {
    const exchange = { response, since: 0, growing: undefined } as unknown as Exchange; // nothing else is looked at
    streams.await(exchange, clock.monotonic());
    return exchange;
  };
  let late: Exchange | undefined;
  const reading = read((response) => {
    late = waiting(response);
  });
  await eventually(() => late, 'the request');
  sweep(4000);
  expect(late?.growing).toBeUndefined();
  sweep(1000);
  const { stream } = await reading;
  streams.write(': here\n\n');
  await eventually(() => stream.text().endsWith(': here\n\n') || undefined, 'the sign of life');
  sweep(5000);
  late?.growing?.end(answerOf(message('done')));
  expect(await stream.next()).toEqual({ value: 'done' });
  await stream.ended;
  const { stream: quick, response } = await read((given) => {
    streams.answered(waiting(given));
    setTimeout(() => given.end('{}'), 50);
  });
  sweep(10_000);
  expect([quick.status, response.getHeader('content-type')]).toEqual([200, undefined]);
});

test('announcements wait a minute for a listener that was here', async () => {
  const { streams, read, sweep } = await begin();
  const listen = (eventId?: string) => read((response) => void streams.listen(response, streams.find(eventId)?.after));
  streams.announce(message('nobody'));
  const first = await listen();
  streams.announce(message(1));
  expect(await first.stream.next()).toEqual({ value: 1 });
  first.stream.close();
  await closed(first.response);
  streams.announce(message(2));
  expect(streams.find('1-1')).toMatchObject({ isAnswer: false, after: 1 });
  const second = await listen('1-1');
  expect(await second.stream.next()).toEqual({ value: 2 });
  // Without an id nothing is repeated.
  const third = await listen();
  await second.stream.ended;
  streams.announce(message(3));
  expect(await third.stream.next()).toEqual({ value: 3 });
  third.stream.close();
  await closed(third.response);
  sweep(61_000);
  streams.announce(message(4));
  expect(streams.find('1-1')).toBeUndefined();
  const fourth = await listen('1-3');
  streams.announce(message(5));
  expect(await fourth.stream.next()).toEqual({ value: 5 });
});

test.each(['', 'x', '1', '1-', '-1', '1-x', '2-0', '1-0-0', '01-0', '1-9999999999'])('%j is no event', async (id) => {
  const { streams } = await begin();
  streams.open();
  expect(streams.find(id)).toBeUndefined();
});
