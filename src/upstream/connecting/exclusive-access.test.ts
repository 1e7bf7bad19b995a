import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { createExclusiveAccess, type ExclusiveAccess } from './exclusive-access.ts';

const timeoutMs = 30_000;

function begin() {
  const clock = createMovingClock();
  const exclusiveAccess = createExclusiveAccess({ clock }, { server: 'files', timeoutMs });
  const inside: string[] = [];
  return { clock, exclusiveAccess, inside, go: visitor(exclusiveAccess, inside) };
}

/** Whoever has its turn is written down. */
function visitor(exclusiveAccess: ExclusiveAccess, inside: string[]) {
  return (name: string, session?: string) => {
    const call = { name };
    const entered = exclusiveAccess.enter(call, session).then(() => {
      inside.push(name);
    });
    return { call, entered, leave: () => exclusiveAccess.leave(call) };
  };
}

test('calls of one session go together, others wait until all of them have left', async () => {
  const { go, inside, exclusiveAccess, clock } = begin();
  const [one, two] = [go('one', 'a'), go('two', 'a')];
  await Promise.all([one.entered, two.entered]);
  const other = go('other', 'b');
  one.leave();
  await settled();
  expect(inside).toEqual(['one', 'two']);
  two.leave();
  await other.entered;
  other.leave();
  expect(clock.waiting).toBe(0);
  exclusiveAccess.leave({});
});

test('calls without a session go alone', async () => {
  const { go, inside } = begin();
  const calls = ['one', 'two', 'three'].map((name) => go(name));
  for (const [index, call] of calls.entries()) {
    await call.entered;
    expect(inside).toHaveLength(index + 1);
    call.leave();
  }
});

test('a waiting client is not overtaken, except by calls of the client whose turn it is', async () => {
  const { go, inside } = begin();
  const first = go('first', 'a');
  const other = go('other', 'b');
  const late = go('late', 'a');
  const along = go('along', 'b');
  await first.entered;
  await settled();
  expect(inside).toEqual(['first']);
  first.leave();
  await other.entered;
  await settled();
  // `late` came before `along`, so it is not passed.
  expect(inside).toEqual(['first', 'other']);
  other.leave();
  await late.entered;
  late.leave();
  await along.entered;
});

test('a client that has its turn keeps it when it asks again while others wait', async () => {
  const { go, exclusiveAccess, inside } = begin();
  const first = go('first');
  await first.entered;
  const other = go('other');
  await exclusiveAccess.enter(first.call, undefined);
  first.leave();
  await other.entered;
  expect(inside).toEqual(['first', 'other']);
});

test('a client that waits too long gets an error and does not delay those behind it', async () => {
  const { go, clock, inside } = begin();
  const first = go('first', 'a');
  await first.entered;
  const impatient = go('impatient', 'b');
  clock.advance(timeoutMs - 1000);
  const along = go('along', 'a');
  clock.advance(1000);
  await expect(impatient.entered).rejects.toMatchObject({ code: 'OVERLOADED', details: { server: 'files' } });
  await along.entered;
  expect(inside).toEqual(['first', 'along']);
  impatient.leave();
  expect(clock.waiting).toBe(0);
});

test('a client that leaves while it waits gets no turn, and its timer ends', async () => {
  const { go, clock, inside } = begin();
  const first = go('first', 'a');
  await first.entered;
  const gone = go('gone', 'b');
  const along = go('along', 'a');
  gone.leave();
  await along.entered;
  expect(clock.waiting).toBe(0);
  first.leave();
  along.leave();
  await settled();
  expect(inside).toEqual(['first', 'along']);
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}
