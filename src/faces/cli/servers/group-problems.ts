import type { Problem } from '../../../domain/index.ts';

export interface ProblemGroup {
  /** The first of them. */
  readonly problem: Problem;
  /** A sentence about those that are like it. Undefined if they are shown one by one. */
  readonly others: string | undefined;
}

/** Up to so many of a kind are shown one by one. */
const fewAlike = 3;

/** So many places are named. */
const mostPlaces = 3;

/**
 * A file with forty servers can have the same fault in each. Of many alike, the first is shown with the places of the next
 * ones. Errors are always shown one by one, because each must be corrected.
 */
export function groupProblems(problems: readonly Problem[]): readonly ProblemGroup[] {
  const alike = new Map<string, Problem[]>();
  for (const problem of problems) {
    const kind = kindOf(problem);
    const group = alike.get(kind);
    if (group === undefined) alike.set(kind, [problem]);
    else group.push(problem);
  }
  return problems.flatMap((problem): ProblemGroup[] => {
    const group = alike.get(kindOf(problem)) ?? [];
    if (problem.severity === 'error' || group.length <= fewAlike) return [{ problem, others: undefined }];
    return group[0] === problem ? [{ problem, others: restText(group.slice(1)) }] : [];
  });
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
  return `The same in ${rest.length} more places${named === '' ? '' : `: ${named}${more}`}.`;
}
