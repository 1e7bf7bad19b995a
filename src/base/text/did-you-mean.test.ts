import { expect, test } from 'vitest';
import { didYouMean, wordsMeant } from './did-you-mean.ts';

const known = ['command', 'args', 'env', 'excludeTools', 'timeout', 'policies', 'files', 'x'];

test.each([
  ['comand', 'command'],
  ['cmomand', 'command'],
  ['arg', 'args'],
  ['exclude_tools', 'excludeTools'],
  ['ExcludeTool', 'excludeTools'],
  ['policy', 'policies'],
  ['flies', 'files'],
  ['...', undefined],
  ['y', undefined],
  ['vne', undefined],
  ['zebra', undefined],
  ['', undefined],
  ['x'.repeat(10_000), undefined],
])('%s → %s', (word, expected) => {
  expect(didYouMean(word, known)).toBe(expected);
});

test('of two equally near words a message has both, and of more the first', () => {
  expect(wordsMeant('mem', ['mem1', 'mem2', 'other'])).toBe('mem1 or mem2');
  expect(wordsMeant('cat', ['bat', 'rat', 'hat'])).toBe('bat');
  expect(wordsMeant('tester', ['tester', 'taster'])).toBe('tester');
  expect(wordsMeant('zebra', ['server'])).toBeUndefined();
});
