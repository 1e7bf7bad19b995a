import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldAfter } from '../../test/support/held-memory.ts';
import { cut, cuts } from './chunks.fixture.ts';
import { createLineReader } from './lines.ts';

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
  for (const piece of cut(stream, lengths)) good = reader.push(piece);
  return { lines, good };
}
