import type { Holds, PolicyRule } from '../../../domain/index.ts';
import { stricterRule, strictness } from './strictness.ts';

/** A rule on a tool. One is exact if it names this tool and no other; the rest count as patterns do. */
export interface MatchedRule {
  readonly rule: PolicyRule;
  readonly isExact: boolean;
}

/** The clauses of one list that can apply to a tool. */
export interface MatchedList {
  readonly clauses: readonly PolicyRule[];
  readonly isExact: boolean;
}

/**
 * The rule that decides on a call, beside `always`, which applies to every call. Where a condition is unknown, the
 * result is at least as strict as with either answer: the clause is passed over, and counts in addition if it restricts.
 */
export function judgeLists(
  always: MatchedRule | undefined,
  lists: readonly MatchedList[],
  judge: (rule: PolicyRule) => Holds,
): PolicyRule | undefined {
  let exact = always?.isExact ? always.rule : undefined;
  let pattern = always?.isExact ? undefined : always?.rule;
  let unsureExact: PolicyRule | undefined;
  let unsurePattern: PolicyRule | undefined;
  for (const { clauses, isExact } of lists) {
    // A pattern does not matter where an exact rule applies. Lists with the exact name come first.
    if (exact !== undefined && !isExact) continue;
    for (const rule of clauses) {
      const holds = rule.condition === undefined ? true : judge(rule);
      if (holds === true) {
        if (isExact) exact = stricterRule(exact, rule);
        else pattern = stricterRule(pattern, rule);
        break;
      }
      if (holds === false || rule.effect === 'allow') continue;
      if (isExact) unsureExact = stricterRule(unsureExact, rule);
      else unsurePattern = stricterRule(unsurePattern, rule);
    }
  }
  if (exact !== undefined) return stricterRule(exact, unsureExact);
  return stricterRule(stricterRule(pattern, unsureExact), unsurePattern);
}

/**
 * The least strict rule that some call may meet. Undefined if a call may meet none, which allows it, and none lifts more
 * than that.
 */
export function leastStrict(always: MatchedRule | undefined, lists: readonly MatchedList[]): PolicyRule | undefined {
  const certain: MatchedRule[] = always === undefined ? [] : [always];
  for (const { clauses, isExact } of lists) {
    const least = isTotal(clauses) ? mildestOf(clauses) : undefined;
    if (least !== undefined) certain.push({ rule: least, isExact });
  }
  const least = decidingOf(certain);
  if (certain.some(({ isExact }) => isExact)) return least;
  const lifting = lists
    .filter(({ clauses, isExact }) => isExact && !isTotal(clauses))
    .flatMap(({ clauses }) => clauses);
  // Only an exact one lifts the approval that a server requires.
  const allowing = lifting.find(({ effect }) => effect === 'allow');
  return allowing ?? (least && mildestOf([least, ...lifting]));
}

/** Exact rules beat patterns. Of the remaining rules, the strictest decides. */
function decidingOf(all: readonly MatchedRule[]): PolicyRule | undefined {
  const exact = all.filter(({ isExact }) => isExact);
  let best: PolicyRule | undefined;
  for (const { rule } of exact.length > 0 ? exact : all) best = stricterRule(best, rule);
  return best;
}

function mildestOf(rules: readonly PolicyRule[]): PolicyRule | undefined {
  let best: PolicyRule | undefined;
  for (const rule of rules) if (best === undefined || strictness(rule) < strictness(best)) best = rule;
  return best;
}

/** Some clause applies to every call. */
function isTotal(clauses: readonly PolicyRule[]): boolean {
  return clauses.some(({ condition }) => condition === undefined);
}
