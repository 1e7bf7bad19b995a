import { HubError } from '../../base/index.ts';
import type { Call, CallRequest, CallTarget } from '../../calls/index.ts';
import type { AgentDeps, CallProgress } from './agent.ts';
import type { AgentSession } from './agent-session.ts';
import type { WaitOptions } from './deadline.ts';
import { unknownOrUntrusted } from './not-trusted.ts';
import type { ToolName } from './tool-ref.ts';
import { expectAnswer, type ToolAnswer } from './tool-result.ts';

export interface Order
  extends Pick<
    CallRequest,
    'kind' | 'name' | 'reference' | 'only' | 'argumentsText' | 'args' | 'subscription' | 'approvalWait'
  > {
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
}

export interface OperationAnswer {
  readonly answer: ToolAnswer;
  /** Undefined for the hub's own tool. */
  readonly target: CallTarget | undefined;
  readonly durationMs: number;
}

/** Runs one operation to its result; throws HubError for everything but a result. */
export async function operate(
  { hub, clock, signals }: AgentDeps,
  { caller, client, channelFor }: AgentSession,
  { onProgress, ...order }: Order,
  signal: WaitOptions['signal'] | undefined,
): Promise<OperationAnswer> {
  const startedAt = clock.monotonic();
  const ended = new AbortController();
  let call: Call | undefined;
  const channel = channelFor({ server: () => call?.target?.server ?? '', signal: ended.signal, onProgress });
  const started = hub.call({ approvalWait: { ms: 0 }, ...order, caller, client, meta: '', channel });
  call = started.call;
  const cancel = (): void => started.call.cancel(signal?.reason instanceof HubError ? signal.reason : 'by the program');
  const forget = signal && signals.onAbort(signal, cancel);
  try {
    const result = await started.result;
    if (result.kind === 'failed') throw unknownOrUntrusted(hub, caller, namedBy(order), result.error);
    const { target } = started.call;
    return { answer: expectAnswer(result, target), target, durationMs: clock.monotonic() - startedAt };
  } finally {
    forget?.();
    ended.abort();
  }
}

function namedBy({ name, reference, kind }: Order): ToolName {
  if (typeof reference === 'object') return { type: 'mcp', ...reference };
  return kind === 'completion' ? name.replace(/^prompt:/, '') : name;
}
