import { Command } from 'commander';
import { helpExamples } from '../help-examples.ts';
import { unknownCommand } from '../unknown-command.ts';

/** `qm help token issue`: the help of a command, however deep. */
export function helpCommand(): Command {
  return new Command('help')
    .description('show help for a command')
    .argument('[command...]', 'the command, such as `token issue`')
    .addHelpText('after', helpExamples('qm help add', 'qm help token issue'))
    .action((words: string[], _options, self: Command) => {
      let command = self.parent ?? self;
      for (const word of words) {
        const inner = command.commands.find((each) => each.name() === word);
        if (inner === undefined) throw unknownCommand(command, word);
        command = inner;
      }
      command.outputHelp();
    });
}
