import { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { readInvocation } from '../../global-options.ts';
import { helpExamples } from '../../help-examples.ts';

export function disconnectCommand(cli: CliContext): Command {
  return new Command('disconnect')
    .description('undo what `qm connect` wrote into the files of a client')
    .argument('<client>', 'the client')
    .option('--force', 'also undo what was changed by hand since')
    .addHelpText('after', helpExamples('qm disconnect claude-code', 'qm disconnect codex --force'))
    .action(async (client: string, options: { force?: boolean }, command: Command) => {
      const { disconnect } = await import('../../connect/disconnect-action.ts');
      await disconnect(cli, readInvocation(command, cli), client, options);
    });
}
