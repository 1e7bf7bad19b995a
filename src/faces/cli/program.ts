import { Command } from 'commander';
import { version } from '../../base/index.ts';
import { addCommand } from './commands/add.ts';
import { bootstrapCommand } from './commands/bootstrap.ts';
import { builtinCommand } from './commands/builtin.ts';
import { callCommand } from './commands/call.ts';
import { callsCommand } from './commands/calls.ts';
import { completeCommand } from './commands/complete.ts';
import { completionCommand } from './commands/completion.ts';
import { disableCommand } from './commands/disable.ts';
import { doctorCommand } from './commands/doctor.ts';
import { enableCommand } from './commands/enable.ts';
import { explainCommand } from './commands/explain.ts';
import { inspectCommand } from './commands/inspect.ts';
import { lsCommand } from './commands/ls.ts';
import { newServerCommand } from './commands/new-server.ts';
import { reloadCommand } from './commands/reload.ts';
import { serveCommand } from './commands/serve.ts';
import { stdioCommand } from './commands/stdio.ts';
import { summarizeCommand } from './commands/summarize.ts';
import { syncCommand } from './commands/sync.ts';
import { tokenCommand } from './commands/token.ts';
import { toolsCommand } from './commands/tools.ts';
import type { CliContext } from './context.ts';
import { withGlobalOptions } from './global-options.ts';

/** The commands and what they take. What they need to work is loaded when one of them runs. */
export function createProgram(cli: CliContext): Command {
  const program = new Command('qm')
    .description('A governed MCP hub: every agent gets exactly the tools its role allows.')
    .version(version, '--version', 'print the version')
    .helpOption('--help', 'explain a command')
    .helpCommand('help [command]', 'explain a command')
    .showSuggestionAfterError(true);
  for (const create of commands) program.addCommand(create(cli));
  program.addCommand(completeCommand(cli), { hidden: true });
  for (const command of allCommands(program)) settle(command, cli);
  return program;
}

const commands = [
  serveCommand,
  stdioCommand,
  lsCommand,
  doctorCommand,
  inspectCommand,
  toolsCommand,
  callCommand,
  explainCommand,
  tokenCommand,
  callsCommand,
  summarizeCommand,
  completionCommand,
  addCommand,
  newServerCommand,
  enableCommand,
  disableCommand,
  reloadCommand,
  bootstrapCommand,
  syncCommand,
  builtinCommand,
];

function* allCommands(command: Command): Generator<Command> {
  yield command;
  for (const inner of command.commands) yield* allCommands(inner);
}

function settle(command: Command, { terminal }: CliContext): void {
  withGlobalOptions(command);
  command
    .helpOption('--help', 'explain this command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      // Errors are told once, by whoever catches them; help after a bare `qm` is not an error text.
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: () => {},
      getOutHelpWidth: () => Math.min(terminal.width ?? 100, 120),
    });
}
