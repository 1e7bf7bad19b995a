import { HubError } from '../../base/index.ts';
import type { CallRequest, View } from '../../calls/index.ts';
import type { AgentDeps, CallProgress } from './agent.ts';
import type { AgentSession } from './agent-session.ts';
import type { WaitOptions } from './deadline.ts';
import { expectAnswer, type ToolAnswer } from './tool-result.ts';

/** What an operation acts on, as far as it is known before it begins. */
export interface Order extends Pick<CallRequest, 'kind' | 'name' | 'argumentsText' | 'args' | 'watch'> {
  /** Looks again: it may have come while the call waited. */
  readonly target: (view: View) => { readonly server: string; readonly subjectName: string } | undefined;
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
}

/** One operation from its start to its answer; throws HubError for everything but an answer. */
export async function operate(
  { hub }: AgentDeps,
  { caller, client, channelFor }: AgentSession,
  { target, onProgress, ...order }: Order,
  { signal }: Pick<WaitOptions, 'signal'>,
): Promise<ToolAnswer> {
  const find = (): ReturnType<Order['target']> => target(hub.views.of(caller.chain));
  const ended = new AbortController();
  const channel = channelFor({ server: () => find()?.server ?? '', signal: ended.signal, onProgress });
  const { call, result } = hub.call({ ...order, caller, client, meta: '', channel });
  const cancel = (): void => call.cancel(signal?.reason instanceof HubError ? signal.reason : 'by the program');
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    return expectAnswer(await result, find());
  } finally {
    signal?.removeEventListener('abort', cancel);
    ended.abort();
  }
}
