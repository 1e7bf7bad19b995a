import { Command } from 'commander';
import { checkAgent, checkRun, withAgent } from '../agent-option.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { servePipes } from '../serve-pipes.ts';

export function stdioCommand(cli: CliContext): Command {
  return withAgent(new Command('stdio'), 'whose view')
    .description("an agent's view as an MCP server on stdin and stdout")
    .option('--run <id>', 'the run to record its calls under (default: a new one)')
    .action((options: StdioOptions, command: Command) => stdio(cli, readInvocation(command, cli), options));
}

interface StdioOptions {
  readonly agent: string;
  readonly run?: string;
}

async function stdio(cli: CliContext, invocation: Invocation, options: StdioOptions): Promise<void> {
  const agent = checkAgent(options.agent);
  const run = checkRun(options.run);
  const stop = cli.signals.graceful();
  const [{ openLocalHub }, { serveStdio }, { strangerNote }] = await Promise.all([
    import('../local-hub.ts'),
    import('../../mcp-stdio/index.ts'),
    import('../agent-note.ts'),
  ]);
  const { hub, logger, close } = await openLocalHub(cli, invocation, {
    watch: true,
    discover: true,
    defaultLevel: 'warn',
  });
  const note = strangerNote(hub.fleet, agent);
  if (note !== undefined) logger.warn('agent_not_configured', { agent, note });
  for (const problem of hub.fleet.problems) logger.warn('config_problem', { ...problem });
  const face = serveStdio({
    hub,
    caller: hub.callerFor({ agent, run }),
    clock: cli.clock,
    logger,
    random: cli.random,
    input: cli.stdin,
    output: cli.stdout,
    // The system clock counts from the start of the process.
    startedAt: 0,
  });
  await servePipes(cli, logger, stop, face);
  // Calls under way may still answer; only then the servers end.
  await close();
}
