import { Command, Option } from 'commander';
import type { ConnectOptions } from '../../connect/connect-action.ts';
import type { CliContext } from '../../context.ts';
import { type Invocation, readInvocation } from '../../global-options.ts';
import { helpExamples } from '../../help-examples.ts';

export function connectCommand(cli: CliContext): Command {
  return new Command('connect')
    .description("add the hub to a client's configuration, such as Claude Code's")
    .argument('[client]', 'the client; without it, the clients on this machine are listed')
    .option('--agent <name>', 'the agent as which it uses the hub')
    .addOption(
      new Option('--scope <scope>', 'who gets the entry (default: the narrowest that works)').choices([
        'local',
        'project',
        'user',
      ]),
    )
    .option('--http', 'write the URL of `qm serve` instead of a program to start')
    .option('--token-variable <name>', "with --http: variable with the client's token", 'QM_TOKEN')
    .option('--keep-direct', "leave the client's own entries for servers of the hub on")
    .option('--print', 'print the entry and its file, and write nothing')
    .option('--yes', 'write it without asking')
    .option('--trust', 'approve every server and rule that is on disk now')
    .option('--no-start', 'do not start new servers now to list their tools')
    .option('--wait', 'wait for the first call of the client (default on a terminal)')
    .option('--no-wait', 'do not wait for it')
    .addHelpText(
      'after',
      helpExamples(
        'qm connect',
        'qm connect claude-code --agent tester',
        'qm connect codex --agent tester --yes --no-wait',
        'qm connect cursor --agent lead --print',
      ),
    )
    .action((client: string | undefined, options: Options, command: Command) =>
      run(cli, readInvocation(command, cli), client, options),
    );
}

interface Options extends ConnectOptions {
  readonly print?: boolean;
}

async function run(
  cli: CliContext,
  invocation: Invocation,
  client: string | undefined,
  options: Options,
): Promise<void> {
  if (client === undefined) {
    const { listClients } = await import('../../connect/client-list.ts');
    await listClients(cli, invocation);
  } else if (options.print === true) {
    const { printEntry } = await import('../../connect/print-entry.ts');
    await printEntry(cli, invocation, client, options);
  } else {
    const { connectClient } = await import('../../connect/connect-action.ts');
    await connectClient(cli, invocation, client, options);
  }
}
