import { isJsonObject } from '../base/index.ts';
import { parseUriTemplate } from '../mcp/index.ts';
import type { Target } from './target.ts';
import type { View } from './view.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * What a server proposes for a variable of a template, without values that lead to resources which the agent may not
 * read. A value is judged as soon as the other variables are known; before that nobody can say where it leads.
 * `args` are what the caller sent, `completion` what the server answered; it is given back as it is if all may stay.
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
  const isVisible = (value: unknown): boolean => {
    if (typeof value !== 'string') return true;
    const uri = template.expand(new Map(known).set(name, value));
    return uri === undefined || view.canRead(target.server, uri);
  };
  const judged = values.slice(0, maxValues);
  const visible = judged.filter(isVisible);
  const dropped = judged.length - visible.length;
  const hasMore = judged.length < values.length;
  if (dropped === 0 && !hasMore) return completion;
  const { total } = completion;
  return {
    ...completion,
    values: visible,
    ...(hasMore ? { hasMore } : {}),
    ...(typeof total === 'number' ? { total: Math.max(visible.length, total - dropped) } : {}),
  };
}

/** The protocol allows no more in one answer, and each costs a decision. */
const maxValues = 100;

function knownValues(context: unknown): ReadonlyMap<string, string> {
  const known = isJsonObject(context) && isJsonObject(context.arguments) ? context.arguments : {};
  return new Map(Object.entries(known).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
