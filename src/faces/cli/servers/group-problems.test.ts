import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import type { Problem } from '../../../domain/index.ts';
import { serverLines } from '../doctor/doctor-lines.ts';
import { lateRow } from '../doctor/doctor-row.ts';
import { createColours } from '../terminal/colours.ts';
import { groupProblems } from './group-problems.ts';
import { problemLines } from './problem-lines.ts';

function unknownKey(line: number, severity: Problem['severity'] = 'warning', file = '.mcp.json'): Problem {
  const server = `s${line}`;
  const message = `Server "${server}": the key "k${line}" is unknown and ignored.`;
  return { severity, file, line, server, message, fix: 'Remove it.' };
}

test(verifies('cli:alike', 'many warnings of one kind are one line, with their number and the first places'), () => {
  const secret: Problem = { severity: 'warning', file: '.mcp.json', line: 5, message: '"env.A" looks like a secret.' };
  const many = Array.from({ length: 27 }, (_, index) => unknownKey(10 + index));
  expect(problemLines([secret, ...many], createColours(false))).toEqual([
    'warning .mcp.json:5 "env.A" looks like a secret.',
    'warning .mcp.json:10 Server "s10": the key "k10" is unknown and ignored. Remove it. ' +
      'The same in 26 more places: line 11 (s11), line 12 (s12), line 13 (s13) and so on.',
  ]);
});

test(verifies('cli:alike', 'a repeated warning is shown once, with a count'), () => {
  const same = (line: number): Problem => ({ severity: 'warning', file: 'a.yaml', line, message: 'The same.' });
  expect(problemLines([same(3), unknownKey(1), same(9), same(12)], createColours(false))).toEqual([
    'warning a.yaml:3 The same. The same in 2 more places: line 9, line 12.',
    'warning .mcp.json:1 Server "s1": the key "k1" is unknown and ignored. Remove it.',
  ]);
  const twice = same(3);
  expect(groupProblems([twice, twice])).toEqual([{ problem: twice, others: 'The same in 1 more place: line 3.' }]);
});

test(verifies('cli:alike', 'a warning of a server about several tools is shown once'), () => {
  const row = { ...lateRow('x'), warnings: ['no schema', 'other', 'no schema'] };
  const page = { colours: createColours(false), width: undefined };
  const lines = serverLines(row, page).filter((line) => line.includes('warning'));
  expect(lines).toEqual(['  warning no schema (2 times)', '  warning other']);
});

test('a few are shown one by one, and so is each error and each file', () => {
  const few = [1, 2, 3].map((line) => unknownKey(line));
  const errors = [1, 2, 3, 4, 5].map((line) => unknownKey(line, 'error'));
  const elsewhere = [1, 2, 3].map((line) => unknownKey(line, 'warning', '.cursor/mcp.json'));
  const all = [...few, ...errors, ...elsewhere];
  expect(groupProblems(all)).toEqual(all.map((problem) => ({ problem, others: undefined })));
});

test('a note is told as one', () => {
  const note: Problem = { severity: 'note', file: 'a', message: '"EXAMPLE-a" is a sample and is left out.' };
  expect(problemLines([note], createColours(false))).toEqual(['note a "EXAMPLE-a" is a sample and is left out.']);
});
