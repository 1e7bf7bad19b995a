import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldAfter } from '../../test/support/held-memory.ts';
import { GatheredBytes } from './gathered-bytes.ts';

const lengths = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 300 }) },
    { weight: 2, arbitrary: fc.integer({ min: 4000, max: 20_000 }) },
    { weight: 1, arbitrary: fc.constant(100_000) },
  ),
  { maxLength: 60, size: 'max' },
);

/** Pieces of these lengths, each a part of a buffer that is reused or one of its own. */
function piecesOf(all: readonly number[], shared: boolean): Buffer[] {
  const bytes = Buffer.alloc(
    all.reduce((sum, length) => sum + length, 0),
    Array.from({ length: 251 }, (_, index) => String.fromCharCode(index)).join(''),
    'latin1',
  );
  let from = 0;
  return all.map((length) => {
    const piece = bytes.subarray(from, from + length);
    from += length;
    return shared ? piece : Buffer.from(new Uint8Array(piece).buffer);
  });
}

test('the bytes are those of the pieces, whatever their lengths, and again for the next message', () => {
  let most = 0;
  fc.assert(
    fc.property(fc.array(lengths, { maxLength: 3 }), fc.boolean(), fc.boolean(), (messages, shared, withLast) => {
      const gathered = new GatheredBytes();
      for (const message of messages) {
        const pieces = piecesOf(message, shared);
        const whole = Buffer.concat(pieces);
        const last = withLast ? pieces.pop() : undefined;
        for (const piece of pieces) gathered.add(piece);
        expect(gathered.size).toBe(whole.length - (last?.length ?? 0));
        most = Math.max(most, gathered.bufferCount);
        expect(gathered.take(last).equals(whole)).toBe(true);
        expect([gathered.size, gathered.bufferCount]).toEqual([0, 0]);
      }
    }),
  );
  expect(most).toBeGreaterThan(10);
});

test('a single piece is given as it came', () => {
  const gathered = new GatheredBytes();
  const piece = Buffer.from('alone');
  gathered.add(piece);
  expect(gathered.take()).toBe(piece);
  expect(gathered.take(piece)).toBe(piece);
  expect(gathered.take()).toHaveLength(0);
});

test('a million pieces of one byte are held in a few buffers', () => {
  const gathered = new GatheredBytes();
  const read = Buffer.alloc(65_536, 'x');
  for (let count = 0; count < 1_000_000; count++) gathered.add(read.subarray(count & 0xffff, (count & 0xffff) + 1));
  expect(gathered.size).toBe(1_000_000);
  expect(gathered.bufferCount).toBeLessThan(30);
});

test('small pieces between large ones share their blocks, and few bytes of a large buffer do not hold it', () => {
  const gathered = new GatheredBytes();
  const held = heldAfter(() => {
    for (let count = 0; count < 200; count++) {
      gathered.add(Buffer.allocUnsafeSlow(8192).fill('a'));
      gathered.add(Buffer.from('b'));
      gathered.add(Buffer.allocUnsafeSlow(1_000_000).subarray(0, 10_000).fill('c'));
    }
  });
  expect(gathered.size).toBe(200 * (8192 + 1 + 10_000));
  expect(gathered.bufferCount).toBeLessThan(500);
  // Four pieces are kept with all that they are part of.
  expect(held).toBeLessThan(2 * gathered.size + 5_000_000);
});

test('cleared values are gone', () => {
  const gathered = new GatheredBytes();
  for (let count = 0; count < 10; count++) gathered.add(Buffer.from('old'));
  gathered.clear();
  expect([gathered.size, gathered.bufferCount]).toEqual([0, 0]);
  for (let count = 0; count < 10; count++) gathered.add(Buffer.from('new'));
  expect(gathered.take().toString()).toBe('new'.repeat(10));
});
