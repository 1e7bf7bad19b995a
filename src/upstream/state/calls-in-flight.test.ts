import { expect, test } from 'vitest';
import { type AgentAccount, createAgentAccounts } from '../../base/index.ts';
import { CallsInFlight } from './calls-in-flight.ts';

function agents(...names: string[]) {
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  return { accounts, all: names.map((name) => accounts.of(name)) };
}

/** How many of so many calls of one agent get in. */
function fill(calls: CallsInFlight, limit: number, account: AgentAccount | undefined, attempts = limit): number {
  return Array.from({ length: attempts }, () => calls.enter(limit, account)).filter(Boolean).length;
}

test('an agent that has nobody to share with gets all of a server', () => {
  const { accounts, all } = agents('one');
  expect(fill(new CallsInFlight(accounts), 256, all[0], 300)).toBe(256);
});

test('256 slow calls of one agent leave room for every other agent in turn', () => {
  const { accounts, all } = agents('greedy', 'second', 'third', 'fourth');
  const calls = new CallsInFlight(accounts);
  expect(fill(calls, 256, all[0])).toBe(128);
  expect(fill(calls, 256, all[1])).toBe(85);
  expect(calls.enter(256, all[2])).toBe(true);
  expect(calls.enter(256, all[3])).toBe(true);
  // With more than its share, the first gets no call in until many have left.
  calls.leave(all[0]);
  expect(calls.enter(256, all[0])).toBe(false);
  expect(calls.enter(256, all[3])).toBe(true);
});

test('two agents get one of two slots each', () => {
  const { accounts, all } = agents('one', 'other');
  const calls = new CallsInFlight(accounts);
  expect([fill(calls, 2, all[0]), fill(calls, 2, all[1])]).toEqual([1, 1]);
});

test('below half of the limit nobody is told to share', () => {
  const { accounts, all } = agents('one', 'other');
  const calls = new CallsInFlight(accounts);
  expect(calls.enter(4, all[1])).toBe(true);
  expect(fill(calls, 4, all[0])).toBe(2);
  expect(fill(calls, 4, all[1])).toBe(1);
});

test('agents whose calls have ended no longer count', () => {
  const { accounts, all } = agents('one', 'other');
  const calls = new CallsInFlight(accounts);
  expect([fill(calls, 6, all[0]), fill(calls, 6, all[1])]).toEqual([3, 3]);
  for (let left = 0; left < 3; left++) calls.leave(all[1]);
  for (let left = 0; left < 3; left++) calls.leave(all[0]);
  expect([calls.count, all[0]?.calls, all[1]?.calls]).toEqual([0, [0], [0]]);
  expect([fill(calls, 6, all[1]), fill(calls, 6, all[0])]).toEqual([3, 3]);
});

test('connections that share a limit share the count of each agent, and drain by themselves', async () => {
  const { accounts, all } = agents('one', 'other');
  const whole = new CallsInFlight(accounts);
  const [left, right] = [new CallsInFlight(accounts, whole), new CallsInFlight(accounts, whole)];
  expect([fill(left, 6, all[0], 3), fill(right, 6, all[0], 3), fill(right, 6, all[1], 3)]).toEqual([3, 0, 3]);
  expect([whole.count, left.count, right.count]).toEqual([6, 3, 3]);
  const drained = left.drained();
  for (let call = 0; call < 3; call++) left.leave(all[0]);
  await drained;
  expect([whole.count, left.count]).toEqual([3, 0]);
});

test('calls without an account are bounded by the limit alone', () => {
  const { accounts, all } = agents('one', 'other');
  const calls = new CallsInFlight(accounts);
  expect([fill(calls, 4, undefined), calls.enter(4, all[0])]).toEqual([4, false]);
});
