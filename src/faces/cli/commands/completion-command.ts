import { Argument, Command } from 'commander';
import { completionScript, type Shell, shells } from '../completion/completion-scripts.ts';
import type { CliContext } from '../context.ts';
import { helpExamples } from '../help-examples.ts';
import { withChoices } from '../word-choices.ts';

export function completionCommand({ terminal }: CliContext): Command {
  return new Command('completion')
    .description('print a completion script for your shell')
    .addArgument(withChoices(new Argument('<shell>', 'your shell'), shells))
    .addHelpText('after', '\nThe first lines of the script explain how to install it.')
    .addHelpText(
      'after',
      helpExamples('source <(qm completion bash)', 'qm completion fish > ~/.config/fish/completions/qm.fish'),
    )
    .action((shell: Shell) => terminal.out(completionScript(shell)));
}
