import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from './line-diff.ts';

test('lines that went and came are shown with their numbers', () => {
  expect(diffLines('a\nb\nc\nd\n', 'a\nx\nc\nd\ne\n')).toEqual([
    { kind: 'removed', line: 2, text: 'b' },
    { kind: 'added', line: 2, text: 'x' },
    { kind: 'added', line: 5, text: 'e' },
  ]);
  expect(diffLines('', 'a\r\nb')).toEqual([
    { kind: 'added', line: 1, text: 'a' },
    { kind: 'added', line: 2, text: 'b' },
  ]);
  expect(diffLines('same\n', 'same\n')).toEqual([]);
});

test('whatever two texts hold, the difference leads from one to the other and is short', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12, size: 'max' });
  fc.assert(
    fc.property(text, text, (left, right) => {
      const [before, after] = [left.map((line) => `${line}.\n`).join(''), right.map((line) => `${line}.\n`).join('')];
      const lines = diffLines(before, after);
      const gone = new Set(lines.flatMap(({ kind, line }) => (kind === 'removed' ? [line] : [])));
      const result: string[] = left.filter((_, index) => !gone.has(index + 1));
      for (const { kind, line, text: added } of lines)
        if (kind === 'added') result.splice(line - 1, 0, added.slice(0, -1));
      expect(result).toEqual(right);
      expect(lines.length).toBeLessThanOrEqual(left.length + right.length);
    }),
    { numRuns: 2000 },
  );
});

test('of texts with nothing in common, all lines are shown', () => {
  const many = (letter: string): string => Array.from({ length: 3000 }, (_, index) => `${letter}${index}\n`).join('');
  expect(diffLines(many('a'), many('b'))).toHaveLength(6000);
});
