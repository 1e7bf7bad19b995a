import type { Logger } from '../../base/index.ts';
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
} from './agent-resource.ts';
import { createAgentResources } from './agent-resources.ts';
import type { AgentSession } from './agent-session.ts';
import { type AgentTool, toAgentTool } from './agent-tool.ts';
import { type CallAllOptions, type CallOrder, type CallOutcome, callAll } from './call-all.ts';
import { type DeadlineDeps, type WaitOptions, withDeadline } from './deadline.ts';
import { discoverMissing, discoveryMs } from './discover.ts';
import { jsonText } from './json-text.ts';
import { checkTrusted } from './not-trusted.ts';
import { operate } from './operate.ts';
import { checkWanted, selectTools } from './selection.ts';
import { toThrown } from './thrown-errors.ts';
import { type ToolName, type ToolRef, textOf } from './tool-ref.ts';
import { type ToolResult, toToolResult } from './tool-result.ts';

/** Every method throws HubError unless the server returns a result. */
export interface Agent {
  readonly name: string;
  readonly run: string;
  /**
   * Lists the agent's tools, or exactly the selected ones; throws if the agent lacks one of them.
   * Waits up to ten seconds for servers that were never reached.
   */
  tools(selection?: readonly ToolRef[]): Promise<readonly AgentTool[]>;
  call(tool: ToolName, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolResult>;
  /** Runs all calls at once under one deadline. Returns one outcome per call, in the order given. */
  callAll(calls: readonly CallOrder[], options?: CallAllOptions): Promise<readonly CallOutcome[]>;
  /** Lists wait for servers like `tools()`. Other methods discover unreached servers only if the name is unknown. */
  resources(options?: WaitOptions): Promise<readonly AgentResource[]>;
  resourceTemplates(options?: WaitOptions): Promise<readonly AgentResourceTemplate[]>;
  /** Accepts a URI from the list, one that matches a template, or one that a server returned in a result. */
  readResource(uri: string, options?: WaitOptions): Promise<ReadResult>;
  prompts(options?: WaitOptions): Promise<readonly AgentPrompt[]>;
  /** Accepts the name the agent sees, or `server.prompt`. */
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: WaitOptions): Promise<PromptResult>;
  /** Completes an argument of a prompt or a variable of a template. `known` has the values of the others. */
  complete(
    ref: CompletionRef,
    argument: CompletionArgument,
    known?: Readonly<Record<string, string>>,
    options?: WaitOptions,
  ): Promise<CompletionResult>;
  /**
   * Resolves with a function that ends the subscription, once the server has accepted it.
   * `onUpdate` gets the changed URI.
   */
  subscribe(uri: string, onUpdate: (uri: string) => void, options?: WaitOptions): Promise<() => void>;
}

export interface CallOptions extends WaitOptions {
  /**
   * How long to wait for a person if a rule requires approval, in milliseconds. Default: not at all. Then the call throws
   * ApprovalPendingError.
   */
  readonly approvalWaitMs?: number;
  readonly onProgress?: (progress: CallProgress) => void;
}

export interface CallProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface AgentDeps extends DeadlineDeps {
  readonly hub: CoreHub;
  readonly logger: Logger;
}

/** `selection` narrows the agent's tools; undefined keeps them all. */
export function createAgent(deps: AgentDeps, session: AgentSession, selection: readonly ToolRef[] | undefined): Agent {
  const { hub, clock } = deps;
  const { caller } = session;
  const timeout = { clock, limitMs: discoveryMs };
  const agentResources = createAgentResources(deps, session);

  async function tools(wanted = selection): Promise<readonly AgentTool[]> {
    if (wanted !== undefined) {
      checkWanted(wanted, selection);
      return selectTools(hub, caller, wanted, timeout);
    }
    checkTrusted(hub, caller);
    await discoverMissing(hub, caller, timeout);
    return hub.lists.tools(caller).map(toAgentTool);
  }

  async function call(
    tool: ToolName,
    args: object = {},
    { onProgress, approvalWaitMs = 0, ...options }: CallOptions = {},
  ) {
    const name = textOf(tool);
    const argumentsText = jsonText(args, name);
    const reference = typeof tool === 'string' ? 'subject' : { server: tool.server, tool: tool.tool };
    const approvalWait = { ms: approvalWaitMs };
    const order = {
      kind: 'tool',
      name,
      reference,
      only: selection,
      argumentsText,
      args,
      onProgress,
      approvalWait,
    } as const;
    return withDeadline(deps, options, async (signal) =>
      toToolResult(await operate(deps, session, order, signal), name),
    );
  }

  const agent: Agent = {
    name: caller.agent,
    run: caller.run,
    tools: (...given) => thrown(tools(...given)),
    call: (...given) => thrown(call(...given)),
    callAll: (calls, options) => callAll({ ...deps, call: agent.call }, calls, options),
    resources: (...given) => thrown(agentResources.resources(...given)),
    resourceTemplates: (...given) => thrown(agentResources.resourceTemplates(...given)),
    readResource: (...given) => thrown(agentResources.readResource(...given)),
    prompts: (...given) => thrown(agentResources.prompts(...given)),
    getPrompt: (...given) => thrown(agentResources.getPrompt(...given)),
    complete: (...given) => thrown(agentResources.complete(...given)),
    subscribe: (...given) => thrown(agentResources.subscribe(...given)),
  };
  return agent;
}

function thrown<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw toThrown(error);
  });
}
