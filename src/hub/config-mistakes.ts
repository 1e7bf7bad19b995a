import { HubError } from '../base/index.ts';
import { type Fleet, type Problem, placeOf } from '../domain/index.ts';

/** Errors that are not one server's alone. While the hub runs, such a file is one that somebody is writing. */
export function mistakesIn(fleet: Fleet): readonly Problem[] {
  return fleet.problems.filter(({ severity, server }) => severity === 'error' && server === undefined);
}

/** Throws where there are any. */
export function refuse(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  throw new HubError('CONFIG_INVALID', `${placeOf(first)}: ${first.message}${others(problems)}`, {
    ...(first.fix === undefined ? {} : { hint: first.fix }),
    details: { problems },
  });
}

function others({ length }: readonly Problem[]): string {
  return length > 1 ? ` (and ${length - 1} more)` : '';
}
