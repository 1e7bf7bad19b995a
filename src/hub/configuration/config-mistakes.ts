import { HubError } from '../../base/index.ts';
import { affectsAll, type Configuration, type Problem, placeOf } from '../../domain/index.ts';

/** Errors that affect more than one server or agent. While the hub runs, such a file is probably being edited. */
export function mistakesIn(configuration: Configuration): readonly Problem[] {
  return configuration.problems.filter(affectsAll);
}

/** Throws if there are any. */
export function refuseConfiguration(problems: readonly Problem[]): void {
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
