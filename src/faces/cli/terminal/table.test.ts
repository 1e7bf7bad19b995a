import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { createColours } from './colours.ts';
import { type Column, cutWords, renderTable } from './table.ts';

interface Row {
  readonly name: string;
  readonly count: number;
  readonly note: string;
}

const rows: readonly Row[] = [
  { name: 'a', count: 1, note: '-' },
  { name: 'longer', count: 200, note: 'a note that does not fit into the width' },
];

const columns: readonly Column<Row>[] = [
  { title: 'NAME', text: ({ name }) => name },
  { title: 'N', text: ({ count }) => String(count), right: true },
  { title: 'NOTE', text: ({ note }) => note },
];

const colours = createColours(false);

test.each([
  [undefined, ['NAME      N  NOTE', 'a         1  -', 'longer  200  a note that does not fit into the width']],
  [40, ['NAME      N  NOTE', 'a         1  -', 'longer  200  a note that does not fit', '             into the width']],
  [30, ['NAME      N', 'a         1', 'longer  200', '  a note that does not fit', '  into the width']],
  [10, ['a', '  n 1', 'longer', '  n 200 · note a', '  note that does', '  not fit into the', '  width']],
])(verifies('cli:fits', 'a table in %s columns breaks no word'), (width, lines) => {
  expect(renderTable(rows, columns, { colours, width })).toEqual(lines);
});

test('a column may be cut instead, between words', () => {
  const [name, count, note] = columns;
  const cut = [name, count, { ...note, cut: true }] as readonly Column<Row>[]; // of three
  expect(renderTable(rows, cut, { colours, width: 40, titles: false })).toEqual([
    'a         1  -',
    'longer  200  a note that does not fit …',
  ]);
  expect(cutWords('one two three', 9)).toBe('one two …');
  expect(cutWords('one two three', 8)).toBe('one two…');
  expect(cutWords('one-two-three', 9)).toBe('one-two-…');
  expect(cutWords('a one-two-three', 9)).toBe('a one-tw…');
});
