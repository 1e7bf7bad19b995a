import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSemaphore } from './semaphore.ts';

test('so many at a time, in order, and whoever gives up is passed over', async () => {
  const turns = createSemaphore(1).of('a');
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

test(
  verifies('builtin:turns', 'an agent leaves turns free for others, and those who wait are served in rotation'),
  async () => {
    const turns = createSemaphore(4);
    const here = new AbortController().signal;
    const order: string[] = [];
    const ends: Record<string, () => void> = {};
    const take = (call: string): Promise<void> =>
      turns
        .of(call.charAt(0))
        .take(here)
        .then((end) => {
          order.push(call);
          ends[call] = end;
        });
    const given = Promise.all(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'].map(take));
    await new Promise(setImmediate);
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1']);
    ends.a1?.();
    await new Promise(setImmediate);
    expect(order.slice(4)).toEqual([]);
    ends.c1?.();
    await new Promise(setImmediate);
    expect(order.slice(4)).toEqual(['a3']);
    ends.b1?.();
    await new Promise(setImmediate);
    expect(order.slice(4)).toEqual(['a3', 'b2']);
    for (const call of ['a2', 'a3', 'b2', 'a4', 'a5']) {
      ends[call]?.();
      await new Promise(setImmediate);
    }
    await given;
  },
);

test('without an agent all turns can be taken, and whoever gives up leaves nothing behind', async () => {
  const turns = createSemaphore(2);
  const here = new AbortController().signal;
  const ends = [await turns.of(undefined).take(here), await turns.of(undefined).take(here)];
  const leaving = new AbortController();
  const gone = turns.of('a').take(leaving.signal);
  leaving.abort('away');
  await expect(gone).rejects.toBe('away');
  for (const end of ends) end();
  (await turns.of('b').take(here))();
});

test('one turn goes round', async () => {
  const turns = createSemaphore(1);
  const here = new AbortController().signal;
  const order: string[] = [];
  const end = await turns.of('a').take(here);
  const waiting = ['a1', 'a2', 'b1', 'b2'].map(async (call) => {
    const endTurn = await turns.of(call.charAt(0)).take(here);
    order.push(call);
    endTurn();
  });
  end();
  await Promise.all(waiting);
  expect(order).toEqual(['b1', 'a1', 'b2', 'a2']);
});
