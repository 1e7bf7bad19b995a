import { Argument, Command } from 'commander';
import { completionScript, type Shell, shells } from '../completion-scripts.ts';
import type { CliContext } from '../context.ts';

export function completionCommand({ terminal }: CliContext): Command {
  return new Command('completion')
    .description('print a script that completes commands, servers, agents and tools in your shell')
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
    .addHelpText('after', '\nThe first lines of the script say where to put it.')
    .action((shell: Shell) => terminal.out(completionScript(shell)));
}
