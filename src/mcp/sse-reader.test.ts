import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldAfter } from '../../test/support/held-memory.ts';
import { cutIntoChunks, cuts } from './chunks.fixture.ts';
import { sseComment, sseEvent } from './sse.ts';
import { createSseReader, type SseEvent } from './sse-reader.ts';

const ending = fc.constantFrom('\n', '\r\n', '\r');
const field = fc.oneof(
  fc.constantFrom(
    '',
    '',
    'data',
    'data:',
    'data: ',
    'data:  x',
    ': comment',
    'event: ping',
    'event:',
    'id: 7',
    'id',
    'retry: 5',
  ),
  fc.constantFrom(
    'data: {"a":"ä\u2028€😀"}',
    'data:b:c',
    'DATA: no',
    ' data: no',
    'id: a\0b',
    'nonsense',
    '\ufeffdata: no',
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
);
const anyStream = fc
  .array(fc.tuple(field, ending), { maxLength: 25, size: 'max' })
  .map((lines) => lines.flat().join(''));

test('every way of cutting a stream gives the events that its lines spell', () => {
  let most = 0;
  fc.assert(
    fc.property(anyStream, cuts, (stream, lengths) => {
      const events = eventsOf(stream);
      most = Math.max(most, events.length);
      expect(read(stream, lengths, 10_000)).toEqual({ events, good: true });
    }),
    { numRuns: 500 },
  );
  expect(most).toBeGreaterThan(2);
});

test.each([
  ['LF', 'event: x\ndata: a\ndata: b\nid: 1\n\n'],
  ['CRLF', 'event: x\r\ndata: a\r\ndata: b\r\nid: 1\r\n\r\n'],
  ['CR', 'event: x\rdata: a\rdata: b\rid: 1\r\r'],
  ['a mixture', 'event: x\rdata: a\r\ndata: b\nid: 1\r\n\r'],
  ['a byte order mark first', '\ufeffevent: x\ndata: a\ndata: b\nid: 1\n\n'],
  ['comments between', ': hello\nevent: x\n:\ndata: a\n: x\ndata: b\nid: 1\n\n'],
])('an event of several lines, with %s', (_, stream) => {
  for (const lengths of [[1], [2], [3], [1000]]) {
    expect(read(stream, lengths, 1000).events).toEqual([{ event: 'x', data: 'a\nb', id: '1' }]);
  }
});

test('an event is given as soon as it is complete, also when a return ends it', () => {
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => events.push(event), 1000);
  reader.push(Buffer.from('data: a\r\n\r'));
  expect(events).toHaveLength(1);
  reader.push(Buffer.from('\ndata: b\n'));
  expect(events).toHaveLength(1);
  reader.push(Buffer.from('\n'));
  expect(events.map(({ data }) => data)).toEqual(['a', 'b']);
});

test('the id stays for later events, the name does not, and an unnamed event is a message', () => {
  const { events } = read('id: 1\nevent: x\ndata: a\n\ndata: b\n\nevent:\ndata: c\n\nid\ndata: d\n\n', [1000], 1000);
  expect(events).toEqual([
    { event: 'x', data: 'a', id: '1' },
    { event: 'message', data: 'b', id: '1' },
    { event: 'message', data: 'c', id: '1' },
    { event: 'message', data: 'd', id: '' },
  ]);
});

test('the reader knows the last whole event, data or not, and the pause that the server wants', () => {
  const reader = createSseReader(() => {}, 1000);
  const after = (text: string): unknown => {
    reader.push(Buffer.from(text));
    return [reader.lastId, reader.retryMs];
  };
  expect(after('data: a\n\nretry: soon\n\n')).toEqual([undefined, undefined]);
  expect(after('id: 1\nretry: 500\ndata:\n\n')).toEqual(['1', 500]);
  expect(after('id: 2\ndata: x\n')).toEqual(['1', 500]);
  expect(after('\nid: 3\n\n')).toEqual(['3', 500]);
  expect(after('data: y\nretry: -1\n\nretry: 0\n\n')).toEqual(['3', 0]);
});

