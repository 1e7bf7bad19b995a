import { Command } from 'commander';
import { version } from '../../base/index.ts';
import { approvalsCommand } from './commands/approvals-command.ts';
import { auditCommand } from './commands/audit-command.ts';
import { builtinCommand } from './commands/builtin-command.ts';
import { callCommand } from './commands/call-command.ts';
import { callsCommand } from './commands/calls-command.ts';
import { connectCommand } from './commands/clients/connect-command.ts';
import { disconnectCommand } from './commands/clients/disconnect-command.ts';
import { completionCommand } from './commands/completion-command.ts';
import { addCommand } from './commands/configuring/add-command.ts';
import { bootstrapCommand } from './commands/configuring/bootstrap-command.ts';
import { disableCommand } from './commands/configuring/disable-command.ts';
import { enableCommand } from './commands/configuring/enable-command.ts';
import { initCommand } from './commands/configuring/init-command.ts';
import { newServerCommand } from './commands/configuring/new-server-command.ts';
import { removeCommand } from './commands/configuring/remove-command.ts';
import { syncCommand } from './commands/configuring/sync-command.ts';
import { doctorCommand } from './commands/doctor-command.ts';
import { explainCommand } from './commands/explain-command.ts';
import { helpCommand } from './commands/help-command.ts';
import { completeCommand } from './commands/hidden/complete-command.ts';
import { hubCommand } from './commands/hidden/hub-command.ts';
import { inspectCommand } from './commands/inspect-command.ts';
import { ledgerCommand } from './commands/ledger-command.ts';
import { lockCommand } from './commands/lock-command.ts';
import { logsCommand } from './commands/logs-command.ts';
import { lsCommand } from './commands/ls-command.ts';
import { policyCommand } from './commands/policy-command.ts';
import { reloadCommand } from './commands/reload-command.ts';
import { secretCommand } from './commands/secret-command.ts';
import { serveCommand } from './commands/serve-command.ts';
import { stateCommand } from './commands/state-command.ts';
import { stdioCommand } from './commands/stdio-command.ts';
import { stopCommand } from './commands/stop-command.ts';
import { summarizeCommand } from './commands/summarize-command.ts';
import { tokenCommand } from './commands/token-command.ts';
import { toolsCommand } from './commands/tools-command.ts';
import { trustCommand } from './commands/trust-command.ts';
import type { CliContext } from './context.ts';
import { withGlobalOptions } from './global-options.ts';
import { unknownCommand } from './unknown-command.ts';

/** Defines the commands and their options. Their implementation is loaded when one of them runs. */
export function createProgram(cli: CliContext): Command {
  const program = new Command('qm')
    .usage('COMMAND [options]')
    .description('A governed MCP hub: each agent gets only the tools its role allows, and every call is logged.')
    .version(version, '-V, --version', 'print the version')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() });
  for (const [purpose, commands] of Object.entries(commandsByPurpose)) {
    for (const create of commands) program.addCommand(create(cli).helpGroup(purpose));
  }
  program.addCommand(completeCommand(cli), { hidden: true });
  program.addCommand(hubCommand(cli), { hidden: true });
  for (const command of allCommands(program)) settle(command, cli);
  return program.addHelpText('after', '\n`qm help COMMAND` shows the options of a command, with examples.');
}

type CreateCommand = (cli: CliContext) => Command;

const commandsByPurpose: Readonly<Record<string, readonly CreateCommand[]>> = {
  'Configure servers:': [
    initCommand,
    addCommand,
    removeCommand,
    enableCommand,
    disableCommand,
    newServerCommand,
    bootstrapCommand,
    syncCommand,
  ],
  'Approve them, and store secrets:': [trustCommand, lockCommand, secretCommand],
  'Decide on calls:': [approvalsCommand],
  'Connect clients:': [connectCommand, disconnectCommand],
  'Run the hub:': [serveCommand, stdioCommand, reloadCommand, stopCommand],
  'Look at servers:': [lsCommand, doctorCommand, inspectCommand, logsCommand],
  'Work with agents:': [toolsCommand, callCommand, explainCommand, policyCommand, tokenCommand],
  'Read the audit log:': [callsCommand, summarizeCommand, auditCommand, ledgerCommand],
  'More:': [stateCommand, builtinCommand, completionCommand, helpCommand],
};

function* allCommands(command: Command): Generator<Command> {
  yield command;
  for (const inner of command.commands) yield* allCommands(inner);
}

function settle(command: Command, { terminal }: CliContext): void {
  const width = (): number => Math.min(terminal.width ?? 100, 120);
  withGlobalOptions(command)
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      // The code that catches an error reports it once. The help after a bare `qm` is not an error.
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: () => {},
      getOutHelpWidth: width,
      getErrHelpWidth: width,
    });
  if (command.commands.length === 0) return;
  command.on('command:*', ([word = '']: readonly string[]) => {
    throw unknownCommand(command, word);
  });
}
