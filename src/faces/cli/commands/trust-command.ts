import { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';

export interface TrustArguments {
  readonly show?: boolean;
  readonly all?: boolean;
  readonly rules?: boolean;
  readonly decline?: boolean;
  readonly revoke?: boolean;
  readonly earlier?: boolean;
  readonly digest?: string;
}

export function trustCommand(cli: CliContext): Command {
  return new Command('trust')
    .description('see what servers would start or contact, and approve it')
    .argument('[server...]', 'approve these servers; without names, you are asked about all that wait')
    .option('--show', 'show every server and the rules with their state and digest, and change nothing')
    .option('--all', 'approve everything that is on disk now')
    .option('--rules', 'approve the rules; with --revoke, forget all earlier rules')
    .option('--decline', 'decline the named servers, so that nobody is asked about them again')
    .option('--revoke', 'take approvals back: of the named servers, or of all')
    .option('--earlier', 'with --revoke: forget only versions other than the one in force, on all branches')
    .option('--digest <sha256>', 'approve everything if it has this digest; for CI')
    .addHelpText(
      'after',
      helpExamples(
        'qm trust  # asks about each server that waits',
        'qm trust files github  # approves these two',
        'qm trust --revoke --earlier  # forgets what you approved before, on other branches too',
        'qm trust --show --json  # everything on disk, with its digest',
        'qm trust --digest sha256:0f1e…  # in CI: approves exactly what you reviewed',
      ),
    )
    .action(async (servers: string[], options: TrustArguments, command: Command) => {
      const { runTrust } = await import('../trust/trust-actions.ts');
      await runTrust(cli, readInvocation(command, cli), servers, options);
    });
}