test('the hub can read what it writes', () => {
  const { events } = read(sseComment + sseEvent('{"a":1}') + sseComment + sseEvent('{}'), [7], 1000);
  expect(events.map(({ event, data }) => [event, data])).toEqual([
    ['message', '{"a":1}'],
    ['message', '{}'],
  ]);
});

test('an event over the bound ends the reading at the same place, however the stream is cut', () => {
  const streams = fc.array(fc.tuple(fc.nat(20), ending), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(streams, cuts, (sizes, lengths) => {
      const all = sizes.map(([size, end]) => ({ data: 'x'.repeat(size), end }));
      const stream = all.map(({ data, end }) => `data:${data}${end}${end}`).join('');
      const bad = all.findIndex(({ data }) => 'data:'.length + data.length > 15);
      const good = (bad < 0 ? all : all.slice(0, bad)).map(({ data }) => data);
      const seen = read(stream, lengths, 15);
      expect({ ...seen, events: seen.events.map(({ data }) => data) }).toEqual({ events: good, good: bad < 0 });
    }),
  );
});

test.each([
  ['one line', 'data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
  ['many lines', 'data: xxxx\n'.repeat(10)],
  ['many empty lines of data', 'data\n'.repeat(10)],
  ['a comment', `: ${'x'.repeat(40)}`],
])('an event that does not end is bounded: %s', (_, stream) => {
  expect(read(stream, [1], 30).good).toBe(false);
  expect(read(stream, [1000], 30).good).toBe(false);
});

test('comments and complete events do not add up to the bound', () => {
  expect(read(': keep-alive\n\n'.repeat(100) + 'data: x\n\n'.repeat(100), [5], 20)).toMatchObject({ good: true });
});

test('nothing is read after the bound was passed', () => {
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => events.push(event), 10);
  expect(reader.push(Buffer.from('data: 12345678'))).toBe(false);
  expect(reader.push(Buffer.from('\n\ndata: a\n\n'))).toBe(false);
  expect(events).toEqual([]);
});

// Looking through the line from its beginning for each piece would not end within the time of a test.
test('an event of 40 MB in small pieces is put together once', () => {
  const lengths: number[] = [];
  const reader = createSseReader(({ data }) => lengths.push(data.length), 64_000_000);
  reader.push(Buffer.from('data: '));
  const piece = Buffer.alloc(4000, 'x');
  for (let count = 0; count < 10_000; count++) expect(reader.push(piece)).toBe(true);
  reader.push(Buffer.from('\n\n'));
  expect(lengths).toEqual([40_000_000]);
});

test('an event that comes byte by byte holds little more than its bytes until it ends', () => {
  const lengths: number[] = [];
  const reader = createSseReader(({ data }) => lengths.push(data.length), 64_000_000);
  reader.push(Buffer.from('data: '));
  const held = heldAfter(() => {
    const read = Buffer.alloc(65_536, 'x');
    for (let at = 0; at < 500_000; at++) reader.push(read.subarray(at & 0xffff, (at & 0xffff) + 1));
  });
  expect(held).toBeLessThan(5_000_000);
  reader.push(Buffer.from('\n\n'));
  expect(lengths).toEqual([500_000]);
});

test('the bound counts bytes, not characters', () => {
  expect(read(`data:${'€'.repeat(5)}\n\n`, [1000], 20).good).toBe(true);
  expect(read(`data:${'€'.repeat(6)}\n\n`, [1], 20).good).toBe(false);
});

function read(stream: string, lengths: readonly number[], max: number): { events: SseEvent[]; good: boolean } {
  const events: SseEvent[] = [];
  const reader = createSseReader((event) => events.push(event), max);
  let good = true;
  for (const piece of cutIntoChunks(Buffer.from(stream), lengths)) good = reader.push(piece);
  return { events, good };
}

/** The algorithm of the HTML standard on the whole text at once. */
function eventsOf(stream: string): SseEvent[] {
  const events: SseEvent[] = [];
  const lines = stream
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .slice(0, -1);
  let data: string[] = [];
  let event = '';
  let id: string | undefined;
  for (const line of lines) {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? [];
    if (line === '') {
      if (data.length > 0) events.push({ event: event || 'message', data: data.join('\n'), id });
      data = [];
      event = '';
    } else if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  }
  return events;
}
