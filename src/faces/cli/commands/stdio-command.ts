import { Command } from 'commander';
import { checkAgent, checkRun, withAgent } from '../agents/agent-option.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import { newRun } from '../hub/new-run.ts';
import { servePipes } from '../hub/serve-pipes.ts';

export function stdioCommand(cli: CliContext): Command {
  return withAgent(new Command('stdio'), 'the agent')
    .description('serve the view of an agent as an MCP server on stdin and stdout')
    .addHelpText(
      'after',
      helpExamples('qm stdio --agent tester', 'qm stdio --agent tester --run nightly --workspace ../team'),
    )
    .option('--run <id>', 'run to record its calls under (default: a new one)')
    .option('--foreground', 'if no hub runs, run it in this process instead of in the background')
    .action((options: StdioOptions, command: Command) => stdio(cli, readInvocation(command, cli), options));
}

interface StdioOptions {
  readonly agent: string;
  readonly run?: string;
  readonly foreground?: boolean;
}

async function stdio(cli: CliContext, invocation: Invocation, options: StdioOptions): Promise<void> {
  const agent = checkAgent(options.agent);
  const run = checkRun(options.run) ?? newRun(cli, agent);
  const stop = cli.signals.graceful();
  const [{ joinHub, runsInForeground }, { bridgeStdio }, { createLogger }] = await Promise.all([
    import('../hub/join-hub.ts'),
    import('../../attach/index.ts'),
    import('../terminal/cli-logger.ts'),
  ]);
  const logger = createLogger(cli, invocation.logLevel ?? 'warn');
  const hub = joinHub(cli, invocation, {
    foreground: runsInForeground(cli, options.foreground),
    note: (note) => logger.warn('hub.variables-compared', { note }),
  });
  async function attach(ended: AbortSignal, replaced: boolean) {
    // The system clock counts from the start of the process.
    const order = { agent, run, drains: true, ageMs: cli.clock.monotonic() };
    const { socket: stream, maxLineBytes, notes } = await hub.attach(order, { stop: ended, replaced });
    return { stream, maxLineBytes, notes };
  }
  try {
    const first = await attach(stop, false);
    for (const note of first.notes) logger.warn('agent.not-configured', { agent, note });
    const bridge = bridgeStdio(
      { input: cli.stdin, output: cli.stdout, logger, random: cli.random, reconnect: attach },
      first,
    );
    await servePipes(cli, logger, stop, bridge);
  } finally {
    await hub.close();
  }
}
