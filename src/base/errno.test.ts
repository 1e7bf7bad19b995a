import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errnoOf } from './errno.ts';

test('a failed system call has a code, anything else has none', () => {
  expect(errnoOf(thrownBy(() => readFileSync('/nowhere/at/all')))).toBe('ENOENT');
  expect(errnoOf(new Error('ENOENT'))).toBeUndefined();
  expect(errnoOf(Object.assign(new Error('no'), { code: 404 }))).toBeUndefined();
  expect(errnoOf({ code: 'ENOENT' })).toBeUndefined();
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
