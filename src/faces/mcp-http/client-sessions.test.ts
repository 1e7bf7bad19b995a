import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { eventually } from '../../../test/support/within.ts';
import type { LegacyClient } from '../mcp/index.ts';
import { type ClientSession, type ClientSessions, createClientSessions } from './client-sessions.ts';

function create(options: { idleMs?: number; max?: number } = {}) {
  const clock = createMovingClock();
  let next = 0;
  const sessions = createClientSessions(
    { clock, newId: () => `s${next++}` },
    { idleMs: options.idleMs ?? 60_000, max: options.max ?? 10 },
  );
  return { clock, sessions };
}

function withStream(session: ClientSession): { ended: () => number } {
  let ends = 0;
  const events = { send() {}, comment() {}, end: () => void ends++ };
  session.stream = { events, chain: [], lists: { tools: '', prompts: '', resources: '' }, authorization: undefined };
  return { ended: () => ends };
}

// A session does nothing with its client but close it.
const client = (): LegacyClient => ({ close() {} }) as LegacyClient;

const idsOf = (sessions: ClientSessions): string[] => [...sessions.all()].map(({ id }) => id);

test('a session is found by its owner alone', () => {
  const { sessions } = create();
  const session = sessions.open('mine', '2025-11-25', client);
  expect(sessions.find(session.id, 'mine')).toBe(session);
  expect(sessions.find(session.id, 'theirs')).toBeUndefined();
  expect(sessions.find('constructor', 'mine')).toBeUndefined();
  sessions.close();
});

test('looking for a session of somebody else does not keep it alive', async () => {
  const { sessions, clock } = create();
  const session = sessions.open('mine', '2025-11-25', client);
  clock.advance(40_000);
  sessions.find(session.id, 'theirs');
  clock.advance(40_000);
  await eventually(() => sessions.size === 0 || undefined, 'the session to end');
});

test('idle sessions end, their streams too, and the clock is left alone afterwards', async () => {
  const { sessions, clock } = create();
  const [first, second] = [sessions.open('mine', 'v', client), sessions.open('mine', 'v', client)];
  const stream = withStream(first);
  clock.advance(40_000);
  sessions.find(second.id, 'mine');
  clock.advance(40_000);
  await eventually(() => sessions.size === 1 || undefined, 'the first session to end');
  expect(idsOf(sessions)).toEqual([second.id]);
  expect(stream.ended()).toBe(1);
  expect(first.stream).toBeUndefined();
  clock.advance(80_000);
  await eventually(() => clock.waiting === 0 || undefined, 'the last timer to end');
});

test('room is made by whoever was silent for longest', () => {
  const { sessions, clock } = create({ max: 2 });
  const first = sessions.open('mine', 'v', client);
  clock.advance(10);
  const second = sessions.open('mine', 'v', client);
  clock.advance(10);
  sessions.find(first.id, 'mine');
  clock.advance(10);
  const third = sessions.open('mine', 'v', client);
  expect(idsOf(sessions)).toEqual([first.id, third.id]);
  expect(sessions.find(second.id, 'mine')).toBeUndefined();
  sessions.close();
});

test('closing ends everything, and ending twice is the same as once', () => {
  const { sessions, clock } = create();
  const session = sessions.open('mine', 'v', client);
  const stream = withStream(session);
  sessions.end(session);
  sessions.end(session);
  withStream(sessions.open('mine', 'v', client));
  sessions.close();
  expect([stream.ended(), sessions.size, clock.waiting]).toEqual([1, 0, 0]);
});
