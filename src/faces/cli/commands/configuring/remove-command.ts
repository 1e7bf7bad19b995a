import { Command } from 'commander';
import { type Problem, placeOf } from '../../../../domain/index.ts';
import type { CliContext } from '../../context.ts';
import { type Invocation, readInvocation } from '../../global-options.ts';
import { helpExamples } from '../../help-examples.ts';
import type { RemoveAnswer } from '../../json-shapes.ts';
import { problemLines } from '../../servers/problem-lines.ts';

export function removeCommand(cli: CliContext): Command {
  return new Command('remove')
    .description('remove a server from the file that configures it')
    .argument('<server>', 'as `qm ls` shows it')
    .option('--yes', 'do not ask, even if agents or rules name the server')
    .addHelpText('after', helpExamples('qm remove files', 'qm remove files --yes --json'))
    .action((name: string, options: { yes?: boolean }, command: Command) =>
      remove(cli, readInvocation(command, cli), name, options.yes === true),
    );
}

async function remove(cli: CliContext, { workspace, json }: Invocation, name: string, agreed: boolean): Promise<void> {
  const [{ planRemoval }, { removeServer }, { awaitTakeUp, takeUpLine }] = await Promise.all([
    import('../../servers/plan-removal.ts'),
    import('../../servers/remove-server.ts'),
    import('../../hub/hub-take-up.ts'),
  ]);
  // A person may take long to answer, so the lock is taken afterwards.
  const mayGo = agreed || json || (await mayRemove(cli, name, (await planRemoval(cli, workspace, name)).dangling));
  if (!mayGo) return cli.terminal.err('Nothing was changed.');
  const { source, files, dangling, successor } = await removeServer(cli, workspace, name);
  const place = placeOf(source);
  const hub = await awaitTakeUp(cli, workspace, {
    server: name,
    files: files.map(({ file }) => file),
    isThere: (status) => status?.source !== place,
  });
  const answer: RemoveAnswer = {
    server: name,
    source: place,
    deleted: files.flatMap(({ file, text }) => (text === undefined ? [file] : [])),
    dangling: [...dangling],
    successor: successor === undefined ? null : placeOf(successor),
    hub,
  };
  const { terminal } = cli;
  if (json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  terminal.out(`Removed server ${name} from ${place}.`);
  for (const file of answer.deleted) terminal.err(`Deleted ${file}.`);
  for (const line of problemLines(dangling, terminal.errColours)) terminal.err(line);
  if (answer.successor !== null) {
    terminal.err(
      `From now on, the entry in ${answer.successor} counts. To remove it too, run \`qm remove ${name}\` again.`,
    );
  }
  const line = takeUpLine(hub);
  if (line !== undefined) terminal.err(line);
}

/** Only a person can be asked. Without one, the command says afterwards what names nothing any more. */
async function mayRemove(cli: CliContext, name: string, dangling: readonly Problem[]): Promise<boolean> {
  const { terminal, stdin } = cli;
  if (dangling.length === 0 || stdin.isTTY !== true || !terminal.errIsTerminal) return true;
  const { confirm } = await import('../../terminal/confirm.ts');
  terminal.err(`Without server ${name}:`);
  for (const line of problemLines(dangling, terminal.errColours)) terminal.err(`  ${line}`);
  return confirm(cli, `Remove server ${name}?`, { option: '--yes' });
}
