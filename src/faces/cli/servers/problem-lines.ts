import { type Problem, placeOf } from '../../../domain/index.ts';
import type { Colours } from '../terminal/colours.ts';
import { printableLine } from '../terminal/printable.ts';
import { groupProblems } from './group-problems.ts';

/** `error quartermaster.yaml:12 message fix`, one line each. Many alike are one line. */
export function problemLines(problems: readonly Problem[], colours: Colours): string[] {
  return groupProblems(problems).map(({ problem, others }) => {
    const word = colours[severityColours[problem.severity]](problem.severity);
    const sentences = [problem.message, problem.fix, others].filter((text) => text !== undefined);
    return `${word} ${colours.bold(placeOf(problem))} ${printableLine(sentences.join(' '))}`;
  });
}

export const severityColours = { error: 'red', warning: 'yellow', note: 'dim' } as const satisfies Record<
  Problem['severity'],
  keyof Colours
>;
