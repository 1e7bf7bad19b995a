import { expect, test } from 'vitest';
import { createBoundedLines } from './bounded-lines.ts';

/** What comes of a text that arrives in pieces of one size. */
function linesOf(text: string, pieceBytes: number, maxLineBytes: number): string[] {
  const seen: string[] = [];
  const take = createBoundedLines(
    { onLine: (line) => seen.push(line.toString('utf8')), onTooLong: () => seen.push('too long') },
    maxLineBytes,
  );
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) take(bytes.subarray(at, at + pieceBytes));
  return seen;
}

test('a line over the bound is told once and dropped whole; the next one is read', () => {
  for (const pieceBytes of [1, 2, 3, 7, 1000]) {
    expect(linesOf(`one\n${'x'.repeat(100)}\ntwo\n${'y'.repeat(50)}\n\nthree\n`, pieceBytes, 10)).toEqual([
      'one',
      'too long',
      'two',
      'too long',
      'three',
    ]);
  }
});

test('a line that is too long and never ends is told once', () => {
  expect(linesOf('x'.repeat(10_000), 100, 1000)).toEqual(['too long']);
});

test('lines within the bound come as they are, whatever the pieces', () => {
  const lines = ['{"a":"é€"}', 'x'.repeat(1000), 'z'];
  for (const pieceBytes of [1, 5, 64, 4096]) expect(linesOf(`${lines.join('\n')}\n`, pieceBytes, 1000)).toEqual(lines);
});
