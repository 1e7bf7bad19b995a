import { Command } from 'commander';
import { HubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import type { LsAnswer } from '../json-shapes.ts';
import { plural } from '../plural.ts';
import { problemLines } from '../problem-lines.ts';

export function reloadCommand(cli: CliContext): Command {
  return new Command('reload')
    .description('have the running hub use the files as they are now, also without those that are gone')
    .action((_options, command: Command) => reload(cli, readInvocation(command, cli)));
}

async function reload({ terminal }: CliContext, { workspace, json }: Invocation): Promise<void> {
  const { findHub } = await import('../find-hub.ts');
  const hub = await findHub(workspace);
  if (hub === undefined) {
    throw new HubError('USAGE', 'No hub runs in this workspace.', {
      hint: 'One that starts reads the files as they are: `qm serve`.',
    });
  }
  const answer: LsAnswer = { hub: hub.url, ...(await hub.reload()) };
  if (json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  terminal.out(`The hub at ${hub.url} uses the files as they are now: ${plural(answer.servers.length, 'server')}.`);
  for (const line of problemLines(answer.problems, terminal.errColours)) terminal.err(line);
}
