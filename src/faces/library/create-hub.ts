import { createBuiltins } from '../../apps/builtin/index.ts';
import { createSilentLogger, createSystemClock, HubError, type Logger, systemRandom } from '../../base/index.ts';
import { type Caller, runIdPattern, type ServerStatus } from '../../domain/index.ts';
import type { Hub as CoreHub } from '../../hub/index.ts';
import { type Agent, createAgent } from './agent.ts';
import { createAgentSession } from './agent-session.ts';
import type { AnswerHandlers } from './questions.ts';
import { checkRefs, type ToolRef } from './tool-ref.ts';

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

/** Each handle is a client of its own to servers; those with `isolation: per-session` have a connection for it. */
export interface AgentOptions extends AnswerHandlers {
  /** The run its calls are recorded under; one per agent and hub unless given. */
  readonly run?: string;
  /** Of the tools that the agent has, exactly these; never more. One that it does not have is an error when it is used. */
  readonly tools?: readonly ToolRef[];
}

export async function createHub(options: CreateHubOptions): Promise<Hub> {
  // Importing the library loads none of what connects to servers.
  const { createHub: createCoreHub } = await import('../../hub/index.ts');
  const { workspace, env = process.env, logger = createSilentLogger(), watch = false } = options;
  const clock = createSystemClock();
  const builtins = createBuiltins();
  const hub = await createCoreHub({ clock, logger, random: systemRandom, env, builtins }, { workspace, watch });
  return {
    agent(name, { run, tools, ...handlers } = {}) {
      if (tools !== undefined) checkRefs(tools);
      const session = createAgentSession({ logger, random: systemRandom }, callerFor(hub, name, run), handlers);
      return createAgent({ hub, clock, logger }, session, tools && [...tools]);
    },
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
