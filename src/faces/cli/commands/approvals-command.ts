import { Command } from 'commander';
import type {
  ApprovalListOptions,
  ApproveOptions,
  DenyOptions,
  ResolveOptions,
} from '../approvals/approval-actions.ts';
import type { CliContext } from '../context.ts';
import { readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';

/** The subcommands' implementation is loaded when one of them runs. */
const load = () => import('../approvals/approval-actions.ts');

export function approvalsCommand(cli: CliContext): Command {
  const approvals = new Command('approvals')
    .description('decide on calls that a rule holds for approval')
    .addHelpText('after', helpExamples('qm approvals ls', 'qm approvals approve 4f7c2k9x1m3p'))
    .helpCommand(false);
  const all = [
    lsCommand,
    showCommand,
    approveCommand,
    denyCommand,
    laterCommand,
    linkCommand,
    resolveCommand,
    grantsCommand,
    revokeCommand,
  ];
  for (const sub of all) approvals.addCommand(sub(cli));
  return approvals;
}

function lsCommand(cli: CliContext): Command {
  return new Command('ls')
    .description('list the calls that wait for a decision, and those that may have run')
    .addHelpText('after', helpExamples('qm approvals ls', 'qm approvals ls --follow'))
    .option('--all', 'also those that are decided')
    .option('--follow', 'go on with new ones, until Ctrl-C')
    .action(async (options: ApprovalListOptions, command: Command) =>
      (await load()).listApprovals(cli, readInvocation(command, cli), options),
    );
}

function showCommand(cli: CliContext): Command {
  return new Command('show')
    .description('show everything about one call: its arguments, the rule, and what its run did before')
    .addHelpText('after', helpExamples('qm approvals show 4f7c2k9x1m3p', 'qm approvals show 4f7c2k9x1m3p --json'))
    .argument('<id>', 'as `qm approvals ls` shows it')
    .action(async (id: string, _options, command: Command) =>
      (await load()).showApproval(cli, readInvocation(command, cli), id),
    );
}

function approveCommand(cli: CliContext): Command {
  return new Command('approve')
    .description('approve a call, once, or more calls of the same tool')
    .addHelpText(
      'after',
      helpExamples('qm approvals approve 4f7c2k9x1m3p', 'qm approvals approve 4f7c2k9x1m3p --for 20 --these-arguments'),
    )
    .argument('<id>', 'as `qm approvals ls` shows it')
    .option('--for <what>', 'run: the rest of the run; a number of calls; or a length of time such as 2h')
    .option('--these-arguments', 'with --for: only calls with the same arguments')
    .action(async (id: string, options: ApproveOptions, command: Command) =>
      (await load()).approveCall(cli, readInvocation(command, cli), id, options),
    );
}

function denyCommand(cli: CliContext): Command {
  return new Command('deny')
    .description('deny a call; the agent reads the reason')
    .addHelpText(
      'after',
      helpExamples(
        'qm approvals deny 4f7c2k9x1m3p --reason "not on a Friday"',
        `qm approvals deny 4f7c2k9x1m3p --suggest '{"path":"notes.md"}'`,
      ),
    )
    .argument('<id>', 'as `qm approvals ls` shows it')
    .option('--reason <text>', 'what the agent is told')
    .option('--suggest <json>', 'arguments that are approved for one call instead')
    .action(async (id: string, options: DenyOptions, command: Command) =>
      (await load()).denyCall(cli, readInvocation(command, cli), id, options),
    );
}

function laterCommand(cli: CliContext): Command {
  return new Command('later')
    .description('record that you looked, and decide nothing')
    .addHelpText('after', helpExamples('qm approvals later 4f7c2k9x1m3p', 'qm approvals later 4f7c2k9x1m3p --json'))
    .argument('<id>', 'as `qm approvals ls` shows it')
    .action(async (id: string, _options, command: Command) =>
      (await load()).lookLater(cli, readInvocation(command, cli), id),
    );
}

function linkCommand(cli: CliContext): Command {
  return new Command('link')
    .description('print a link that opens the page of a call once, for another person or device')
    .addHelpText('after', helpExamples('qm approvals link 4f7c2k9x1m3p', 'qm approvals link 4f7c2k9x1m3p --for bob'))
    .argument('<id>', 'as `qm approvals ls` shows it')
    .option('--for <person>', 'who will open it, for the record (default: you)')
    .action(async (id: string, options: { readonly for?: string }, command: Command) =>
      (await load()).printPageUrl(cli, readInvocation(command, cli), id, options.for),
    );
}

function resolveCommand(cli: CliContext): Command {
  return new Command('resolve')
    .description('close a call that may have run, after you looked at its effect')
    .addHelpText(
      'after',
      helpExamples('qm approvals resolve 4f7c2k9x1m3p --ran', 'qm approvals resolve 4f7c2k9x1m3p --did-not-run'),
    )
    .argument('<id>', 'as `qm approvals ls` shows it')
    .option('--ran', 'it had its effect')
    .option('--did-not-run', 'it had none')
    .action(async (id: string, options: ResolveOptions, command: Command) =>
      (await load()).resolveCall(cli, readInvocation(command, cli), id, options),
    );
}

function grantsCommand(cli: CliContext): Command {
  return new Command('grants')
    .description('list standing grants, which approve more than one call')
    .addHelpText('after', helpExamples('qm approvals grants', 'qm approvals grants --json'))
    .action(async (_options, command: Command) => (await load()).listGrants(cli, readInvocation(command, cli)));
}

function revokeCommand(cli: CliContext): Command {
  return new Command('revoke')
    .description('revoke a standing grant; the next call asks again')
    .addHelpText('after', helpExamples('qm approvals revoke 9k2m4x7c1f3p', 'qm approvals revoke 9k2m4x7c1f3p --json'))
    .argument('<grant>', 'as `qm approvals grants` shows it')
    .action(async (grant: string, _options, command: Command) =>
      (await load()).revokeGrant(cli, readInvocation(command, cli), grant),
    );
}
