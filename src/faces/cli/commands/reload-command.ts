import { Command } from 'commander';
import { HubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import { hubWords } from '../hub/hub-words.ts';
import type { LsAnswer } from '../json-shapes.ts';
import { problemLines } from '../servers/problem-lines.ts';
import { plural } from '../terminal/plural.ts';

export function reloadCommand(cli: CliContext): Command {
  return new Command('reload')
    .description('make the running hub apply the files as they are now, without waiting')
    .addHelpText('after', helpExamples('qm reload', 'qm reload --json'))
    .action((_options, command: Command) => reload(cli, readInvocation(command, cli)));
}

async function reload(cli: CliContext, { workspace, json }: Invocation): Promise<void> {
  const { terminal } = cli;
  const { findHub } = await import('../hub/find-hub.ts');
  const hub = await findHub(cli, workspace);
  if (hub === undefined) {
    throw new HubError('HUB_NOT_RUNNING', 'No hub runs in this workspace.', {
      hint: 'A new hub reads the files as they are: `qm serve`.',
    });
  }
  const answer: LsAnswer = { hub: hub.url, ...(await hub.reload()) };
  if (json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  terminal.out(`The ${hubWords(hub.url)} uses the files as they are now: ${plural(answer.servers.length, 'server')}.`);
  for (const line of problemLines(answer.problems, terminal.errColours)) terminal.err(line);
}
