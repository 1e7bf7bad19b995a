import { CommanderError } from 'commander';
import { errorTable, HubError, toHubError } from '../../base/index.ts';
import type { Problem } from '../../domain/index.ts';
import type { CliContext } from './context.ts';
import { printable } from './printable.ts';
import { problemLines } from './problem-lines.ts';

/** Says what went wrong on stderr, as a sentence or as JSON, and answers the exit code. */
export function reportError(
  error: unknown,
  { terminal, mask }: Pick<CliContext, 'terminal' | 'mask'>,
  { json, command }: { readonly json: boolean; readonly command: string },
): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  // A command without its subcommand: the help that was printed says it all.
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

/** Commander's own sentence, without its prefix and on one line. */
function usageError(error: CommanderError, command: string): HubError {
  const said = error.message.replace(/^error: /, '').split('\n');
  const [first = '', suggestion] = said;
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1)}${/[.?!]$/.test(first) ? '' : '.'}`;
  const hint = suggestion?.replace(/^\((.*)\)$/, '$1') ?? `Run \`${command} --help\` to see what it takes.`;
  return new HubError('USAGE', message, { hint });
}

function problemsOf({ details }: HubError): readonly Problem[] {
  // Where the hub refuses a configuration, it says so in these.
  return Array.isArray(details.problems) ? (details.problems as Problem[]) : [];
}
