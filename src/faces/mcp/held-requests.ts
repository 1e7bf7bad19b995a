import { countMessage } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Body, Message } from '../../mcp/index.ts';
import { isOperation, isTaskOperation } from './operations.ts';

/**
 * Counts large messages against the budget of their agent until they are answered: lists and subscriptions may have to
 * wait. Throws HubError if there is no room. Returns how to release them.
 */
export function holdBody(caller: Caller, { batch, messages: [first], heldBytes }: Body): () => void {
  return holdBytes(caller, batch || (first !== undefined && mayWait(first)) ? heldBytes : 0);
}

export function holdBytes({ account }: Caller, bytes: number): () => void {
  if (bytes === 0) return () => {};
  const refusal = countMessage(account, bytes);
  if (refusal !== undefined) throw refusal;
  return () => account?.arguments.release(bytes);
}

/** Notifications are handled at once. The call of an operation counts its own message, because it may outlive the answer. */
function mayWait(message: Message): boolean {
  if (message.kind !== 'request') return false;
  const { method } = message;
  return method === 'resources/subscribe' || !(isOperation(method) || isTaskOperation(method));
}
