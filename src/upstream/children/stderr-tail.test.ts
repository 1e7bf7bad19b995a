import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStderrTail } from './stderr-tail.ts';

test('keeps everything while it fits', () => {
  const tail = createStderrTail(8);
  tail.push(Buffer.from('ab'));
  tail.push(Buffer.from('cd'));
  expect(tail.text()).toBe('abcd');
});

test('keeps exactly the last bytes, however they come', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{0,20}$/)), (chunks) => {
      const tail = createStderrTail(16);
      for (const chunk of chunks) tail.push(Buffer.from(chunk));
      expect(tail.text()).toBe(chunks.join('').slice(-16));
    }),
  );
});

test('does not begin with half a character', () => {
  const tail = createStderrTail(5);
  tail.push(Buffer.from('x€€'));
  tail.push(Buffer.from('!'));
  expect(tail.text()).toBe('€!');
});
