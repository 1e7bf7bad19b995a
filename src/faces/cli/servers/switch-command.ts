import { Command } from 'commander';
import { placeOf } from '../../../domain/index.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { SwitchAnswer } from '../json-shapes.ts';
import { problemLines } from './problem-lines.ts';

/** `qm enable` and `qm disable`. */
export function switchCommand(cli: CliContext, on: boolean): Command {
  return new Command(on ? 'enable' : 'disable')
    .description(`${on ? 'enable' : 'disable'} a server in the file that configures it`)
    .argument('<server>', 'as `qm ls` shows it')
    .addHelpText(
      'after',
      helpExamples(`qm ${on ? 'enable' : 'disable'} files`, `qm ${on ? 'enable' : 'disable'} files --json`),
    )
    .action((name: string, _options, command: Command) => run(cli, readInvocation(command, cli), name, on));
}

async function run(
  cli: CliContext,
  { workspace, json }: Pick<Invocation, 'workspace' | 'json'>,
  name: string,
  on: boolean,
): Promise<void> {
  const [{ switchServer }, { awaitTakeUp, takeUpLine }, { nextCommand }] = await Promise.all([
    import('./switch-server.ts'),
    import('../hub/hub-take-up.ts'),
    import('../next-command.ts'),
  ]);
  const { terminal } = cli;
  const { source, changed, files, server, waits } = await switchServer(cli, workspace, name, on);
  if (on && waits) await askAboutIt(cli, { workspace, json }, name);
  const isOff = (state: string | undefined): boolean => state === 'disabled';
  const hub = await awaitTakeUp(cli, workspace, {
    server: name,
    files,
    isThere: (status) => status !== undefined && isOff(status.state) !== on,
  });
  const problems = server.kind === 'invalid' ? server.problems : [];
  const answer: SwitchAnswer = {
    server: name,
    enabled: on,
    changed,
    source: placeOf(source),
    problems: [...problems],
    hub,
  };
  if (json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  const word = on ? 'enabled' : 'disabled';
  terminal.out(
    changed
      ? `Server ${name} is ${word} in ${answer.source}.`
      : `Server ${name} is already ${word} (${answer.source}).`,
  );
  for (const line of problemLines(problems, terminal.errColours)) terminal.err(line);
  const line = changed ? takeUpLine(hub) : undefined;
  if (line !== undefined) terminal.err(line);
  if (on && changed)
    terminal.errWhole(`Next: ${terminal.errColours.bold(nextCommand(cli, workspace, `doctor ${name}`))}`);
}

/** To switch a server on is not to approve what it starts. */
async function askAboutIt(
  cli: CliContext,
  { workspace, json }: Pick<Invocation, 'workspace' | 'json'>,
  name: string,
): Promise<void> {
  const [{ settleTrust }, { canAsk }] = await Promise.all([
    import('../trust/settle-trust.ts'),
    import('../trust/trust-prompt.ts'),
  ]);
  if (canAsk(cli) && !json) await settleTrust(cli, workspace, { servers: [name] });
  else
    cli.terminal.err(
      `Server ${name} is not as it was approved, so it does not start before you run \`qm trust ${name}\`.`,
    );
}
