import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldAfter } from '../../test/support/held-memory.ts';
import { verifies } from '../../test/support/verifies.ts';
import { ByteBudget, countedBytes } from '../base/index.ts';
import { cutIntoChunks, cuts } from './chunks.fixture.ts';
import { createLineReader } from './line-reader.ts';
import type { SkippedLine } from './skipped-line.ts';

const anyBytes = fc
  .array(fc.oneof(fc.constant(Buffer.from('\n')), fc.constant(Buffer.from('{"a":"ä\\n"}\r')), bytes()), {
    maxLength: 12,
    size: 'max',
  })
  .map((parts) => Buffer.concat(parts));

test('every way of cutting a stream gives the same lines', () => {
  fc.assert(
    fc.property(anyBytes, cuts, (stream, lengths) => {
      const whole = stream
        .toString('latin1')
        .split('\n')
        .slice(0, -1)
        .filter((line) => line !== '');
      expect(read(stream, lengths, 1000)).toEqual({ lines: whole, good: true });
    }),
  );
});

test('a line over the bound ends the reading at the same place, however the stream is cut', () => {
  let cutOff = 0;
  fc.assert(
    fc.property(anyBytes, cuts, fc.nat(30), (stream, lengths, max) => {
      const all = stream.toString('latin1').split('\n');
      const bad = all.findIndex((line) => line.length > max);
      const good = (bad < 0 ? all.slice(0, -1) : all.slice(0, bad)).filter((line) => line !== '');
      if (bad > 0 && max > 10) cutOff++;
      expect(read(stream, lengths, max)).toEqual({ lines: good, good: bad < 0 });
    }),
  );
  expect(cutOff).toBeGreaterThan(0);
});

test('after a line over the bound nothing is read or kept any more', () => {
  const lines: string[] = [];
  const reader = createLineReader((bytes, start, end) => lines.push(bytes.toString('utf8', start, end)), 5);
  expect(reader.push(Buffer.from('ab\n12345\n'))).toBe(true);
  expect(reader.push(Buffer.from('1234'))).toBe(true);
  expect(reader.push(Buffer.from('56'))).toBe(false);
  expect(reader.push(Buffer.from('\ncd\n'))).toBe(false);
  expect(lines).toEqual(['ab', '12345']);
});

test('a line in a thousand pieces is put together once', () => {
  const lines: number[] = [];
  const reader = createLineReader((_bytes, start, end) => lines.push(end - start), 100_000_000);
  const piece = Buffer.alloc(65_536, 'x');
  for (let count = 0; count < 500; count++) expect(reader.push(piece)).toBe(true);
  expect(reader.push(Buffer.from('\n'))).toBe(true);
  expect(lines).toEqual([500 * 65_536]);
});

test('a line that comes byte by byte holds little more than its bytes until it ends', () => {
  const lines: number[] = [];
  const reader = createLineReader((_bytes, start, end) => lines.push(end - start), 100_000_000);
  const held = heldAfter(() => {
    const read = Buffer.alloc(65_536, 'x');
    for (let at = 0; at < 500_000; at++) reader.push(read.subarray(at & 0xffff, (at & 0xffff) + 1));
  });
  expect(held).toBeLessThan(5_000_000);
  reader.push(Buffer.from('\n'));
  expect(lines).toEqual([500_000]);
});

function bytes(): fc.Arbitrary<Buffer> {
  return fc.uint8Array({ maxLength: 40, size: 'max' }).map((array) => Buffer.from(array));
}

function read(stream: Buffer, lengths: readonly number[], max: number): { lines: string[]; good: boolean } {
  const lines: string[] = [];
  const reader = createLineReader((whole, start, end) => lines.push(whole.toString('latin1', start, end)), max);
  let good = true;
  for (const piece of cutIntoChunks(stream, lengths)) good = reader.push(piece);
  return { lines, good };
}

test('a line over the bound is skipped where the reader may, and the others are read', () => {
  const lines: string[] = [];
  const skipped: unknown[] = [];
  const reader = createLineReader((bytes, start, end) => lines.push(bytes.toString('latin1', start, end)), 200, {
    onSkipped: ({ answeredId, size }) => skipped.push([answeredId, size]),
    maxSkippedBytes: 2000,
  });
  const fill = 'x'.repeat(300);
  const messages = [
    '{"id":1}',
    `{"jsonrpc":"2.0","id":7,"result":{"text":"${fill}"}}`,
    '{"id":2}',
    `{"result":{"text":"${fill}"},"jsonrpc":"2.0","id":8}`,
    `{"result":{"id":9,"text":"${fill}"}}`,
    '{"id":3}',
  ];
  const bytes = Buffer.from(`${messages.join('\n')}\n`);
  for (let at = 0; at < bytes.length; at += 50) expect(reader.push(bytes.subarray(at, at + 50))).toBe(true);
  expect(lines).toEqual(['{"id":1}', '{"id":2}', '{"id":3}']);
  expect(skipped).toEqual([
    [7, messages[1]?.length],
    [8, messages[3]?.length],
    [undefined, messages[4]?.length],
  ]);
  expect(reader.push(Buffer.alloc(2001, 'x'))).toBe(false);
});

test(
  verifies('upstream:bounded', 'unfinished lines of many streams share one budget, and one without room is skipped'),
  () => {
    const whole = new ByteBudget(8 * countedBytes);
    const open = () => {
      const seen: string[] = [];
      const budget = new ByteBudget(8 * countedBytes, whole);
      const onSkipped = ({ size, answeredId }: SkippedLine): void => void seen.push(`skipped ${size}: ${answeredId}`);
      const reader = createLineReader((bytes, start, end) => seen.push(`${end - start} of ${bytes[start]}`), 1e9, {
        onSkipped,
        maxSkippedBytes: 1e9,
        budget,
      });
      return { seen, reader };
    };
    const half = Buffer.alloc(3 * countedBytes, 'x');
    const answer = Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":7,"result":{"a":"'), half]);
    const [one, two, three] = [open(), open(), open()];
    one.reader.push(half);
    expect(whole.used).toBe(half.length);
    two.reader.push(answer);
    expect(whole.used).toBe(half.length);
    // Small lines never need room.
    three.reader.push(Buffer.from('small\n'));
    two.reader.push(Buffer.from('"}}\nsmall\n'));
    expect([two.seen, three.seen]).toEqual([[`skipped ${answer.length + 3}: 7`, '5 of 115'], ['5 of 115']]);
    one.reader.push(Buffer.from('y\n'));
    expect([one.seen, whole.used]).toEqual([[`${half.length + 1} of 120`], 0]);
    // There is room again; and a stream that ends gives it back.
    two.reader.push(half);
    expect(whole.used).toBe(half.length);
    two.reader.close();
    expect(whole.used).toBe(0);
  },
);
