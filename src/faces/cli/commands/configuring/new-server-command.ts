import { relative } from 'node:path';
import { Command } from 'commander';
import { placeOf } from '../../../../domain/index.ts';
import type { CliContext } from '../../context.ts';
import { type Invocation, readInvocation } from '../../global-options.ts';
import { helpExamples } from '../../help-examples.ts';
import type { NewServerAnswer } from '../../json-shapes.ts';

export function newServerCommand(cli: CliContext): Command {
  return new Command('new-server')
    .description('create a server of your own in servers/NAME/, with a test, and configure it')
    .addHelpText('after', helpExamples('qm new-server hello', 'qm new-server hello --dir tools/hello'))
    .argument('<name>', 'name of the server')
    .option('--dir <dir>', 'folder in the workspace (default: servers/NAME)')
    .action((name: string, { dir }: { dir?: string }, command: Command) =>
      newServer(cli, readInvocation(command, cli), name, dir),
    );
}

async function newServer(
  cli: CliContext,
  { workspace, json }: Invocation,
  name: string,
  dir: string | undefined,
): Promise<void> {
  const [{ scaffoldServer }, { agentsLine }, { awaitTakeUp, takeUpLine }] = await Promise.all([
    import('../../servers/scaffold-server.ts'),
    import('../../agents/agents-line.ts'),
    import('../../hub/hub-take-up.ts'),
  ]);
  const { added, folder, files } = await scaffoldServer(cli, workspace, name, dir);
  const hub = await awaitTakeUp(cli, workspace, {
    server: name,
    files: [added.source.file],
    isThere: (status) => status !== undefined,
  });
  const answer: NewServerAnswer = {
    server: name,
    source: placeOf(added.source),
    folder,
    files: [...files],
    agents: added.agents === null ? null : [...added.agents],
    hub,
  };
  const { terminal } = cli;
  if (json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  for (const file of files) terminal.out(file);
  terminal.err(`Added server ${name} in ${answer.source}.`);
  for (const line of [agentsLine(added, terminal.errColours), takeUpLine(hub)]) {
    if (line !== undefined) terminal.err(line);
  }
  await sayNext(cli, workspace, answer);
}

/** The next commands, for the folder the command was run in. */
async function sayNext(cli: CliContext, workspace: string, { server, folder, agents }: NewServerAnswer): Promise<void> {
  const [{ nextCommand, shellWord }, { firstCall }] = await Promise.all([
    import('../../next-command.ts'),
    import('../../../../workspace-files/index.ts'),
  ]);
  const where = shellWord(relative(cli.cwd, `${workspace}/${folder}`));
  const call = `call ${server}.${firstCall.tool} ${firstCall.args} --agent ${agents?.[0] ?? 'me'}`;
  const { terminal } = cli;
  terminal.err('\nNext:');
  for (const line of [
    `npm install --prefix ${where}`,
    `npm test --prefix ${where}`,
    nextCommand(cli, workspace, `doctor ${server}`),
    nextCommand(cli, workspace, call),
  ]) {
    terminal.errWhole(`  ${terminal.errColours.bold(line)}`);
  }
}
