import type { HubError } from '../../base/index.ts';
import type { Agent, CallProgress } from './agent.ts';
import { type DeadlineDeps, type WaitOptions, withDeadline } from './deadline.ts';
import { toThrown } from './thrown-errors.ts';
import type { ToolName } from './tool-ref.ts';
import type { ToolResult } from './tool-result.ts';

export interface CallOrder {
  readonly tool: ToolName;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly onProgress?: (progress: CallProgress) => void;
}

/** The deadline covers all calls together. */
export type CallAllOptions = WaitOptions;

export type CallOutcome =
  | { readonly status: 'ok'; readonly result: ToolResult }
  | { readonly status: 'error'; readonly error: HubError };

export interface CallAllDeps extends DeadlineDeps {
  readonly call: Agent['call'];
}

export function callAll(
  { call, ...deps }: CallAllDeps,
  calls: readonly CallOrder[],
  options: CallAllOptions = {},
): Promise<readonly CallOutcome[]> {
  return withDeadline(deps, options, (until) =>
    Promise.all(calls.map((order) => settle(call, order, until === undefined ? {} : { signal: until }))),
  );
}

async function settle(
  call: Agent['call'],
  { tool, args = {}, onProgress }: CallOrder,
  until: WaitOptions,
): Promise<CallOutcome> {
  try {
    const result = await call(tool, args, { ...until, ...(onProgress === undefined ? {} : { onProgress }) });
    return { status: 'ok', result };
  } catch (error) {
    return { status: 'error', error: toThrown(error) };
  }
}
