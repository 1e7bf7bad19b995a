import { expect, test } from 'vitest';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { createStartQueue, type StartPlace, type StartPriority, type StartQueue } from './start-queue.ts';

const never = new AbortController().signal;

interface Asked {
  readonly place: StartPlace;
  readonly ends: Map<string, () => void>;
}

/** Joins under a name and writes down when its turn came. */
function ask(queue: StartQueue, order: string[], name: string, priority: StartPriority): Asked {
  const place = queue.join(priority);
  const ends = new Map<string, () => void>();
  void place.turn(never).then((end) => {
    order.push(name);
    ends.set(name, end);
  });
  return { place, ends };
}

async function settle(): Promise<void> {
  await new Promise(setImmediate);
}

test('no more than the given number start at once, and each end lets one more start', async () => {
  const queue = createStartQueue({ clock: createManualClock() }, { atOnce: 2 });
  const order: string[] = [];
  const asked = ['a', 'b', 'c', 'd'].map((name) => ask(queue, order, name, 'background'));
  await settle();
  expect(order).toEqual(['a', 'b']);
  const endA = asked[0]?.ends.get('a');
  endA?.();
  endA?.();
  await settle();
  expect(order, 'ending twice frees one place').toEqual(['a', 'b', 'c']);
});

test('a call goes before a list, a list before the rest, whoever came first', async () => {
  const queue = createStartQueue({ clock: createManualClock() }, { atOnce: 1 });
  const order: string[] = [];
  const names = new Map<string, Asked>();
  const join = (name: string, priority: StartPriority): unknown => names.set(name, ask(queue, order, name, priority));
  join('first', 'background');
  await settle();
  join('background', 'background');
  join('raised', 'background');
  join('list', 'list');
  join('call', 'call');
  names.get('raised')?.place.raise('call');
  names.get('call')?.place.raise('background');
  for (let turn = 0; turn < 5; turn++) {
    await settle();
    const name = order.at(-1) as string;
    names.get(name)?.ends.get(name)?.();
  }
  expect(order).toEqual(['first', 'call', 'raised', 'list', 'background']);
});

test('a server that hangs holds its place for a while only', async () => {
  const clock = createManualClock();
  const queue = createStartQueue({ clock }, { atOnce: 8, holdMs: 2000 });
  const order: string[] = [];
  for (let hung = 0; hung < 8; hung++) ask(queue, order, `hung${hung}`, 'background');
  ask(queue, order, 'ninth', 'background');
  await settle();
  expect(order).toHaveLength(8);
  clock.advance(2000);
  await settle();
  expect(order.at(-1)).toBe('ninth');
});

test('a caller that gives up leaves the queue and takes no place', async () => {
  const queue = createStartQueue({ clock: createManualClock() }, { atOnce: 1 });
  const order: string[] = [];
  const first = ask(queue, order, 'first', 'background');
  await settle();
  const giveUp = new AbortController();
  const place = queue.join('call');
  const given = place.turn(giveUp.signal);
  place.raise('call');
  ask(queue, order, 'next', 'background');
  giveUp.abort();
  await expect(given).rejects.toMatchObject({ code: 'CANCELLED' });
  await expect(place.turn(giveUp.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
  first.ends.get('first')?.();
  await settle();
  expect(order).toEqual(['first', 'next']);
});
