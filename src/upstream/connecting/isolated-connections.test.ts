import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually } from '../../../test/support/within.ts';
import type { Isolation, ServerSpec } from '../../domain/index.ts';
import type { UpstreamHandles } from '../handles.ts';
import { nodeServer, specOf } from '../spec.fixture.ts';
import type { IsolationTerms } from './attempt.ts';
import { createIsolatedConnections } from './isolated-connections.ts';

interface Opened {
  readonly isolated: IsolationTerms;
  spec: ServerSpec;
  busy: boolean;
  /** It is busy with subscriptions alone. */
  subscribed: boolean;
  /** Its program takes long to end. */
  endsSlowly: boolean;
  end: 'closed' | 'retiring' | 'retired' | undefined;
  /** Its last call has ended. */
  drain(): void;
}

const tenMinutes = 600_000;

function begin(isolation: Exclude<Isolation, 'shared'> = 'per-session') {
  const clock = createMovingClock();
  const opened: Opened[] = [];
  const spec = specOf(nodeServer('-e', ''));
  const open = (own: ServerSpec, isolated: IsolationTerms): UpstreamHandles => {
    let drained: () => void = () => {};
    const drain = (): void => {
      one.busy = false;
      drained();
    };
    const one: Opened = {
      isolated,
      spec: own,
      busy: false,
      subscribed: false,
      endsSlowly: false,
      end: undefined,
      drain,
    };
    opened.push(one);
    const control: Partial<UpstreamHandles['control']> = {
      replaceSpec(next) {
        one.spec = next;
      },
      async retire() {
        one.end = 'retiring';
        if (one.busy || one.endsSlowly) await new Promise<void>((resolve) => (drained = resolve));
        one.end = 'retired';
      },
      async close() {
        one.end = 'closed';
      },
    };
    const dispatch: Partial<UpstreamHandles['dispatch']> = {
      get busy() {
        return one.busy || one.subscribed;
      },
      get hasCalls() {
        return one.busy;
      },
    };
    return { control, dispatch } as UpstreamHandles; // nothing else of them is used
  };
  const connections = createIsolatedConnections({ clock, open }, spec, isolation);
  const at = (session: string, agent = 'ann', capabilities = '{}') => connections.at({ agent, session, capabilities });
  return { clock, connections, opened, at, spec };
}

test('each session of each agent has a connection, which hears what its client can be asked', () => {
  const { at, opened } = begin();
  const first = at('one', 'ann', '{"roots":{}}');
  expect(at('one', 'ann', '{"roots":{}}')).toBe(first);
  const others = [at('two', 'ann', '{"roots":{}}'), at('one', 'bob', '{"roots":{}}'), at('one', 'ann', '{}')];
  expect(new Set([first, ...others]).size).toBe(4);
  expect(opened.map(({ isolated }) => isolated)).toEqual([
    ...['one', 'two', 'one'].map((session) => ({ capabilities: '{"roots":{}}', exclusive: true, session })),
    { capabilities: '{}', exclusive: true, session: 'one' },
  ]);
});

test('an agent has one connection for all its clients, which may be asked whatever one of them can answer', () => {
  const { at, opened, connections } = begin('per-agent');
  expect(at('one', 'ann', '{}')).toBe(at('two', 'ann', '{"roots":{}}'));
  expect(at('one', 'bob')).not.toBe(at('one', 'ann'));
  const { extensions: _, ...requests } = JSON.parse(String(opened[0]?.isolated.capabilities));
  expect(requests).toEqual({ elicitation: { form: {}, url: {} }, sampling: {} });
  connections.endSession('one');
  expect(opened.map(({ end }) => end)).toEqual([undefined, undefined]);
});

test('the end of a client ends its connections, once their calls are done; should it come back, it gets another', async () => {
  const { at, opened, connections } = begin();
  const first = at('one');
  at('one', 'ann', '{"roots":{}}');
  at('two');
  const [busy, idle, other] = opened as [Opened, Opened, Opened]; // three were opened
  busy.busy = true;
  connections.endSession('one');
  await eventually(() => idle.end === 'retired' || undefined, 'the idle one to be closed');
  expect([busy.end, other.end]).toEqual(['retiring', undefined]);
  expect(at('one')).not.toBe(first);
  busy.drain();
  await eventually(() => busy.end === 'retired' || undefined, 'the busy one to be closed');
  await connections.close();
});

test('an idle owner loses its connection unless a call is in flight, and no timer is left', async () => {
  const { at, clock, opened, connections } = begin();
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
  await connections.close();
  expect(clock.waiting).toBe(0);
});

