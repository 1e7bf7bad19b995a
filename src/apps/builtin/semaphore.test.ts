import { expect, test } from 'vitest';
import { createSemaphore } from './semaphore.ts';

test('so many at a time, in order, and whoever gives up is passed over', async () => {
  const turns = createSemaphore(1);
  const here = new AbortController().signal;
  const leaving = new AbortController();
  const order: string[] = [];
  const end = await turns.take(here);
  const gone = turns.take(leaving.signal).catch((reason: unknown) => `gone: ${String(reason)}`);
  const second = turns.take(here).then((endSecond) => {
    order.push('second');
    endSecond();
  });
  const third = turns.take(here).then((endThird) => {
    order.push('third');
    endThird();
  });
  leaving.abort('away');
  expect(await gone).toBe('gone: away');
  expect(order).toEqual([]);
  end();
  await Promise.all([second, third]);
  expect(order).toEqual(['second', 'third']);
  (await turns.take(here))();
  await expect(turns.take(AbortSignal.abort('before'))).rejects.toBe('before');
});
