import type { Command } from 'commander';
import { errorTable } from '../../base/index.ts';
import type { CliContext, CliProcess } from './context.ts';
import { missingDashes } from './missing-dashes.ts';
import { createProgram } from './program.ts';
import { reportError } from './report-error.ts';

/** Runs one command line and returns its exit code. */
export async function runCli(args: readonly string[], context: CliProcess): Promise<number> {
  let exitCode = 0;
  const cli: CliContext = {
    ...context,
    hasDashes: args.includes('--'),
    exitWith(code) {
      exitCode = code;
    },
  };
  const beforeEnd = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const program = createProgram(cli);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    cli.terminal.progress('');
    const known = (await missingDashes(error, program, args)) ?? error;
    exitCode = reportError(known, cli, { json: beforeEnd.includes('--json'), command: commandOf(program, beforeEnd) });
  }
  return cli.signals.interrupted ? errorTable.CANCELLED.exit : exitCode;
}

/** The intended command, as far as it is recognizable: `qm token issue`. */
function commandOf(program: Command, args: readonly string[]): string {
  let [path, command] = [program.name(), program];
  for (const word of args) {
    const inner = command.commands.find((each) => each.name() === word);
    if (inner === undefined) continue;
    path = `${path} ${word}`;
    command = inner;
  }
  return path;
}
