import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Utf8Buffer } from './utf8-buffer.ts';

test('texts come out as UTF-8 in their order, whatever they hold, round after round', () => {
  const buffer = new Utf8Buffer(64);
  const text = fc.string({ unit: 'grapheme', maxLength: 200, size: 'max' });
  const texts = fc.array(text, { maxLength: 20, size: 'max' });
  let most = 0;
  fc.assert(
    fc.property(texts, (round) => {
      for (const each of round) buffer.add(each);
      most = Math.max(most, buffer.size);
      expect(buffer.take().toString('utf8')).toBe(round.join(''));
    }),
  );
  // It grew more than once.
  expect(most).toBeGreaterThan(4 * 64);
});

test('a text larger than any before it is taken whole, and so is what stood before it', () => {
  const buffer = new Utf8Buffer(64);
  const large = 'é'.repeat(2_000_000);
  buffer.add('first ');
  buffer.add(large);
  buffer.add(' last');
  expect(buffer.take().equals(Buffer.from(`first ${large} last`))).toBe(true);
  buffer.add('after');
  expect(buffer.take().toString()).toBe('after');
});

test('what was taken stays as it is until something is added', () => {
  const buffer = new Utf8Buffer(64);
  buffer.add('one');
  const taken = buffer.take();
  expect(taken.toString()).toBe('one');
  expect(buffer.take().length).toBe(0);
  expect(taken.toString()).toBe('one');
});
