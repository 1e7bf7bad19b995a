import type { CliContext } from './context.ts';
import { createProgram } from './program.ts';
import { reportError } from './report-error.ts';

/** Runs one command line and answers its exit code. */
export async function runCli(args: readonly string[], context: Omit<CliContext, 'exitWith'>): Promise<number> {
  let exitCode = 0;
  const cli: CliContext = {
    ...context,
    exitWith(code) {
      exitCode = code;
    },
  };
  const beforeEnd = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  try {
    await createProgram(cli).parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    cli.terminal.progress('');
    return reportError(error, cli, { json: beforeEnd.includes('--json') });
  }
}
