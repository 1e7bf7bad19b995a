import { HubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { askLine } from './ask-line.ts';

/** Asks a yes-or-no question. Without a terminal nobody can answer, so the option that says yes is named instead. */
export async function confirm(
  cli: CliContext,
  question: string,
  { option }: { readonly option: string },
): Promise<boolean> {
  if (cli.stdin.isTTY !== true || !cli.terminal.errIsTerminal) {
    throw new HubError('USAGE', `${question} There is no terminal to ask.`, { hint: `Add ${option} to agree.` });
  }
  const answer = await askLine(cli, `${question} [y/N]`);
  if (answer.kind === 'interrupt') throw new HubError('CANCELLED', 'Interrupted. Nothing was changed.');
  return answer.kind === 'line' && /^y(es)?$/i.test(answer.text.trim());
}
