import { expect, test } from 'vitest';
import { type AgentAccount, countedBytes, createAgentAccounts } from '../../base/index.ts';
import { InputQueue, maxQueuedBytes } from './input-queue.ts';

const message = maxQueuedBytes / 4;

function stage() {
  const accounts = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 });
  const queue = new InputQueue('files');
  let queued = 0;
  const send = (account: AgentAccount | undefined, bytes: number): string => {
    const refusal = queue.refusal(queued, bytes, account);
    if (refusal !== undefined) return refusal.error.message;
    queue.add(queued, bytes, account);
    queued += bytes;
    return 'queued';
  };
  const leave = (account: AgentAccount, bytes: number): void => {
    queued -= bytes;
    queue.remove(bytes, account);
  };
  return { one: accounts.of('one'), other: accounts.of('other'), send, leave };
}

test('large messages of one agent leave half of the queue to others', () => {
  const { one, other, send, leave } = stage();
  const refused = `Server "files" does not read its input, and ${2 * message} bytes of this agent are waiting.`;
  expect(Array.from({ length: 4 }, () => send(one, message))).toEqual(['queued', 'queued', refused, refused]);
  expect([send(other, message), send(other, 100)]).toEqual(['queued', 'queued']);
  leave(one, message);
  leave(one, message);
  expect(send(one, message)).toBe('queued');
});

test('small messages count as well while the server does not read', () => {
  const { one, other, send } = stage();
  const small = countedBytes / 4;
  let taken = 0;
  while (send(one, small) === 'queued') taken++;
  expect(taken * small).toBeLessThanOrEqual(maxQueuedBytes / 2 + countedBytes);
  expect(send(other, small)).toBe('queued');
});

test('an agent that has nobody to share with gets the whole queue', () => {
  const queue = new InputQueue('files');
  const one = createAgentAccounts({ bytesPerAgent: 1, bytesInAll: 1 }).of('one');
  queue.add(0, 3 * message, one);
  expect(queue.refusal(3 * message, message, one)).toBeUndefined();
});

test('nobody exceeds the limit of the queue', () => {
  const { one, send } = stage();
  expect(send(undefined, maxQueuedBytes + 1)).toBe('queued');
  const refused = `Server "files" does not read its input; ${maxQueuedBytes + 1} bytes are waiting.`;
  expect([send(undefined, 1), send(one, 1)]).toEqual([refused, refused]);
});
