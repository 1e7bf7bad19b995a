import { type Clock, HubError, type Logger } from '../../base/index.ts';
import type { View } from '../../calls/index.ts';
import type { Hub as CoreHub } from '../../hub/index.ts';
import type {
  AgentPrompt,
  AgentResource,
  AgentResourceTemplate,
  CompletionArgument,
  CompletionRef,
  CompletionResult,
  PromptResult,
  ReadResult,
} from './agent-reading.ts';
import { createAgentReadings } from './agent-readings.ts';
import type { AgentSession } from './agent-session.ts';
import { type AgentTool, listAgentTools } from './agent-tool.ts';
import { type CallAllOptions, type CallOrder, type CallOutcome, callAll } from './call-all.ts';
import { type WaitOptions, withDeadline } from './deadline.ts';
import { discoverWithin, discoveryMs, locateTool } from './discover.ts';
import { jsonText } from './json-text.ts';
import { operate } from './operate.ts';
import { checkSelected, selectTools } from './selection.ts';
import { toThrown } from './thrown-errors.ts';
import { findTool, type ToolName, type ToolRef, textOf } from './tool-ref.ts';
import { type ToolResult, toToolResult } from './tool-result.ts';

/** Every method throws HubError, for everything but a server's answer. */
export interface Agent {
  readonly name: string;
  readonly run: string;
  /**
   * What the agent sees, or of that exactly the tools asked for; one that it does not have is an error.
   * Servers that were never reached are waited for, up to ten seconds.
   */
  tools(selection?: readonly ToolRef[]): Promise<readonly AgentTool[]>;
  call(tool: ToolName, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolResult>;
  /** All at once, under one deadline; one outcome for each call, in their order. */
  callAll(calls: readonly CallOrder[], options?: CallAllOptions): Promise<readonly CallOutcome[]>;
  /** Lists wait for servers like `tools()`; what is not known is sought at servers that were never reached. */
  resources(options?: WaitOptions): Promise<readonly AgentResource[]>;
  resourceTemplates(options?: WaitOptions): Promise<readonly AgentResourceTemplate[]>;
  /** By a URI of the list, one that fits a template, or one that a server named in an answer. */
  readResource(uri: string, options?: WaitOptions): Promise<ReadResult>;
  prompts(options?: WaitOptions): Promise<readonly AgentPrompt[]>;
  /** By the name the agent sees, or by `server.prompt`. */
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: WaitOptions): Promise<PromptResult>;
  /** What an argument of a prompt, or a variable of a template, may become; `known` are values of the others. */
  complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    known?: Readonly<Record<string, string>>,
    options?: WaitOptions,
  ): Promise<CompletionResult>;
  /** Resolves when the server has agreed, with a function that ends it. `onUpdate` is told the URI that changed. */
  subscribe(uri: string, onUpdate: (uri: string) => void, options?: WaitOptions): Promise<() => void>;
}

export interface CallOptions extends WaitOptions {
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

/** `selection` narrows what the agent has; undefined leaves it all. */
export function createAgent(deps: AgentDeps, session: AgentSession, selection: readonly ToolRef[] | undefined): Agent {
  const { hub, clock } = deps;
  const { caller } = session;
  const { chain } = caller;
  const patience = { clock, limitMs: discoveryMs };
  const readings = createAgentReadings(deps, session);

  async function tools(wanted = selection): Promise<readonly AgentTool[]> {
    if (wanted !== undefined) {
      for (const ref of wanted) checkSelected(selection, ref);
      return selectTools(hub, chain, wanted, patience);
    }
    const unseen = hub.views.of(chain).unseen.map(({ spec }) => spec.name);
    await discoverWithin(hub, unseen, patience);
    return listAgentTools(hub.views.of(chain));
  }

  async function call(tool: ToolName, args: object = {}, { onProgress, ...options }: CallOptions = {}) {
    const argumentsText = jsonText(args, textOf(tool));
    return withDeadline(clock, options, async (signal) => {
      const entry = await locateTool(hub, chain, tool, { ...patience, signal });
      checkSelected(selection, entry ? { server: entry.server, tool: entry.tool.name } : tool);
      const startedAt = clock.monotonic();
      const name = entry?.name ?? unknownName(hub.views.of(chain), tool);
      const target = (view: View) => entry ?? findTool(view, tool);
      const order = { kind: 'tool', name, argumentsText, args, target, onProgress } as const;
      const answer = await operate(deps, session, order, signal === undefined ? {} : { signal });
      // It may have come while the call waited.
      const known = target(hub.views.of(chain));
      if (known === undefined) throw new HubError('INTERNAL', `Tool ${textOf(tool)} answered without being known.`);
      return toToolResult(answer, known, clock.monotonic() - startedAt);
    });
  }

  const agent: Agent = {
    name: caller.agent,
    run: caller.run,
    tools: (...given) => thrown(tools(...given)),
    call: (...given) => thrown(call(...given)),
    callAll: (calls, options) => callAll({ clock, call: agent.call }, calls, options),
    resources: (...given) => thrown(readings.resources(...given)),
    resourceTemplates: (...given) => thrown(readings.resourceTemplates(...given)),
    readResource: (...given) => thrown(readings.readResource(...given)),
    prompts: (...given) => thrown(readings.prompts(...given)),
    getPrompt: (...given) => thrown(readings.getPrompt(...given)),
    complete: (...given) => thrown(readings.complete(...given)),
    subscribe: (...given) => thrown(readings.subscribe(...given)),
  };
  return agent;
}

function thrown<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw toThrown(error);
  });
}

/** Goes on the ledger as it was asked for; but it must not be another tool's name. */
function unknownName(view: View, tool: ToolName): string {
  const text = textOf(tool);
  if (typeof tool === 'string' || !view.entries.has(text)) return text;
  throw new HubError('TOOL_UNKNOWN', `Unknown tool: ${text}`, { details: { server: tool.server, tool: tool.tool } });
}
