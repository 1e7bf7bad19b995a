import type { CliContext } from '../context.ts';
import { type ReadLine, readLine } from './read-line.ts';
import { wrap } from './wrap.ts';

/** Room for an answer after the question. */
const answerRoom = 5;

/** Asks a person for one line. A long question is wrapped between words, and the answer stands after its last line. */
export function askLine(
  { stdin, terminal, signals }: Pick<CliContext, 'stdin' | 'terminal' | 'signals'>,
  question: string,
): Promise<ReadLine> {
  const lines = wrap(question, Math.max(20, terminal.size().columns - answerRoom));
  for (const line of lines.slice(0, -1)) terminal.err(line);
  return readLine({ input: stdin, output: terminal.errStream }, `${lines.at(-1) ?? ''} `, signals.graceful());
}
