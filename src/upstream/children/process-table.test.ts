import { expect, test } from 'vitest';
import type { ProcessRow } from '../../base/index.ts';
import { createSharedList } from './process-table.ts';

test('those who look at the processes at once share a look that began after they asked', async () => {
  const looks: ((rows: ProcessRow[]) => void)[] = [];
  const list = createSharedList(() => new Promise((resolve) => looks.push(resolve)));
  const row = (pid: number): ProcessRow => ({ pid, parent: 1, group: pid, start: 1, ended: false });
  const first = list();
  await Promise.resolve();
  const late = Array.from({ length: 300 }, () => list());
  await new Promise(setImmediate);
  expect(looks, 'while somebody looks, nobody else does').toHaveLength(1);
  looks[0]?.([row(1)]);
  expect(await first).toEqual([row(1)]);
  await new Promise(setImmediate);
  expect(looks, 'one more look for all who came later').toHaveLength(2);
  looks[1]?.([row(2)]);
  for (const rows of await Promise.all(late)) expect(rows).toEqual([row(2)]);
});

test('a look that fails fails those who share it, and nobody after them', async () => {
  let looks = 0;
  const list = createSharedList(async () => {
    looks += 1;
    if (looks === 1) throw new Error('no /proc');
    return [];
  });
  await expect(list()).rejects.toThrow('no /proc');
  expect(await list()).toEqual([]);
});
