import { Command, Option } from 'commander';
import type { CliContext } from '../context.ts';
import { readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';

/** The subcommands' implementation is loaded when one of them runs. */
const load = () => import('../secrets/secret-actions.ts');

export function secretCommand(cli: CliContext): Command {
  const secret = new Command('secret')
    .description('store values for variables in the configuration, encrypted and outside of it')
    .addHelpText('after', helpExamples('qm secret set GITHUB_TOKEN', 'qm secret ls'))
    .helpCommand(false);
  for (const sub of [setCommand, listCommand, removeCommand, moveCommand, rotateCommand]) secret.addCommand(sub(cli));
  return secret;
}

function setCommand(cli: CliContext): Command {
  return new Command('set')
    .description('store a value; it is asked for on a terminal, else read from stdin')
    .argument('<name...>', 'the name in the configuration, such as GITHUB_TOKEN')
    .option('--from-env', 'take the values of the environment variables of these names')
    .addHelpText(
      'after',
      helpExamples(
        'qm secret set GITHUB_TOKEN',
        'gh auth token | qm secret set GITHUB_TOKEN',
        'qm secret set --from-env GITHUB_TOKEN SLACK_TOKEN',
      ),
    )
    .action(async (names: string[], options: { fromEnv?: boolean }, command: Command) =>
      (await load()).setSecrets(cli, readInvocation(command, cli), names, options.fromEnv === true),
    );
}

function listCommand(cli: CliContext): Command {
  return new Command('ls')
    .description('list the names, the servers that use them, and where the key is')
    .addHelpText('after', helpExamples('qm secret ls', "qm secret ls --json | jq -r '.secrets[].name'"))
    .action(async (_options, command: Command) => (await load()).listSecrets(cli, readInvocation(command, cli)));
}

function removeCommand(cli: CliContext): Command {
  return new Command('rm')
    .description('remove a value')
    .addHelpText('after', helpExamples('qm secret rm GITHUB_TOKEN', 'qm secret rm GITHUB_TOKEN --json'))
    .argument('<name>', 'as `qm secret ls` shows it')
    .action(async (name: string, _options, command: Command) =>
      (await load()).removeSecret(cli, readInvocation(command, cli), name),
    );
}

function moveCommand(cli: CliContext): Command {
  return new Command('move')
    .description('move secrets that are written in a configuration file into the store')
    .addHelpText(
      'after',
      helpExamples('qm secret move github', 'qm secret move github headers.Authorization --as GITHUB_TOKEN'),
    )
    .argument('<server>', 'the server that has them')
    .argument('[field]', 'the field, such as headers.Authorization (default: all)')
    .option('--as <name>', 'name of the secret (default: from the field or the server)')
    .option('--yes', 'do not ask')
    .action(async (server: string, field: string | undefined, options: MoveOptions, command: Command) => {
      const { moveSecrets } = await import('../secrets/move-action.ts');
      await moveSecrets(cli, readInvocation(command, cli), {
        server,
        field,
        name: options.as,
        agreed: options.yes === true,
      });
    });
}

interface MoveOptions {
  readonly as?: string;
  readonly yes?: boolean;
}

function rotateCommand(cli: CliContext): Command {
  return new Command('rotate')
    .description('seal all values with a new key and remove the old one')
    .addHelpText('after', helpExamples('qm secret rotate', 'qm secret rotate --keychain'))
    .addOption(new Option('--keychain', 'put the new key into the keychain').conflicts('keyFile'))
    .option('--key-file', 'put the new key into a file that only you can read')
    .action(async (options: { keychain?: boolean; keyFile?: boolean }, command: Command) => {
      const keyIn = options.keychain === true ? 'keychain' : options.keyFile === true ? 'file' : undefined;
      return (await load()).rotateSecrets(cli, readInvocation(command, cli), keyIn);
    });
}
