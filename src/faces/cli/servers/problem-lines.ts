import { type Problem, placeOf } from '../../../domain/index.ts';
import type { Colours } from '../terminal/colours.ts';
import { printableLine } from '../terminal/printable.ts';

/** `error quartermaster.yaml:12 message fix`, one line each. */
export function problemLines(problems: readonly Problem[], colours: Colours): string[] {
  return problems.map((problem) => {
    const word = problem.severity === 'error' ? colours.red('error') : colours.yellow('warning');
    const text = printableLine(problem.fix === undefined ? problem.message : `${problem.message} ${problem.fix}`);
    return `${word} ${colours.bold(placeOf(problem))} ${text}`;
  });
}
