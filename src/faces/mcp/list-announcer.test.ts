import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually } from '../../../test/support/within.ts';
import type { AgentLists } from '../../calls/index.ts';
import { ListAnnouncer, type ListListener } from './list-announcer.ts';

/** Lists that all change with each renewal, and need so many decisions for each agent. */
function changingLists(decisions = 0, onDecision: () => void = () => {}): { lists: AgentLists; renew(): void } {
  let revision = 0;
  let listener = (): void => {};
  const lists = {
    discover() {},
    *digesting() {
      const digest = String(revision);
      for (let decision = 0; decision < decisions; decision++) {
        onDecision();
        yield 1;
      }
      return { tools: digest, prompts: digest, resources: digest, templates: digest };
    },
    onListsChange(renewed: () => void) {
      listener = renewed;
      return () => {};
    },
  };
  return {
    lists: lists as unknown as AgentLists, // the announcer needs nothing else
    renew() {
      revision++;
      listener();
    },
  };
}

test('many clients are told over several turns, and a failure with one is its own', async () => {
  const clock = createMovingClock();
  const { lists, renew } = changingLists();
  const turns: number[] = [];
  let turn = 0;
  const count = (): void => {
    turn++;
    if (turns.length < 100) setImmediate(count);
  };
  const failed: unknown[] = [];
  const listeners = Array.from({ length: 100 }, (_, index): ListListener => {
    return {
      caller: { project: 'workspace', chain: ['a'] },
      lists: { tools: '0', prompts: '0', resources: '0', templates: '0' },
      announce(list) {
        if (list !== 'tools') return;
        turns.push(turn);
        if (index === 3) throw new Error('gone');
      },
      fail: (error) => failed.push(error),
    };
  });
  const announcer = new ListAnnouncer({ lists, clock }, () => listeners);
  renew();
  renew();
  count();
  clock.advance(50);
  await eventually(() => (turns.length === 100 ? true : undefined), 'everybody to be told');
  const perTurn = new Map<number, number>();
  for (const each of turns) perTurn.set(each, (perTurn.get(each) ?? 0) + 1);
  expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(16);
  expect(failed).toHaveLength(1);
  announcer.close();
});

test(verifies('lists:paced', 'the work is spread over turns, and nobody waits for ever if it never ends'), async () => {
  const clock = createMovingClock();
  let turn = 0;
  const decided: number[] = [];
  const { lists, renew } = changingLists(2000, () => decided.push(turn));
  const told = new Map<number, number>();
  const listeners = Array.from({ length: 8 }, (_, index): ListListener => {
    return {
      caller: { project: 'workspace', chain: [`a${index}`] },
      lists: { tools: '0' },
      announce: () => void told.set(index, (told.get(index) ?? 0) + 1),
      fail: (error) => expect.unreachable(String(error)),
    };
  });
  const announcer = new ListAnnouncer({ lists, clock }, () => listeners);
  for (; told.size < listeners.length; turn++) {
    // The lists have changed again before everybody knows.
    if (clock.waiting === 0) {
      renew();
      clock.advance(50);
    }
    await new Promise(setImmediate);
  }
  announcer.close();
  const perTurn = new Map<number, number>();
  for (const each of decided) perTurn.set(each, (perTurn.get(each) ?? 0) + 1);
  // The loop may take two of its turns between two of the test's.
  expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(2 * 512);
  expect(Math.max(...told.values()) - Math.min(...told.values())).toBeLessThanOrEqual(1);
});
