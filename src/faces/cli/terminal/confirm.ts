import { HubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { askLine } from './ask-line.ts';

/** Asks a yes-or-no question; Enter is the usual answer. Without a terminal nobody can answer, so the option that says yes is named instead. */
export async function confirm(
  cli: CliContext,
  question: string,
  { option, usual = 'no' }: { readonly option: string; readonly usual?: 'yes' | 'no' },
): Promise<boolean> {
  if (cli.stdin.isTTY !== true || !cli.terminal.errIsTerminal) {
    throw new HubError('USAGE', `${question} There is no terminal to ask.`, { hint: `Add ${option} to agree.` });
  }
  const answer = await askLine(cli, `${question} ${usual === 'yes' ? '[Y/n]' : '[y/N]'}`);
  if (answer.kind === 'interrupt') throw new HubError('CANCELLED', 'Interrupted. Nothing was changed.');
  const text = answer.kind === 'line' ? answer.text.trim() : 'no';
  return text === '' ? usual === 'yes' : /^y(es)?$/i.test(text);
}
