import { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { BackupArguments, RestoreArguments } from '../hub/state-backup.ts';

/** The subcommands' implementation is loaded when one of them runs. */
const load = () => import('../hub/state-actions.ts');
const loadBackup = () => import('../hub/state-backup.ts');

export function stateCommand(cli: CliContext): Command {
  const state = new Command('state')
    .description("back up, restore or move the hub's own files, outside the workspace")
    .addHelpText('after', helpExamples('qm state path', 'qm state backup ../team.qm-state'))
    .helpCommand(false);
  for (const sub of [pathCommand, migrateCommand, moveStateCommand, pruneCommand, backupCommand, restoreCommand]) {
    state.addCommand(sub(cli));
  }
  return state;
}

function pathCommand(cli: CliContext): Command {
  return new Command('path')
    .description('print the folder with the state of this workspace')
    .addHelpText('after', helpExamples('qm state path', 'ls "$(qm state path)"'))
    .action(async (_options, command: Command) => (await load()).showPath(cli, readInvocation(command, cli)));
}

function migrateCommand(cli: CliContext): Command {
  return new Command('migrate')
    .description('confirm agent tokens that an earlier version kept in the workspace')
    .addHelpText('after', helpExamples('qm state migrate', 'qm state migrate --yes'))
    .option('--yes', 'without asking')
    .action(async (options: YesOption, command: Command) => {
      const invocation = readInvocation(command, cli);
      await (await import('../agents/earlier-tokens.ts')).showEarlierTokens(cli, invocation);
      await (await load()).migrateTokens(cli, invocation, options.yes === true);
    });
}

function moveStateCommand(cli: CliContext): Command {
  return new Command('move')
    .description('take over the state of this workspace from the path it had before')
    .addHelpText('after', helpExamples('qm state move', 'qm state move --yes'))
    .option('--yes', 'without asking')
    .action(async (options: YesOption, command: Command) =>
      (await load()).moveState(cli, readInvocation(command, cli), options.yes === true),
    );
}

function pruneCommand(cli: CliContext): Command {
  return new Command('prune')
    .description('delete the state of workspaces that no longer exist')
    .addHelpText('after', helpExamples('qm state prune', 'qm state prune --yes --json'))
    .option('--yes', 'without asking')
    .action(async (options: YesOption, command: Command) =>
      (await load()).pruneStates(cli, readInvocation(command, cli), options.yes === true),
    );
}

function backupCommand(cli: CliContext): Command {
  return new Command('backup')
    .description('copy the state into one file; it contains keys, so keep it like a password')
    .addHelpText('after', helpExamples('qm state backup ../team.qm-state', 'qm state backup ../team.qm-state --json'))
    .argument('<file>', 'must not exist yet')
    .option('--force', 'also into the workspace or a git checkout')
    .action(async (file: string, options: BackupArguments, command: Command) =>
      (await loadBackup()).backUpState(cli, readInvocation(command, cli), file, options),
    );
}

function restoreCommand(cli: CliContext): Command {
  return new Command('restore')
    .description('replace the state by a backup; the hub must not run')
    .addHelpText('after', helpExamples('qm state restore ../team.qm-state', 'qm state restore ../team.qm-state --yes'))
    .argument('<file>', 'written by `qm state backup`')
    .option('--yes', 'without asking')
    .option('--unverified', 'also if it was written on another machine; shows what it brings')
    .action(async (file: string, options: RestoreArguments, command: Command) =>
      (await loadBackup()).restoreState(cli, readInvocation(command, cli), file, options),
    );
}

interface YesOption {
  readonly yes?: boolean;
}
