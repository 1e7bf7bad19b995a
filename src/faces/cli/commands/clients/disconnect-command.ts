import { Command } from 'commander';
import type { DisconnectOptions } from '../../connect/disconnect-action.ts';
import type { CliContext } from '../../context.ts';
import { type Invocation, readInvocation } from '../../global-options.ts';
import { helpExamples } from '../../help-examples.ts';

export function disconnectCommand(cli: CliContext): Command {
  return new Command('disconnect')
    .description('undo what `qm connect` wrote into the files of a client')
    .argument('[client]', 'the client; without it, the connected clients are listed')
    .option('--yes', 'write it without asking')
    .option('--force', 'also undo what was changed by hand since')
    .addHelpText('after', helpExamples('qm disconnect', 'qm disconnect claude-code', 'qm disconnect codex --yes'))
    .action((client: string | undefined, options: DisconnectOptions, command: Command) =>
      run(cli, readInvocation(command, cli), client, options),
    );
}

async function run(
  cli: CliContext,
  invocation: Invocation,
  client: string | undefined,
  options: DisconnectOptions,
): Promise<void> {
  if (client === undefined) {
    const { listConnected } = await import('../../connect/client-list.ts');
    await listConnected(cli, invocation);
  } else {
    const { disconnect } = await import('../../connect/disconnect-action.ts');
    await disconnect(cli, invocation, client, options);
  }
}
