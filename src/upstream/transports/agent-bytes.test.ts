import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { type AgentAccount, countedBytes, createAgentAccounts } from '../../base/index.ts';
import { ResponseFlow } from './agent-bytes.ts';

const limit = 4 * countedBytes;

function account(): AgentAccount {
  return createAgentAccounts({ bytesPerAgent: limit, bytesInAll: 4 * limit }).of('dev');
}

/** A response of which only the pauses matter. */
function response(of: AgentAccount, server = 'files') {
  const controller = {
    paused: false,
    pause: () => {
      controller.paused = true;
    },
    resume: () => {
      controller.paused = false;
    },
  };
  // The flow uses nothing else of it.
  return { controller, flow: new ResponseFlow(of, server, controller as unknown as Dispatcher.DispatchController) };
}

test('one half-read response continues beyond the budget while the others wait', async () => {
  const dev = account();
  const [one, two, three] = [response(dev), response(dev), response(dev)];
  for (const each of [one, two, three]) each.flow.keep(limit / 4);
  expect([one, two, three].map(({ controller }) => controller.paused)).toEqual([false, false, true]);
  two.flow.keep(limit);
  one.flow.keep(limit / 2);
  expect([one, two, three].map(({ controller }) => controller.paused)).toEqual([true, false, true]);
  two.flow.end();
  await nextTurn();
  // The one that has waited for longest goes on.
  expect([one, three].map(({ controller }) => controller.paused)).toEqual([true, false]);
  three.flow.end();
  await nextTurn();
  expect(one.controller.paused).toBe(false);
  one.flow.end();
  expect([dev.bytes.used, dev.incoming.size]).toEqual([0, 0]);
});

test('a server that never ends its responses does not stop those of others', () => {
  const dev = account();
  const [endless, endlessToo] = [response(dev, 'bad'), response(dev, 'bad')];
  endless.flow.keep(2 * limit);
  endlessToo.flow.keep(limit / 2);
  const good = [response(dev, 'good'), response(dev, 'better')];
  for (const each of good) each.flow.keep(limit / 2);
  expect([endless, endlessToo, ...good].map(({ controller }) => controller.paused)).toEqual([
    false,
    true,
    false,
    false,
  ]);
  for (const { flow } of [endless, endlessToo, ...good]) flow.end();
  expect([dev.bytes.used, dev.incoming.size]).toEqual([0, 0]);
});

test('a response waits while those of other agents leave no room', async () => {
  const accounts = createAgentAccounts({ bytesPerAgent: limit, bytesInAll: limit });
  const [dev, other] = [accounts.of('dev'), accounts.of('other')];
  other.bytes.add(limit);
  const [first, second] = [response(dev), response(dev)];
  for (const { flow } of [first, second]) flow.keep(countedBytes / 2);
  expect([first.controller.paused, second.controller.paused]).toEqual([false, true]);
  other.bytes.release(limit);
  await nextTurn();
  expect(second.controller.paused).toBe(false);
  for (const { flow } of [first, second]) flow.end();
  expect(dev.bytes.used).toBe(0);
});
