import { expect, test } from 'vitest';
import { createColours } from './colours.ts';
import { type FittingColumn, fitColumns, naturalWidths } from './fit-columns.ts';
import { renderTable } from './table.ts';

type Row = readonly [time: string, tool: string, run: string, error: string];

const columns: readonly FittingColumn<Row>[] = [
  { title: 'TIME', text: ([time]) => time },
  { title: 'TOOL', text: ([, tool]) => tool, least: 8 },
  { title: 'RUN', text: ([, , run]) => run, spare: 2 },
  { title: 'ERROR', text: ([, , , error]) => error, spare: 1, least: 6 },
];

const rows: readonly Row[] = [
  ['10:00', 'files.read_text_file', 'tester-1', 'It did not answer.'],
  ['10:01', 'a.b', 'tester-2', ''],
];

test.each([
  [
    undefined,
    'TIME   TOOL                  RUN       ERROR\n10:00  files.read_text_file  tester-1  It did not answer.',
  ],
  [57, 'TIME   TOOL                  RUN       ERROR\n10:00  files.read_text_file  tester-1  It did not answer.'],
  [50, 'TIME   TOOL                  RUN       ERROR\n10:00  files.read_text_file  tester-1  It did not…'],
  [40, 'TIME   TOOL             RUN       ERROR\n10:00  files.read_tex…  tester-1  It di…'],
  [30, 'TIME   TOOL             ERROR\n10:00  files.read_tex…  It di…'],
  [20, 'TIME   TOOL\n10:00  files.read_t…'],
  [5, 'TIME   TOOL\n10:00  files.r…'],
])('in %s columns', (room, expected) => {
  const fitted = fitColumns(columns, naturalWidths(columns, rows), room);
  const lines = renderTable(rows, fitted, { colours: createColours(false) });
  expect(lines.slice(0, 2).join('\n')).toBe(expected);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.max(15, room ?? Infinity));
});

test('a table without rows is as wide as its titles', () => {
  expect(naturalWidths(columns, [])).toEqual([4, 4, 3, 5]);
});

test('numbers in the last column end below each other', () => {
  const counts: readonly FittingColumn<number>[] = [{ title: 'COUNT', text: String, right: true }];
  const fitted = fitColumns(counts, naturalWidths(counts, [7, 123_456]));
  expect(renderTable([7, 123_456], fitted, { colours: createColours(false) })).toEqual([' COUNT', '     7', '123456']);
});
