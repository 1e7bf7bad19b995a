import { Command, Option } from 'commander';
import type { ExportArguments } from '../calls/export-ledger.ts';
import type { CliContext } from '../context.ts';
import { readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import { withChoices } from '../word-choices.ts';

/** The subcommands' implementation is loaded when one of them runs. */
const load = () => import('../calls/ledger-actions.ts');

export function ledgerCommand(cli: CliContext): Command {
  const ledger = new Command('ledger')
    .description('check that nobody changed the audit log, show administrative acts, or export it')
    .addHelpText('after', helpExamples('qm ledger verify', 'qm ledger head --json'))
    .helpCommand(false);
  for (const sub of [verifyCommand, headCommand, eventsCommand, exportCommand]) ledger.addCommand(sub(cli));
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

function eventsCommand(cli: CliContext): Command {
  return new Command('events')
    .description('show acts that changed rights or settings: tokens, trust, secrets, servers, retention')
    .addHelpText(
      'after',
      helpExamples('qm ledger events', 'qm ledger events --json | jq \'select(.what == "token.issued")\''),
    )
    .option('--limit <count>', 'number of acts to show', '50')
    .action(async (options: { readonly limit: string }, command: Command) =>
      (await load()).showEvents(cli, readInvocation(command, cli), options.limit),
    );
}

function exportCommand(cli: CliContext): Command {
  return new Command('export')
    .description('print the audit log with its chain, or send it to a file or a log collector')
    .addHelpText(
      'after',
      helpExamples(
        'qm ledger export --to audit.jsonl',
        'qm ledger export --to https://siem.example/in --cursor at.json',
      ),
    )
    .option('--to <place>', 'a file to append to, or an http(s) URL that gets batches by POST')
    .addOption(
      withChoices(new Option('--format <word>', 'the lines of the journal, or CEF events'), ['jsonl', 'cef']).default(
        'jsonl',
      ),
    )
    .option('--from <seq>', 'only writes from this sequence number on')
    .option('--cursor <file>', 'go on after the position in this file, and keep it up to date')
    .option('--follow', 'go on with new records, until Ctrl-C')
    .action(async (options: ExportArguments, command: Command) =>
      (await import('../calls/export-ledger.ts')).exportLedger(cli, readInvocation(command, cli), options),
    );
}
