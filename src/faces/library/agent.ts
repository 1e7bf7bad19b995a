import { type Clock, HubError, type Logger } from '../../base/index.ts';
import type { View } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub as CoreHub } from '../../hub/index.ts';
import { type AgentTool, listAgentTools } from './agent-tool.ts';
import { type CallAllOptions, type CallOrder, type CallOutcome, callAll } from './call-all.ts';
import { discoverWithin, locateTool } from './discover.ts';
import { checkSelected, selectTools } from './selection.ts';
import { toThrown } from './thrown-errors.ts';
import { findTool, type ToolName, type ToolRef, textOf } from './tool-ref.ts';
import { expectAnswer, type ToolResult, toToolResult } from './tool-result.ts';

export interface Agent {
  readonly name: string;
  readonly run: string;
  /**
   * What the agent sees, or of that exactly the tools asked for; one that it does not have is an error.
   * Servers that were never reached are waited for, up to ten seconds.
   */
  tools(selection?: readonly ToolRef[]): Promise<readonly AgentTool[]>;
  /** Throws HubError for everything but a tool's own answer. */
  call(tool: ToolName, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolResult>;
  /** All at once, under one deadline; one outcome for each call, in their order. */
  callAll(calls: readonly CallOrder[], options?: CallAllOptions): Promise<readonly CallOutcome[]>;
}

export interface CallOptions {
  /** Cancels the call, upstream too. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CallProgress) => void;
}

export interface CallProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface AgentDeps {
  readonly hub: CoreHub;
  readonly clock: Clock;
  readonly logger: Logger;
}

const discoveryMs = 10_000;

/** `selection` narrows what the agent has; undefined leaves it all. */
export function createAgent(deps: AgentDeps, caller: Caller, selection: readonly ToolRef[] | undefined): Agent {
  const { hub, clock, logger } = deps;
  const { chain } = caller;
  const patience = { clock, limitMs: discoveryMs };

  async function tools(wanted = selection): Promise<readonly AgentTool[]> {
    if (wanted !== undefined) {
      for (const ref of wanted) checkSelected(selection, ref);
      return selectTools(hub, chain, wanted, patience);
    }
    const unseen = hub.views.of(chain).unseen.map(({ spec }) => spec.name);
    await discoverWithin(hub, unseen, patience);
    return listAgentTools(hub.views.of(chain));
  }

  async function call(tool: ToolName, args: object = {}, { signal, onProgress }: CallOptions = {}) {
    const argumentsText = toText(tool, args);
    const entry = await locateTool(hub, chain, tool, { ...patience, signal });
    checkSelected(selection, entry ? { server: entry.server, tool: entry.tool.name } : tool);
    const startedAt = clock.monotonic();
    const { call, result } = hub.call({
      kind: 'tool',
      caller,
      name: entry?.name ?? unknownName(hub.views.of(chain), tool),
      argumentsText,
      args,
      meta: '',
      channel: onProgress && { progress: (params) => reportProgress(params, onProgress, logger) },
    });
    const cancel = (): void => call.cancel(signal?.reason instanceof HubError ? signal.reason : 'by the program');
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      const answer = expectAnswer(await result, entry);
      // It may have come while the call waited.
      const known = entry ?? findTool(hub.views.of(chain), tool);
      if (known === undefined) throw new HubError('INTERNAL', `Tool ${textOf(tool)} answered without being known.`);
      return toToolResult(answer, known, clock.monotonic() - startedAt);
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  const agent: Agent = {
    name: caller.agent,
    run: caller.run,
    async tools(wanted) {
      return tools(wanted).catch(rethrow);
    },
    async call(tool, args, options) {
      return call(tool, args, options).catch(rethrow);
    },
    callAll: (calls, options) => callAll({ clock, call: agent.call }, calls, options),
  };
  return agent;
}

function rethrow(error: unknown): never {
  throw toThrown(error);
}

/** Goes on the ledger as it was asked for; but it must not be another tool's name. */
function unknownName(view: View, tool: ToolName): string {
  const text = textOf(tool);
  if (typeof tool === 'string' || !view.entries.has(text)) return text;
  throw new HubError('TOOL_UNKNOWN', `Unknown tool: ${text}`, { details: { server: tool.server, tool: tool.tool } });
}

function toText(tool: ToolName, args: object): string {
  try {
    return JSON.stringify(args);
  } catch (error) {
    throw new HubError('ARGUMENTS_INVALID', `The arguments of ${textOf(tool)} cannot be written as JSON.`, {
      cause: error,
    });
  }
}

function reportProgress(
  params: Readonly<Record<string, unknown>>,
  onProgress: (progress: CallProgress) => void,
  logger: Logger,
): void {
  const { progress, total, message } = params;
  if (typeof progress !== 'number') return;
  try {
    onProgress({
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    });
  } catch (error) {
    // The program's own defect; it must not cost the connection that brought the message.
    logger.error('progress_listener_failed', { error: String(error) });
  }
}
