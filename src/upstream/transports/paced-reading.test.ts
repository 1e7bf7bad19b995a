import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPacedSseReader, PacedReading, workOf } from './paced-reading.ts';

function createStream() {
  const calls: string[] = [];
  return { calls, pause: () => void calls.push('pause'), resume: () => void calls.push('resume') };
}

test('few messages are handled at once, and the stream never pauses', () => {
  const stream = createStream();
  const seen: string[] = [];
  const paced = new PacedReading(stream, (text) => seen.push(text), workOf);
  for (let index = 0; index < 100; index++) paced.receive(`m${index}`);
  expect(seen).toHaveLength(100);
  expect(stream.calls).toEqual([]);
});

test('many messages are handled in order over several turns, while the stream pauses', async () => {
  const stream = createStream();
  const seen: number[] = [];
  const paced = new PacedReading<number>(
    stream,
    (item) => seen.push(item),
    () => 16,
  );
  for (let index = 0; index < 1000; index++) paced.receive(index);
  const perTurn: number[] = [];
  while (seen.length < 1000) {
    perTurn.push(seen.length);
    expect(stream.calls).toEqual(['pause']);
    await nextTurn();
  }
  expect(perTurn).toEqual([256, 512, 768]);
  expect(seen).toEqual(Array.from({ length: 1000 }, (_, index) => index));
  expect(stream.calls).toEqual(['pause', 'resume']);
});

test('a large message counts as many', () => {
  const stream = createStream();
  const paced = new PacedReading(stream, () => {}, workOf);
  paced.receive('x'.repeat(1024 * 1024));
  expect(stream.calls).toEqual(['pause']);
});

test('at the end of the stream the rest is handled at once, and after close nothing', async () => {
  const seen: number[] = [];
  const stream = createStream();
  const paced = new PacedReading<number>(
    stream,
    (item) => seen.push(item),
    () => 4096,
  );
  for (const item of [1, 2, 3]) paced.receive(item);
  expect(seen).toEqual([1]);
  paced.finish();
  expect(seen).toEqual([1, 2, 3]);
  await nextTurn();
  expect(stream.calls).toEqual(['pause']);

  const closed = new PacedReading<number>(
    stream,
    (item) => {
      seen.push(item);
      closed.close();
    },
    () => 4096,
  );
  for (const item of [4, 5, 6]) closed.receive(item);
  await nextTurn();
  expect(seen).toEqual([1, 2, 3, 4]);
});

test('lines of an event stream that hold no message count, too', async () => {
  const stream = createStream();
  const reader = createPacedSseReader(stream, () => {}, 1000);
  expect(reader.push(Buffer.from(':\r\n'.repeat(5000)))).toBe(true);
  expect(stream.calls).toEqual(['pause']);
  await nextTurn();
  expect(stream.calls).toEqual(['pause', 'resume']);
  reader.push(Buffer.from('\n'.repeat(60_000)));
  expect(reader.lines).toBeLessThan(5010);
  expect(stream.calls).toEqual(['pause', 'resume']);
});
