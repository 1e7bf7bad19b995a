import { expect, test } from 'vitest';
import { BatchLists } from './batch-lists.ts';

test('lists that no longer fit are not even made', async () => {
  const lists = new BatchLists();
  let made = 0;
  const list = async (): Promise<string> => {
    made++;
    return 'x'.repeat(1024 * 1024);
  };
  const answers = await Promise.all(Array.from({ length: 64 }, (_, id) => lists.answer(String(id), list)));
  expect(made).toBe(4);
  expect(answers.filter((answer) => answer?.startsWith('x'))).toHaveLength(4);
  expect(answers.at(-1)).toContain('"id":63,"error":{"code":-31008');
});

test('one list fits whatever its size, and a failure of one is not that of the next', async () => {
  const lists = new BatchLists();
  await expect(lists.answer('1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await lists.answer('2', async () => 'x'.repeat(5_000_000))).toHaveLength(5_000_000);
  expect(await lists.answer('3', async () => 'y')).toContain('error');
});
