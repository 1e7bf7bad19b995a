import {
  type Clock,
  createSilentLogger,
  createSystemClock,
  HubError,
  type Logger,
  systemRandom,
} from '../../base/index.ts';
import { type Caller, runIdPattern, type ServerStatus } from '../../domain/index.ts';
import type { Hub as CoreHub } from '../../hub/index.ts';
import { type AgentTool, listAgentTools } from './agent-tool.ts';
import { discoverWithin, locateTool } from './discover.ts';
import { expectAnswer, type ToolResult, toToolResult } from './tool-result.ts';

export interface CreateHubOptions {
  /** The folder with quartermaster.yaml or .mcp.json. */
  readonly workspace: string;
  /** Where variables in the configuration get their values; `process.env` unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Silent unless given. */
  readonly logger?: Logger;
  /** Take up changes of the configuration files by itself. Default false. */
  readonly watch?: boolean;
}

/** The hub inside a program. Close it: it holds child processes and an open journal. */
export interface Hub {
  /** What that agent may do. The program itself vouches for the name; no token is involved. */
  agent(name: string, options?: AgentOptions): Agent;
  status(): readonly ServerStatus[];
  /** Lets calls under way finish, then ends every server. */
  close(): Promise<void>;
}

export interface AgentOptions {
  /** The run its calls are recorded under; one per agent and hub unless given. */
  readonly run?: string;
}

export interface Agent {
  readonly name: string;
  readonly run: string;
  /** What the agent sees. Servers that were never reached are waited for, up to ten seconds. */
  tools(): Promise<readonly AgentTool[]>;
  /** By `server.tool` or by the name the agent sees. Throws HubError for everything but a tool's own answer. */
  call(tool: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolResult>;
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

const discoveryMs = 10_000;

export async function createHub(options: CreateHubOptions): Promise<Hub> {
  // Importing the library loads none of what connects to servers.
  const { createHub: createCoreHub } = await import('../../hub/index.ts');
  const { workspace, env = process.env, logger = createSilentLogger(), watch = false } = options;
  const clock = createSystemClock();
  const hub = await createCoreHub({ clock, logger, random: systemRandom, env }, { workspace, watch });
  return {
    agent: (name, { run } = {}) => createAgent({ hub, clock, logger }, callerFor(hub, name, run)),
    status: () => hub.status(),
    close: () => hub.stop(),
  };
}

function callerFor(hub: CoreHub, agent: string, run: string | undefined): Caller {
  if (run !== undefined && !runIdPattern.test(run)) {
    throw new HubError('USAGE', `"${run.slice(0, 80)}" cannot be a run id.`, {
      hint: 'Use 1 to 64 letters, digits, dashes and underscores.',
    });
  }
  return hub.callerFor({ agent, run });
}

interface AgentDeps {
  readonly hub: CoreHub;
  readonly clock: Clock;
  readonly logger: Logger;
}

function createAgent({ hub, clock, logger }: AgentDeps, caller: Caller): Agent {
  const { chain } = caller;
  return {
    name: caller.agent,
    run: caller.run,
    async tools() {
      const unseen = hub.views.of(chain).unseen.map(({ spec }) => spec.name);
      await discoverWithin(hub, unseen, { clock, limitMs: discoveryMs });
      return listAgentTools(hub.views.of(chain));
    },
    async call(tool, args = {}, { signal, onProgress } = {}) {
      const startedAt = clock.monotonic();
      const argumentsText = toText(tool, args);
      const entry = await locateTool(hub, chain, tool, { clock, limitMs: discoveryMs, signal });
      const { call, result } = hub.call({
        caller,
        name: entry?.name ?? tool,
        argumentsText,
        args,
        meta: '',
        channel: onProgress && { progress: (params) => reportProgress(params, onProgress, logger) },
      });
      const cancel = (): void => call.cancel('by the program');
      signal?.addEventListener('abort', cancel, { once: true });
      if (signal?.aborted) cancel();
      try {
        const answer = expectAnswer(await result, entry);
        if (entry === undefined) throw new HubError('INTERNAL', `Tool ${tool} answered without being known.`);
        return toToolResult(answer, entry, clock.monotonic() - startedAt);
      } finally {
        signal?.removeEventListener('abort', cancel);
      }
    },
  };
}

function toText(tool: string, args: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify(args);
  } catch (error) {
    throw new HubError('ARGUMENTS_INVALID', `The arguments of ${tool} cannot be written as JSON.`, { cause: error });
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