test('room is made for a new one by whoever was silent for longest; where all are busy there is none', async () => {
  const { at, clock, opened, connections } = begin();
  for (let index = 0; index < 48; index++) {
    at(`${index}`);
    clock.advance(1);
  }
  at('0');
  for (const one of opened) one.busy = true;
  expect(() => at('more')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  for (const index of [0, 5, 9]) (opened[index] as Opened).busy = false; // there are 48
  at('more');
  expect(opened.flatMap(({ end }, index) => (end === undefined ? [] : [index]))).toEqual([5]);
  expect(opened).toHaveLength(49);
  for (const one of opened) one.drain();
  await connections.close();
});

test(
  verifies('isolation:limit', 'connections count until their program has ended, and leave room for others'),
  async () => {
    const { at, opened, connections } = begin();
    const refused = expect.objectContaining({ code: 'OVERLOADED' });
    const churn = (): void => {
      for (let index = 0; index < 200; index++) {
        at(`${index}`, 'eve');
        for (const one of opened) one.busy = true;
        connections.endSession(`${index}`);
      }
    };
    expect(churn).toThrow(refused);
    expect(opened).toHaveLength(48);
    at('mine', 'ann');
    expect(opened).toHaveLength(49);
    for (const one of opened) one.drain();
    await new Promise(setImmediate);
    at('again', 'eve');
    expect(opened).toHaveLength(50);
    await connections.close();
  },
);

test('an idle connection makes room for another only while few are closing', async () => {
  const { at, opened, connections } = begin();
  for (let index = 0; index < 48; index++) at(`${index}`);
  // They are idle when they are chosen, and then take long to end.
  const slowToEnd = (): void => {
    for (const one of opened) one.endsSlowly = true;
    for (let more = 0; more < 20; more++) at(`more ${more}`);
  };
  expect(slowToEnd).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  expect(opened.filter(({ end }) => end === 'retiring')).toHaveLength(4);
  for (const one of opened) {
    one.endsSlowly = false;
    one.drain();
  }
  await new Promise(setImmediate);
  at('after that');
  await connections.close();
});

test('whatever one agent opens, there is room for others, and they close its connections before their own', () => {
  const { at, opened, clock } = begin();
  const mine = at('mine', 'ann');
  const endedOf = () => opened.flatMap(({ end }, index) => (end === undefined ? [] : [index]));
  const refused = expect.objectContaining({ code: 'OVERLOADED' });
  for (let index = 0; index < 48; index++) at(`${index}`, 'eve');
  for (const one of opened.slice(1)) one.busy = true;
  // Her connections are all in use, and those of others are not hers to close.
  expect(() => at('more', 'eve')).toThrow(refused);
  expect([at('mine', 'ann') === mine, endedOf()]).toEqual([true, []]);
  for (let index = 0; index < 11; index++) at(`${index}`, 'ann');
  const before = opened.length;
  expect(endedOf()).toEqual([]);
  for (const one of opened.slice(49)) one.busy = true;
  (opened[0] as Opened).busy = true; // the first is open
  expect(() => at('too many', 'ann')).toThrow(refused);
  clock.advance(1);
  (opened[7] as Opened).busy = false; // eve has 48
  at('next', 'ann');
  expect([endedOf(), opened.length]).toEqual([[7], before + 1]);
});

test('subscriptions alone keep a connection from other agents for ten minutes, and from its own agent', () => {
  const { at, opened, clock } = begin();
  for (let index = 0; index < 48; index++) at(`${index}`, 'eve');
  for (const one of opened) one.subscribed = true;
  clock.advance(tenMinutes / 2);
  for (let index = 0; index < 12; index++) at(`${index}`, 'ann');
  for (const one of opened.slice(48)) one.busy = true;
  const refused = expect.objectContaining({ code: 'OVERLOADED' });
  expect(() => at('more', 'ann')).toThrow(refused);
  clock.advance(tenMinutes / 2);
  expect(() => at('more', 'eve')).toThrow(refused);
  (opened[0] as Opened).busy = true; // a call is in flight over it
  at('more', 'ann');
  expect(opened.flatMap(({ end }, index) => (end === undefined ? [] : [index]))).toEqual([1]);
});

test('changed limits reach the connections that are open, and those to come', () => {
  const { at, opened, connections, spec } = begin();
  at('one');
  const next = { ...spec, limits: { ...spec.limits, concurrency: 1 } };
  connections.replaceSpec(next);
  at('two');
  expect(opened.map((one) => one.spec)).toEqual([next, next]);
});

test('a server that is let go finishes the calls of all connections first; nobody gets a new one', async () => {
  const { at, opened, connections, clock } = begin();
  at('one');
  at('two');
  const [one, two] = opened as [Opened, Opened]; // two were opened
  two.busy = true;
  let done = false;
  const retired = connections.retire().then(() => {
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
  const { at, opened, connections } = begin();
  at('one');
  at('two');
  const [leaving, open] = opened as [Opened, Opened]; // two were opened
  leaving.busy = true;
  connections.endSession('one');
  let done = false;
  const closed = connections.close().then(() => {
    done = true;
  });
  await eventually(() => open.end === 'closed' || undefined, 'the open one to be closed');
  expect(done).toBe(false);
  leaving.drain();
  await closed;
  await connections.close();
  expect(() => at('one')).toThrow();
});
