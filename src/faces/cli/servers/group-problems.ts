import type { Problem } from '../../../domain/index.ts';

export interface ProblemGroup {
  /** The first of them. */
  readonly problem: Problem;
  /** A sentence about those that are like it. Undefined if they are shown one by one. */
  readonly others: string | undefined;
}

/** Up to so many of a kind are shown one by one, unless their sentences are equal. */
const fewAlike = 3;

/** So many places are named. */
const mostPlaces = 3;

/**
 * A file with forty servers can have the same fault in each. Of many alike, the first is shown with the places of the next
 * ones. Errors are always shown one by one, because each must be corrected.
 */
export function groupProblems(problems: readonly Problem[]): readonly ProblemGroup[] {
  const alike = groupBy(problems, kindOf);
  const equal = groupBy(problems, ({ severity, file, message }) => JSON.stringify([severity, file, message]));
  const shown = new Set<readonly Problem[]>();
  return problems.flatMap((problem): ProblemGroup[] => {
    const kind = alike.get(problem) ?? [];
    const group = kind.length > fewAlike ? kind : (equal.get(problem) ?? []);
    if (problem.severity === 'error' || group.length <= 1) return [{ problem, others: undefined }];
    if (shown.has(group)) return [];
    shown.add(group);
    return [{ problem, others: restText(group.slice(1)) }];
  });
}

/** The group of each problem. */
function groupBy(problems: readonly Problem[], keyOf: (problem: Problem) => string): Map<Problem, Problem[]> {
  const groups = new Map<string, Problem[]>();
  return new Map(
    problems.map((problem) => {
      const key = keyOf(problem);
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push(problem);
      return [problem, group];
    }),
  );
}

/** Two problems of a file are alike if their sentences differ only in names and numbers. */
function kindOf({ severity, file, message }: Problem): string {
  return JSON.stringify([severity, file, message.replace(/"[^"]*"/g, '""').replace(/\d+/g, '0')]);
}

function restText(rest: readonly Problem[]): string {
  const places = rest.slice(0, mostPlaces).map(({ line, server, field }) => {
    const where = line === undefined ? '' : `line ${line}`;
    const what = server ?? field ?? '';
    return where === '' || what === '' ? `${where}${what}` : `${where} (${what})`;
  });
  const named = places.filter((place) => place !== '').join(', ');
  const more = rest.length > mostPlaces ? ' and so on' : '';
  const many = rest.length === 1 ? '1 more place' : `${rest.length} more places`;
  return `The same in ${many}${named === '' ? '' : `: ${named}${more}`}.`;
}
