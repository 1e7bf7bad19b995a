import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from '../support/list-files.ts';
import { isTestCode } from './import-rules.ts';
import { unlistedWideFunctions } from './parameters.ts';
import { parseSource } from './source-file.ts';

test('a function has at most four parameters, but for those that are listed', () => {
  const root = join(import.meta.dirname, '..', '..');
  const product = listFiles(root, ['src'], /\.ts$/)
    .filter((path) => !isTestCode(path))
    .map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')));
  expect(unlistedWideFunctions(product)).toEqual([]);
});

test('the list of wide functions can only shrink', () => {
  const [path, wide] = ['src/hub/a.ts', 'export const f = (a, b, c, d, e) => a;\n'];
  const complaint = (found: number, listed: number): string[] => [
    `${path}: ${found} functions with over 4 parameters, listed are ${listed}`,
  ];
  expect(unlistedWideFunctions([parseSource(path, wide)], {})).toEqual(complaint(1, 0));
  expect(unlistedWideFunctions([parseSource(path, wide)], { [path]: 1 })).toEqual([]);
  expect(unlistedWideFunctions([parseSource(path, wide)], { [path]: 2 })).toEqual(complaint(1, 2));
  expect(unlistedWideFunctions([], { [path]: 1 })).toEqual(complaint(0, 1));
  expect(unlistedWideFunctions([parseSource(path, 'class A {\n  m(a, b, c, d) {}\n}\n')], {})).toEqual([]);
});
