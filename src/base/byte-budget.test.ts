import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { eventually } from '../../test/support/within.ts';
import { accountsForHeap, createAgentAccounts } from './agent-accounts.ts';
import { ByteBudget } from './byte-budget.ts';

test('bytes are counted for the agent and for all agents together', () => {
  const accounts = createAgentAccounts({ bytesPerAgent: 100, bytesInAll: 400 });
  const [one, other] = [accounts.of('one').bytes, accounts.of('other').bytes];
  one.add(90);
  expect([one.hasRoomFor(10), one.hasRoomFor(11), other.hasRoomFor(100)]).toEqual([true, false, true]);
  one.add(210);
  expect([one.isFull, other.isFull, other.hasRoomFor(50), other.hasRoomFor(51)]).toEqual([true, false, true, false]);
  one.release(300);
  expect([one.used, one.isFull, other.isFull]).toEqual([0, false, false]);
  expect(accounts.of('one').bytes).toBe(one);
});

test('however many fill the budget for all, one that holds nothing finds room', () => {
  const all = new ByteBudget(256);
  const held = Array.from({ length: 12 }, () => {
    const part = new ByteBudget(64, all);
    while (part.hasRoomFor(0.5)) part.add(0.5);
    return part.used;
  });
  // Whoever comes gets half of what is left, and those that hold more get no more.
  expect(held.slice(0, 6)).toEqual([64, 64, 64, 32, 16, 8]);
  expect(all.used).toBeLessThan(256);
});

test('a part has its minimum, however little the whole has left', () => {
  const all = new ByteBudget(256);
  const greedy = Array.from({ length: 12 }, () => new ByteBudget(64, all, 4));
  for (const part of greedy) while (part.hasRoomFor(0.5)) part.add(0.5);
  const last = new ByteBudget(64, all, 4);
  expect([last.isFull, last.hasRoomFor(4), last.hasRoomFor(4.5)]).toEqual([false, true, false]);
  // The whole is exceeded by no more than a minimum of each.
  expect(all.used).toBeLessThan(256 + 12 * 4);
});

test('a part of a part waits for room in the whole', () => {
  const all = new ByteBudget(100);
  const [agent, other] = [new ByteBudget(100, all), new ByteBudget(100, all)];
  const server = new ByteBudget(100, agent);
  let heard = 0;
  const stop = server.onRelease(() => {
    heard++;
  });
  other.add(100);
  expect(server.isFull).toBe(true);
  other.release(100);
  expect([server.isFull, heard]).toEqual([false, 1]);
  stop();
});

test('each waiting listener is called once per release of the whole budget', () => {
  const all = new ByteBudget(400);
  const [mine, theirs] = [new ByteBudget(80, all), new ByteBudget(400, all)];
  let heard = 0;
  const stop = mine.onRelease(() => {
    heard++;
  });
  mine.add(80);
  theirs.add(300);
  theirs.release(100);
  expect([heard, mine.isFull]).toEqual([1, true]);
  mine.release(20);
  expect([heard, mine.isFull]).toEqual([2, false]);
  theirs.add(180);
  mine.release(10);
  // There is room for mine, but not for all.
  expect([heard, mine.isFull]).toEqual([3, true]);
  stop();
  mine.release(50);
  expect(heard).toBe(3);
});

test('an account lasts as long as its agent is configured or has callers', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // added by the flag
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  accounts.keep('workspace', ['dev', 'tester'], 'configured');
  accounts.keep('workspace', ['dev', 'reviewer'], 'token');
  const caller = accounts.of('guest', 'workspace');
  caller.calls[0] = 1;
  for (let run = 0; run < 1000; run++) accounts.of(`run-${run}`, 'workspace');
  await eventually(() => {
    collect();
    return accounts.size === 4 || undefined;
  }, 'accounts without callers to be forgotten');
  expect(accounts.of('guest', 'workspace')).toBe(caller);
  accounts.keep('workspace', ['dev'], 'configured');
  await eventually(() => {
    collect();
    return accounts.size === 3 || undefined;
  }, 'the account of an agent that is not configured any more to be forgotten');
  expect(caller.calls).toEqual([1]);
});

test('agents of the same name in two projects have accounts of their own', () => {
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  const [here, there] = [accounts.of('dev', 'here'), accounts.of('dev', 'there')];
  expect(here).not.toBe(there);
  expect([accounts.of('dev', 'here'), accounts.of('dev', 'there')]).toEqual([here, there]);
});

test('the number of a server is used again once it was given back', () => {
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  const numbers = [accounts.takeNumber(), accounts.takeNumber()];
  accounts.giveNumber(0);
  expect([...numbers, accounts.takeNumber(), accounts.takeNumber()]).toEqual([0, 1, 0, 2]);
});

test('a small heap gives small budgets', () => {
  const mega = 1024 * 1024;
  expect(accountsForHeap(128 * mega)).toEqual({ bytesPerAgent: 16 * mega, bytesInAll: 64 * mega });
  expect(accountsForHeap(4096 * mega)).toEqual({ bytesPerAgent: 128 * mega, bytesInAll: 512 * mega });
});
