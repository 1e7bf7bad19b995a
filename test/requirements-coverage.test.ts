import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { notYet, requirements } from './requirements.ts';
import { listFiles } from './support/list-files.ts';
import { verifiedIds } from './support/verified-ids.ts';
import { verifies } from './support/verifies.ts';

const root = resolve(import.meta.dirname, '..');
const self = 'test/requirements-coverage.test.ts';
const verified = new Set(
  listFiles(root, ['src', 'test'], /\.test\.ts$/)
    .filter((path) => path !== self && !path.startsWith('test/programs/'))
    .flatMap((path) => verifiedIds(path, readFileSync(join(root, path), 'utf8'))),
);

test('every promise has a test that verifies it, or is owed openly', () => {
  const owed = new Set<string>(notYet);
  const missing = Object.keys(requirements).filter((id) => !verified.has(id) && !owed.has(id));
  expect(missing, 'write a test with verifies(id, …) for each').toEqual([]);
  if (notYet.length > 0) console.log(`Promised and not yet tested (${notYet.length}): ${notYet.join(', ')}`);
});

test('a promise that is tested is no longer owed', () => {
  expect(
    notYet.filter((id) => verified.has(id)),
    'remove these from notYet in test/requirements.ts',
  ).toEqual([]);
  expect(notYet, 'an id is in notYet twice').toEqual([...new Set(notYet)]);
});

test('a promise is in one file only', () => {
  const files = listFiles(root, ['test'], /^test\/requirements(?:-(?!coverage)[a-z-]+)?\.ts$/);
  const written = files.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/^ {2}'([a-z]+:[a-z0-9-]+)':/gm)].map(([, id]) => id),
  );
  expect(written.filter((id, at) => written.indexOf(id) !== at)).toEqual([]);
  expect(written.length).toBe(Object.keys(requirements).length);
});

test('ids are short and stable, sentences are sentences', () => {
  for (const [id, sentence] of Object.entries(requirements)) {
    expect(id).toMatch(/^[a-z]+:[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(sentence, id).toMatch(/^[A-Z0-9].*\.$/);
  }
});

test('only calls that run count as verification', () => {
  const found = (text: string): string[] => verifiedIds('src/a.test.ts', text);
  expect(found(`test(verifies('hub:stop', 'it stops'), () => {});`)).toEqual(['hub:stop']);
  expect(found(`test.each([1])(verifies('hub:stop', 'it stops'), () => {});`)).toEqual(['hub:stop']);
  expect(found(`// verifies('hub:stop', 'it stops')`)).toEqual([]);
  expect(found(`test.skip(verifies('hub:stop', 'it stops'), () => {});`)).toEqual([]);
  expect(found(`test.todo(verifies('hub:stop', 'it stops'));`)).toEqual([]);
});

test('the name of a test tells its promise', () => {
  expect(verifies('hub:stop', 'the hub stops')).toBe('the hub stops [hub:stop]');
});
