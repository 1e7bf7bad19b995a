import { type Clock, HubError } from '../../base/index.ts';
import type { Agent, CallProgress } from './agent.ts';
import { toThrown } from './thrown-errors.ts';
import type { ToolName } from './tool-ref.ts';
import type { ToolResult } from './tool-result.ts';

export interface CallOrder {
  readonly tool: ToolName;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly onProgress?: (progress: CallProgress) => void;
}

export interface CallAllOptions {
  /** For all calls together, in milliseconds; what has no answer by then is cancelled. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export type CallOutcome =
  | { readonly status: 'ok'; readonly result: ToolResult }
  | { readonly status: 'error'; readonly error: HubError };

export interface CallAllDeps {
  readonly clock: Clock;
  readonly call: Agent['call'];
}

export async function callAll(
  { clock, call }: CallAllDeps,
  calls: readonly CallOrder[],
  { deadlineMs, signal }: CallAllOptions = {},
): Promise<readonly CallOutcome[]> {
  const late = new AbortController();
  const timer = deadlineMs === undefined ? undefined : clock.setTimer(checked(deadlineMs), () => late.abort(missed()));
  const until = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);

  async function settle({ tool, args = {}, onProgress }: CallOrder): Promise<CallOutcome> {
    try {
      const result = await call(tool, args, { signal: until, ...(onProgress === undefined ? {} : { onProgress }) });
      return { status: 'ok', result };
    } catch (error) {
      return { status: 'error', error: toThrown(error) };
    }
  }

  function missed(): HubError {
    return new HubError('UPSTREAM_TIMEOUT', `The deadline of ${deadlineMs} ms passed before the tool answered.`, {
      hint: 'The call was cancelled; one that was sent may have run.',
    });
  }

  try {
    return await Promise.all(calls.map(settle));
  } finally {
    timer?.cancel();
  }
}

function checked(deadlineMs: number): number {
  // The longest that a timer can count.
  if (deadlineMs > 0 && deadlineMs < 2 ** 31) return deadlineMs;
  throw new HubError('USAGE', `${deadlineMs} cannot be a deadline.`, {
    hint: 'Give milliseconds, more than none and less than 24 days.',
  });
}
