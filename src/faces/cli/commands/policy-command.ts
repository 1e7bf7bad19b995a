import { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { PolicyTestOptions } from '../policy/test-policy.ts';

export function policyCommand(cli: CliContext): Command {
  const policy = new Command('policy')
    .description('try out rules before they are enforced')
    .addHelpText('after', helpExamples('qm policy test --since 7d', 'qm policy test --shadow'))
    .helpCommand(false);
  return policy.addCommand(testCommand(cli));
}

function testCommand(cli: CliContext): Command {
  return new Command('test')
    .description('decide recorded calls again by the files on disk, and show what changes; exit 1 if anything does')
    .addHelpText(
      'after',
      helpExamples('qm policy test --since 7d', 'qm policy test --calls calls.jsonl --policy stricter.yaml'),
    )
    .option('--calls <file>', 'calls to decide again, as `qm calls --json` prints them; default the audit log')
    .option('--since <time>', 'only calls of the last 30m, 2h or 7d')
    .option('--policy <file>', 'a file to use in place of quartermaster.yaml')
    .option('--shadow', 'decide by the shadow policy')
    .action(async (options: PolicyTestOptions, command: Command) =>
      (await import('../policy/test-policy.ts')).testPolicy(cli, readInvocation(command, cli), options),
    );
}
