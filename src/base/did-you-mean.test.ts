import { expect, test } from 'vitest';
import { didYouMean } from './did-you-mean.ts';

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
