import { expect, test } from 'vitest';
import { createMovingClock } from '../../../../test/support/moving-clock.ts';
import { eventually } from '../../../../test/support/within.ts';
import { type ClientSession, ClientSessions, type SessionFacts } from './client-sessions.ts';

interface CountedSession extends ClientSession {
  /** How often it was closed. */
  closed: number;
  busy: boolean;
}

function create(options: { idleMs?: number; max?: number; maxPerOwner?: number } = {}) {
  const clock = createMovingClock();
  let next = 0;
  const sessions = new ClientSessions<CountedSession>(
    { clock, newId: () => `s${next++}` },
    { idleMs: 60_000, max: 10, ...options },
  );
  return { clock, sessions, open: (owner = 'mine') => sessions.open(owner, counted) };
}

function counted(facts: SessionFacts): CountedSession {
  const session: CountedSession = { ...facts, closed: 0, busy: false, close: () => void session.closed++ };
  return session;
}

const idsOf = (sessions: ClientSessions<CountedSession>): string[] => [...sessions.all()].map(({ id }) => id);

test('a session is found by its owner alone', () => {
  const { sessions, open } = create();
  const session = open();
  expect(sessions.find(session.id, 'mine')).toBe(session);
  expect(sessions.find(session.id, 'theirs')).toBeUndefined();
  expect(sessions.find('constructor', 'mine')).toBeUndefined();
  sessions.close();
});

test('looking for a session of somebody else does not keep it alive', async () => {
  const { sessions, clock, open } = create();
  const session = open();
  clock.advance(40_000);
  sessions.find(session.id, 'theirs');
  clock.advance(40_000);
  await eventually(() => sessions.size === 0 || undefined, 'the session to end');
});

test('idle sessions end, and the clock is left alone afterwards', async () => {
  const { sessions, clock, open } = create();
  const [first, second] = [open(), open()];
  clock.advance(40_000);
  sessions.find(second.id, 'mine');
  clock.advance(40_000);
  await eventually(() => sessions.size === 1 || undefined, 'the first session to end');
  expect(idsOf(sessions)).toEqual([second.id]);
  expect([first.closed, second.closed]).toEqual([1, 0]);
  clock.advance(80_000);
  await eventually(() => clock.waiting === 0 || undefined, 'the last timer to end');
});

test('room is made by whoever was silent for longest', () => {
  const { sessions, clock, open } = create({ max: 2 });
  const first = open();
  clock.advance(10);
  const second = open();
  clock.advance(10);
  sessions.find(first.id, 'mine');
  clock.advance(10);
  const third = open();
  expect(idsOf(sessions)).toEqual([first.id, third.id]);
  expect(sessions.find(second.id, 'mine')).toBeUndefined();
  sessions.close();
});

test('an owner that opens more than its share loses its own sessions only', () => {
  const { sessions, clock, open } = create({ max: 1000, maxPerOwner: 3 });
  const theirs = [open('theirs'), open('theirs')];
  clock.advance(10);
  const mine: CountedSession[] = [];
  for (let count = 0; count < 500; count++) {
    mine.push(open());
    clock.advance(1);
  }
  expect(sessions.size).toBe(5);
  expect(mine.map(({ closed }) => closed)).toEqual([...Array(497).fill(1), 0, 0, 0]);
  expect(theirs.map(({ closed }) => closed)).toEqual([0, 0]);
  sessions.close();
});

test('a session with a call in flight is not given up for another one', () => {
  const { sessions, open } = create({ maxPerOwner: 2 });
  const [busy, idle] = [open(), open()];
  busy.busy = true;
  const third = open();
  expect([busy.closed, idle.closed]).toEqual([0, 1]);
  third.busy = true;
  expect(() => open()).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  expect(open('theirs').closed).toBe(0);
  sessions.close();
});

test('without any room, the owner with the most connections loses one', () => {
  const { sessions, clock, open } = create({ max: 4, maxPerOwner: 3 });
  const theirs = open('theirs');
  clock.advance(10);
  const mine = [open(), open(), open()];
  clock.advance(10);
  open('others');
  expect([theirs.closed, ...mine.map(({ closed }) => closed)]).toEqual([0, 1, 0, 0]);
  sessions.close();
});

test('closing ends everything, and ending twice is the same as once', () => {
  const { sessions, clock, open } = create();
  const session = open();
  sessions.end(session);
  sessions.end(session);
  const other = open();
  sessions.close();
  expect([session.closed, other.closed, sessions.size, clock.waiting]).toEqual([1, 1, 0, 0]);
});
