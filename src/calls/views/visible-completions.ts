import { createWorkBudget, isJsonObject } from '../../base/index.ts';
import { maxDecisionWork } from '../../governance/index.ts';
import { parseUriTemplate } from '../../mcp/index.ts';
import type { Target } from '../target.ts';
import type { View } from './view.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Removes completions that lead to resources which the agent may not read. A value is decided on once the other
 * variables of the template are known, because only then it leads to one resource.
 * `args` is the caller's request and `completion` the server's answer, which is returned unchanged if all may stay.
 */
export function visibleCompletions(view: View, target: Target, args: unknown, completion: Members): Members {
  const asked = isJsonObject(args) ? args : {};
  const name = isJsonObject(asked.argument) ? asked.argument.name : undefined;
  const { values } = completion;
  const template = target.subjectName.startsWith('resource:') ? parseUriTemplate(target.ownName) : undefined;
  if (typeof name !== 'string' || !Array.isArray(values) || template?.variables.includes(name) !== true) {
    return completion;
  }
  const known = knownValues(asked.context);
  const budget = createWorkBudget(maxWork);
  const isVisible = (value: unknown): boolean => {
    if (typeof value !== 'string') return true;
    const uri = template.expand(new Map(known).set(name, value));
    return uri === undefined || view.canRead(target.server, uri, budget);
  };
  const visible: unknown[] = [];
  let judged = 0;
  for (const value of values) {
    if (judged === maxValues || budget.isSpent) break;
    if (isVisible(value)) visible.push(value);
    judged++;
  }
  const dropped = judged - visible.length;
  const hasMore = judged < values.length;
  if (dropped === 0 && !hasMore) return completion;
  const { total } = completion;
  return {
    ...completion,
    values: visible,
    ...(hasMore ? { hasMore } : {}),
    ...(typeof total === 'number' ? { total: Math.max(visible.length, total - dropped) } : {}),
  };
}

/** The protocol's limit per answer. Each value costs a decision. */
const maxValues = 100;
/** Shared by all values, because the decisions block the event loop. Undecided values are not shown. */
const maxWork = 2 * maxDecisionWork;

function knownValues(context: unknown): ReadonlyMap<string, string> {
  const known = isJsonObject(context) && isJsonObject(context.arguments) ? context.arguments : {};
  return new Map(Object.entries(known).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
