import { CommanderError } from 'commander';
import { errorTable, HubError, toHubError } from '../../base/index.ts';
import type { Problem } from '../../domain/index.ts';
import type { CliContext } from './context.ts';
import { problemLines } from './servers/problem-lines.ts';
import { printable } from './terminal/printable.ts';

/** Reports an error on stderr, as a sentence or as JSON, and returns the exit code. */
export function reportError(
  error: unknown,
  { terminal, mask }: Pick<CliContext, 'terminal' | 'mask'>,
  { json, command }: { readonly json: boolean; readonly command: string },
): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  // A command without its subcommand: the printed help is enough.
  if (error instanceof CommanderError && error.code === 'commander.help') return errorTable.USAGE.exit;
  const known = error instanceof CommanderError ? usageError(error, command) : toHubError(error);
  const { code, hint } = known;
  const message = mask.text(known.message);
  if (json) {
    terminal.err(JSON.stringify({ error: { code, message, ...(hint === undefined ? {} : { hint }) } }));
    return known.row.exit;
  }
  const text = hint === undefined ? message : `${message} ${hint}`;
  terminal.err(`${terminal.errColours.red('qm:')} ${printable(text)}`);
  const more = problemsOf(known).slice(1);
  for (const line of problemLines(more, terminal.errColours)) terminal.err(`    ${line}`);
  if (code === 'INTERNAL' && known.cause instanceof Error) terminal.err(mask.text(known.cause.stack ?? ''));
  return known.row.exit;
}

/** Commander's message, without its prefix and on one line. */
function usageError(error: CommanderError, command: string): HubError {
  const said = error.message.replace(/^error: /, '').split('\n');
  const [first = '', suggestion] = said;
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1)}${/[.?!]$/.test(first) ? '' : '.'}`;
  // A word that is not among the choices has its hint in the message.
  if (error.code === 'commander.invalidArgument') return new HubError('USAGE', message);
  const hint = suggestion?.replace(/^\((.*)\)$/, '$1') ?? `Run \`${command} --help\` to see its options.`;
  return new HubError('USAGE', message, { hint });
}

function problemsOf({ details }: HubError): readonly Problem[] {
  // The hub puts the problems here when it rejects a configuration.
  return Array.isArray(details.problems) ? (details.problems as Problem[]) : [];
}
