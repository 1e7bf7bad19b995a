import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findSuspiciousPath, mayLeadOut } from './suspicious-path.ts';

const roots = ['/work/team', '/real/team'];
const look = (value: unknown) => findSuspiciousPath({ path: value }, roots)?.why;

test.each([
  ['../secret', 'parent'],
  ['..', 'parent'],
  ['a/../../b', 'parent'],
  ['a/..', 'parent'],
  ['..\\windows', 'parent'],
  ['/work/team/../other', 'parent'],
  ['cat ../secret', 'parent'],
  ['--file=../secret', 'parent'],
  ['%2e%2e/secret', 'parent'],
  ['..%2Fsecret', 'parent'],
  ['file:///work/team/../x', 'parent'],
  ['/etc/passwd', 'absolute'],
  ['/', 'absolute'],
  ['/work/team2/a', 'absolute'],
  ['file:///etc/passwd', 'absolute'],
  ['file://localhost/etc/passwd', 'absolute'],
  ['C:\\Windows', 'absolute'],
  ['~', 'home'],
  ['~/.ssh/id_rsa', 'home'],
  ['~root/x', 'home'],
  ['$HOME/x', 'home'],
  ['%7e/x', 'home'],
])('%s is suspicious', (value, why) => {
  expect(look(value)).toBe(why);
});

test.each([
  'README.md',
  'a/b..c/d',
  'HEAD~1..HEAD',
  'wait...',
  'to be continued ..',
  '1..10',
  '/work/team',
  '/work/team/a b',
  '/real/team/a',
  'file:///work/team/a',
  'https://example.com/etc',
  '// a comment',
  'and/or',
  '~5 minutes',
  '~5',
  '100%2',
  'first line\n../second/line',
  `../${'x'.repeat(5000)}`,
  '',
  7,
  null,
  true,
])('%s is not', (value) => {
  expect(look(value)).toBeUndefined();
});

test('the first such value is found wherever it is, and its place is what jq understands', () => {
  const args = { a: [{ 'od"d key': ['fine', '../x'] }], b: '/etc' };
  expect(findSuspiciousPath(args, roots)).toEqual({
    at: '.args.a[0]["od\\"d key"][1]',
    value: '../x',
    why: 'parent',
  });
  expect(findSuspiciousPath(['~/x'], roots)?.at).toBe('.args[0]');
  expect(findSuspiciousPath('/etc', roots)?.at).toBe('.args');
  expect(findSuspiciousPath(undefined, roots)).toBeUndefined();
});

test('depth and size of the arguments do no harm', () => {
  let deep: unknown = '../x';
  for (let level = 0; level < 5000; level++) deep = [deep];
  expect(findSuspiciousPath(deep, roots)?.why).toBe('parent');
  const many = Array.from({ length: 1_000_000 }, () => 'fine');
  expect(findSuspiciousPath([...many, '../x'], roots)).toBeUndefined();
});

test('a long value is shown by its beginning', () => {
  expect(findSuspiciousPath({ path: `/${'x'.repeat(1000)}` }, roots)?.value).toHaveLength(201);
});

test('the quick look at the text misses no suspicious value', () => {
  const piece = fc.constantFrom(
    '..',
    '/',
    '\\',
    '~',
    '$HOME',
    '\u0024{HOME}',
    '%2e',
    '%2E',
    'C:',
    'FILE://',
    'a',
    ' ',
    '"',
    'é',
  );
  const path = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
  let found = 0;
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(path, fc.array(path), fc.dictionary(path, path))), (args) => {
      if (findSuspiciousPath(args, roots) === undefined) return true;
      found++;
      return mayLeadOut(JSON.stringify(args));
    }),
    { numRuns: 2000 },
  );
  expect(found).toBeGreaterThan(100);
  expect(mayLeadOut('{"path":"src/a.ts","note":"see b: c"}')).toBe(false);
});
