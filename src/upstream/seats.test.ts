import { expect, test } from 'vitest';
import { createMovingClock } from '../../test/support/moving-clock.ts';
import { eventually } from '../../test/support/within.ts';
import type { Isolation, ServerSpec } from '../domain/index.ts';
import type { ConnectionSeat } from './attempt.ts';
import type { UpstreamHandles } from './handles.ts';
import { createSeats } from './seats.ts';
import { nodeServer, specOf } from './spec.fixture.ts';

interface Opened {
  readonly seat: ConnectionSeat;
  spec: ServerSpec;
  busy: boolean;
  end: 'closed' | 'retiring' | 'retired' | undefined;
  /** Its last call has ended. */
  drain(): void;
}

const tenMinutes = 600_000;

function begin(isolation: Exclude<Isolation, 'shared'> = 'per-session') {
  const clock = createMovingClock();
  const opened: Opened[] = [];
  const spec = specOf(nodeServer('-e', ''));
  const open = (own: ServerSpec, seat: ConnectionSeat): UpstreamHandles => {
    let drained: () => void = () => {};
    const drain = (): void => {
      one.busy = false;
      drained();
    };
    const one: Opened = { seat, spec: own, busy: false, end: undefined, drain };
    opened.push(one);
    const control: Partial<UpstreamHandles['control']> = {
      replaceSpec(next) {
        one.spec = next;
      },
      async retire() {
        one.end = 'retiring';
        if (one.busy) await new Promise<void>((resolve) => (drained = resolve));
        one.end = 'retired';
      },
      async close() {
        one.end = 'closed';
      },
    };
    const dispatch: Partial<UpstreamHandles['dispatch']> = {
      get busy() {
        return one.busy;
      },
    };
    return { control, dispatch } as UpstreamHandles; // nothing else of them is used
  };
  const seats = createSeats({ clock, open }, spec, isolation);
  const at = (session: string, agent = 'ann', capabilities = '{}') => seats.at({ agent, session, capabilities });
  return { clock, seats, opened, at, spec };
}

test('each session of each agent has a connection, which hears what its client can be asked', () => {
  const { at, opened } = begin();
  const first = at('one', 'ann', '{"roots":{}}');
  expect(at('one', 'ann', '{"roots":{}}')).toBe(first);
  const others = [at('two', 'ann', '{"roots":{}}'), at('one', 'bob', '{"roots":{}}'), at('one', 'ann', '{}')];
  expect(new Set([first, ...others]).size).toBe(4);
  expect(opened.map(({ seat }) => seat)).toEqual([
    ...['one', 'two', 'one'].map((session) => ({ capabilities: '{"roots":{}}', exclusive: true, session })),
    { capabilities: '{}', exclusive: true, session: 'one' },
  ]);
});

test('an agent has one connection for all its clients, which may be asked whatever one of them can answer', () => {
  const { at, opened, seats } = begin('per-agent');
  expect(at('one', 'ann', '{}')).toBe(at('two', 'ann', '{"roots":{}}'));
  expect(at('one', 'bob')).not.toBe(at('one', 'ann'));
  expect(JSON.parse(String(opened[0]?.seat.capabilities))).toMatchObject({ elicitation: {}, roots: {}, sampling: {} });
  seats.endSession('one');
  expect(opened.map(({ end }) => end)).toEqual([undefined, undefined]);
});

test('the end of a client ends its connections, once their calls are done; should it come back, it gets another', async () => {
  const { at, opened, seats } = begin();
  const first = at('one');
  at('one', 'ann', '{"roots":{}}');
  at('two');
  const [busy, idle, other] = opened as [Opened, Opened, Opened]; // three were opened
  busy.busy = true;
  seats.endSession('one');
  await eventually(() => idle.end === 'retired' || undefined, 'the idle one to be closed');
  expect([busy.end, other.end]).toEqual(['retiring', undefined]);
  expect(at('one')).not.toBe(first);
  busy.drain();
  await eventually(() => busy.end === 'retired' || undefined, 'the busy one to be closed');
  await seats.close();
});

test('who is silent for long loses its connection, unless a call is under way; then no timer is left', async () => {
  const { at, clock, opened, seats } = begin();
  at('one');
  at('two');
  const [one, two] = opened as [Opened, Opened]; // two were opened
  two.busy = true;
  const pass = async (until: () => true | undefined): Promise<void> => {
    await eventually(() => {
      clock.advance(tenMinutes / 10);
      return until();
    }, 'time to pass');
  };
  await pass(() => one.end === 'retired' || undefined);
  expect(two.end).toBeUndefined();
  two.busy = false;
  await pass(() => two.end === 'retired' || undefined);
  await eventually(() => clock.waiting === 0 || undefined, 'the timer to end');
  at('one');
  expect(clock.waiting).toBe(1);
  await seats.close();
  expect(clock.waiting).toBe(0);
});

test('room is made for a new one by whoever was silent for longest; where all are busy there is none', async () => {
  const { at, clock, opened, seats } = begin();
  for (let index = 0; index < 64; index++) {
    at(`${index}`);
    clock.advance(1);
  }
  at('0');
  for (const one of opened) one.busy = true;
  expect(() => at('more')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  for (const index of [0, 5, 9]) (opened[index] as Opened).busy = false; // there are 64
  at('more');
  expect(opened.flatMap(({ end }, index) => (end === undefined ? [] : [index]))).toEqual([5]);
  expect(opened).toHaveLength(65);
  for (const one of opened) one.drain();
  await seats.close();
});

test('changed limits reach the connections that are open, and those to come', () => {
  const { at, opened, seats, spec } = begin();
  at('one');
  const next = { ...spec, limits: { ...spec.limits, concurrency: 1 } };
  seats.replaceSpec(next);
  at('two');
  expect(opened.map((one) => one.spec)).toEqual([next, next]);
});

test('a server that is let go finishes the calls of all connections first; nobody gets a new one', async () => {
  const { at, opened, seats, clock } = begin();
  at('one');
  at('two');
  const [one, two] = opened as [Opened, Opened]; // two were opened
  two.busy = true;
  let done = false;
  const retired = seats.retire().then(() => {
    done = true;
  });
  await eventually(() => one.end === 'retired' || undefined, 'the idle one to be closed');
  expect([done, two.end]).toEqual([false, 'retiring']);
  expect(() => at('one')).toThrow(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }));
  two.drain();
  await retired;
  expect(clock.waiting).toBe(0);
});

test('closing closes all at once, and waits for those that were leaving', async () => {
  const { at, opened, seats } = begin();
  at('one');
  at('two');
  const [leaving, open] = opened as [Opened, Opened]; // two were opened
  leaving.busy = true;
  seats.endSession('one');
  let done = false;
  const closed = seats.close().then(() => {
    done = true;
  });
  await eventually(() => open.end === 'closed' || undefined, 'the open one to be closed');
  expect(done).toBe(false);
  leaving.drain();
  await closed;
  await seats.close();
  expect(() => at('one')).toThrow();
});
