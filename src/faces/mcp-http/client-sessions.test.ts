import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { eventually } from '../../../test/support/within.ts';
import { type ClientSession, type ClientSessions, createClientSessions, type SessionFacts } from './client-sessions.ts';

interface CountedSession extends ClientSession {
  /** How often it was closed. */
  closed: number;
}

function create(options: { idleMs?: number; max?: number } = {}) {
  const clock = createMovingClock();
  let next = 0;
  const sessions = createClientSessions<CountedSession>(
    { clock, newId: () => `s${next++}` },
    { idleMs: options.idleMs ?? 60_000, max: options.max ?? 10 },
  );
  return { clock, sessions, open: () => sessions.open('mine', counted) };
}

function counted(facts: SessionFacts): CountedSession {
  const session: CountedSession = { ...facts, closed: 0, close: () => void session.closed++ };
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

test('closing ends everything, and ending twice is the same as once', () => {
  const { sessions, clock, open } = create();
  const session = open();
  sessions.end(session);
  sessions.end(session);
  const other = open();
  sessions.close();
  expect([session.closed, other.closed, sessions.size, clock.waiting]).toEqual([1, 1, 0, 0]);
});
