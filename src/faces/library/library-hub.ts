import { createBuiltins } from '../../apps/builtin/index.ts';
import { createSilentLogger, createSystemClock, HubError, type Logger, systemRandom } from '../../base/index.ts';
import { type Caller, runIdPattern, type ServerStatus } from '../../domain/index.ts';
import type { Hub as CoreHub } from '../../hub/index.ts';

import { type Agent, createAgent } from './agent.ts';
import { createAgentSession } from './agent-session.ts';
import type { AnswerHandlers } from './answer-handlers.ts';
import { createProgramApprovals, type ProgramApprovals } from './program-approvals.ts';
import { createSharedSignals } from './shared-signals.ts';
import { checkRefs, type ToolRef } from './tool-ref.ts';

export interface CreateHubOptions {
  /** The folder that contains quartermaster.yaml or .mcp.json. */
  readonly workspace: string;
  /** Values for variables in the configuration. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder that holds the hub's state, outside the workspace. Default: as for `qm`, by QM_STATE_DIR or HOME. */
  readonly stateDir?: string;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Reload when configuration files change. Default: false. */
  readonly watch?: boolean;
  /**
   * Which servers may start. `stored` (default): those that the operator approved with `qm trust`. `all`: whatever the
   * configuration files say.
   */
  readonly trust?: 'stored' | 'all';
}

/** A hub inside your program. Close it: it holds child processes and an open journal. */
export interface LibraryHub {
  /** Acts as this agent. The program vouches for the name; no token is involved. */
  agent(name: string, options?: AgentOptions): Agent;
  status(): readonly ServerStatus[];
  /** Decisions on calls that a rule holds for approval. The program vouches for the names of people. */
  readonly approvals: ProgramApprovals;
  /** Lets in-flight calls finish, then stops every server. */
  close(): Promise<void>;
}

/** To servers, each handle is a separate client: it has its own connection to those with `isolation: per-session`. */
export interface AgentOptions extends AnswerHandlers {
  /** The run that its calls are recorded under. Default: one per agent and hub. */
  readonly run?: string;
  /**
   * Narrows the agent to exactly these tools and never adds any. A tool the agent lacks is an error when it is used.
   */
  readonly tools?: readonly ToolRef[];
}

export async function createLibraryHub(options: CreateHubOptions): Promise<LibraryHub> {
  // Imported on demand: importing the library must not load the code that connects to servers.
  const { createHub: createCoreHub, stateHomeFor } = await import('../../hub/index.ts');
  const { workspace, env = process.env, logger = createSilentLogger(), watch = false, stateDir } = options;
  const clock = createSystemClock();
  const signals = createSharedSignals();
  const builtins = createBuiltins();
  const hub = await createCoreHub(
    { clock, logger, random: systemRandom, env, userEnv: process.env, builtins },
    {
      workspace,
      stateHome: stateHomeFor(workspace, {
        ...process.env,
        ...(stateDir === undefined ? {} : { QM_STATE_DIR: stateDir }),
      }),
      watch,
      trust: options.trust,
    },
  );
  return {
    agent(name, { run, tools, ...handlers } = {}) {
      if (tools !== undefined) checkRefs(tools);
      const session = createAgentSession({ logger, random: systemRandom }, callerFor(hub, name, run), handlers);
      return createAgent({ hub, clock, signals, logger }, session, tools && [...tools]);
    },
    status: () => hub.status(),
    approvals: createProgramApprovals(hub),
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
