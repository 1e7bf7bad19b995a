import { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { LockArguments } from '../lock/lock-actions.ts';

/** The implementation is loaded when the command runs. */
const load = () => import('../lock/lock-actions.ts');

export function lockCommand(cli: CliContext): Command {
  return new Command('lock')
    .description('pin the definitions of tools in quartermaster.lock; agents get no other ones')
    .argument('[server...]', 'update only the entries of these servers')
    .option('--check', 'write nothing; exit 1 if a definition differs from the file or could not be compared')
    .option('--diff', 'write nothing; show each definition that differs, line by line')
    .option('--fresh', 'write the file anew, without looking at the one that is there')
    .option('--foreground', 'if no hub runs, run it in this process instead of in the background')
    .addHelpText(
      'after',
      helpExamples('qm lock', 'qm lock --diff', 'qm lock --check  # in CI', 'qm lock accept notes.search'),
    )
    .helpCommand(false)
    .addCommand(acceptCommand(cli))
    .action(async (servers: string[], options: LockArguments, command: Command) =>
      (await load()).lock(cli, readInvocation(command, cli), servers, options),
    );
}

function acceptCommand(cli: CliContext): Command {
  return new Command('accept')
    .description('accept definitions that differ from quartermaster.lock')
    .argument('<definition...>', 'SERVER, SERVER.TOOL, SERVER.prompt:NAME, SERVER.template:URI or SERVER.instructions')
    .option('--foreground', 'if no hub runs, run it in this process instead of in the background')
    .addHelpText('after', helpExamples('qm lock accept notes.search', 'qm lock accept notes github.create_issue'))
    .action(async (definitions: string[], options: Pick<LockArguments, 'foreground'>, command: Command) =>
      (await load()).accept(cli, readInvocation(command, cli), definitions, options),
    );
}
