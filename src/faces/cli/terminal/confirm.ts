import { HubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { readLine } from './read-line.ts';

/** Asks a yes-or-no question; Enter is the usual answer. Without a terminal nobody can answer, so the option that says yes is named instead. */
export async function confirm(
  { stdin, terminal, signals }: CliContext,
  question: string,
  { option, usual = 'no' }: { readonly option: string; readonly usual?: 'yes' | 'no' },
): Promise<boolean> {
  if (stdin.isTTY !== true || !terminal.errIsTerminal) {
    throw new HubError('USAGE', `${question} There is no terminal to ask.`, { hint: `Add ${option} to agree.` });
  }
  const stop = signals.graceful();
  const output = terminal.errStream;
  const answer = await readLine({ input: stdin, output }, `${question} ${usual === 'yes' ? '[Y/n]' : '[y/N]'} `, stop);
  if (answer.kind === 'interrupt') throw new HubError('CANCELLED', 'Interrupted. Nothing was changed.');
  const text = answer.kind === 'line' ? answer.text.trim() : 'no';
  return text === '' ? usual === 'yes' : /^y(es)?$/i.test(text);
}
