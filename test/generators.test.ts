import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { listFiles } from './support/list-files.ts';

/** fast-check makes at most this many more than the least, whatever `maxLength` says, unless `size` is given. */
const usualMost = (least: number): number => 2 * least + 10;

/** The options of a generator whose bound is never reached. */
function unreached(source: string): string[] {
  return [...source.matchAll(/\{[^{}]*\bmax(?:Length|Keys|Commands): ([\d_]+)[^{}]*\}/g)]
    .filter(([options, most = '']) => {
      const least = /\bmin(?:Length|Keys): ([\d_]+)/.exec(options)?.[1] ?? '0';
      return toNumber(most) > usualMost(toNumber(least)) && !/\bsize: /.test(options);
    })
    .map(([options]) => options.replaceAll(/\s+/g, ' '));
}

function toNumber(literal: string): number {
  return Number(literal.replaceAll('_', ''));
}

test('a bound of a generator that is beyond the usual size says its size', () => {
  expect(unreached('fc.array(step, { maxLength: 60 })')).toEqual(['{ maxLength: 60 }']);
  expect(unreached('fc.string({ minLength: 1, maxLength: 13 })')).toHaveLength(1);
  expect(unreached("fc.array(step, {\n  maxLength: 60,\n  size: 'max',\n})")).toEqual([]);
  expect(unreached('fc.array(step, { maxLength: 10 }); fc.string({ minLength: 40, maxLength: 60 })')).toEqual([]);
});

test('every generator reaches the bound that it claims', async () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const found: string[] = [];
  for (const file of listFiles(root, ['src', 'test'], /\.(test|fixture)\.ts$/)) {
    const source = await readFile(join(root, file), 'utf8');
    if (!/^import fc from 'fast-check'/m.test(source)) continue;
    found.push(...unreached(source).map((options) => `${file}: ${options}`));
  }
  expect(found).toEqual([]);
});
