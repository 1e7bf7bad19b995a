import { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { readInvocation } from '../global-options.ts';
import type { BackupArguments, RestoreArguments } from '../hub/state-backup.ts';

/** The subcommands' implementation is loaded when one of them runs. */
const load = () => import('../hub/state-actions.ts');
const loadBackup = () => import('../hub/state-backup.ts');

export function stateCommand(cli: CliContext): Command {
  const state = new Command('state')
    .description("the hub's own files: tokens, keys, trust and the journal, outside the workspace")
    .helpCommand(false);
  state.addCommand(
    new Command('path')
      .description('print the folder with the state of this workspace')
      .action(async (_options, command: Command) => (await load()).showPath(cli, readInvocation(command, cli))),
  );
  state.addCommand(
    new Command('migrate')
      .description('confirm agent tokens that an earlier version kept in the workspace')
      .option('--yes', 'without asking')
      .action(async (options: YesOption, command: Command) => {
        const invocation = readInvocation(command, cli);
        await (await import('../agents/earlier-tokens.ts')).showEarlierTokens(cli, invocation);
        await (await load()).migrateTokens(cli, invocation, options.yes === true);
      }),
  );
  state.addCommand(
    new Command('move')
      .description('take over the state of this workspace from the path it had before')
      .option('--yes', 'without asking')
      .action(async (options: YesOption, command: Command) =>
        (await load()).moveState(cli, readInvocation(command, cli), options.yes === true),
      ),
  );
  state.addCommand(
    new Command('prune')
      .description('delete the state of workspaces that no longer exist')
      .option('--yes', 'without asking')
      .action(async (options: YesOption, command: Command) =>
        (await load()).pruneStates(cli, readInvocation(command, cli), options.yes === true),
      ),
  );
  state.addCommand(
    new Command('backup')
      .description('copy the state into one file; it contains keys, so keep it like a password')
      .argument('<file>', 'must not exist yet')
      .option('--force', 'also into the workspace or a git checkout')
      .action(async (file: string, options: BackupArguments, command: Command) =>
        (await loadBackup()).backUpState(cli, readInvocation(command, cli), file, options),
      ),
  );
  state.addCommand(
    new Command('restore')
      .description('replace the state by a backup; the hub must not run')
      .argument('<file>', 'written by `qm state backup`')
      .option('--yes', 'without asking')
      .option('--unverified', 'also if it was written on another machine; shows what it brings')
      .action(async (file: string, options: RestoreArguments, command: Command) =>
        (await loadBackup()).restoreState(cli, readInvocation(command, cli), file, options),
      ),
  );
  return state;
}

interface YesOption {
  readonly yes?: boolean;
}
