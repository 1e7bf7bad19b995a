import { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';

/** The subcommands' implementation is loaded when one of them runs. */
const load = () => import('../calls/ledger-actions.ts');

export function ledgerCommand(cli: CliContext): Command {
  const ledger = new Command('ledger')
    .description('check that nobody changed the audit log')
    .addHelpText('after', helpExamples('qm ledger verify', 'qm ledger head --json'))
    .helpCommand(false);
  for (const sub of [verifyCommand, headCommand]) ledger.addCommand(sub(cli));
  return ledger;
}

function verifyCommand(cli: CliContext): Command {
  return new Command('verify')
    .description('check every record and the chain of hashes through all files; exit 1 if something is wrong')
    .addHelpText('after', helpExamples('qm ledger verify', `qm ledger verify --head ${'0'.repeat(64)}@17`))
    .option('--head <hash@seq>', 'also check that the log still contains this earlier head')
    .action(async (options: { readonly head?: string }, command: Command) =>
      (await load()).verify(cli, readInvocation(command, cli), options.head),
    );
}

function headCommand(cli: CliContext): Command {
  return new Command('head')
    .description('print the hash of the newest record, to keep elsewhere')
    .addHelpText('after', helpExamples('qm ledger head', 'qm ledger head --json'))
    .action(async (_options, command: Command) => (await load()).showHead(cli, readInvocation(command, cli)));
}
