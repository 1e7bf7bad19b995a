import type { ToolDefinition } from '../../domain/index.ts';

/** The difference between two lists of tools, by tool name. */
export interface ToolChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Tools whose description, schema, annotations or title changed. */
  readonly changed: readonly string[];
}

/** Enough to see what happened, not enough to flood the log. */
const maxNames = 20;

/** Undefined if nothing differs. Long lists are cut and end with the number of the others. */
export function toolChanges(
  before: readonly ToolDefinition[],
  after: readonly ToolDefinition[],
): ToolChanges | undefined {
  if (before.length === after.length && before.every((tool, index) => tool === after[index])) return undefined;
  const known = fingerprints(before);
  const now = fingerprints(after);
  const added = [...now.keys()].filter((name) => !known.has(name));
  const removed = [...known.keys()].filter((name) => !now.has(name));
  const changed = [...now]
    .filter(([name, print]) => known.has(name) && known.get(name) !== print)
    .map(([name]) => name);
  if (added.length + removed.length + changed.length === 0) return undefined;
  return { added: cut(added), removed: cut(removed), changed: cut(changed) };
}

function fingerprints(tools: readonly ToolDefinition[]): ReadonlyMap<string, string> {
  return new Map(tools.map(({ name, fingerprint }) => [name, fingerprint]));
}

function cut(names: readonly string[]): readonly string[] {
  const more = names.length - maxNames;
  return more <= 0 ? names : [...names.slice(0, maxNames), `and ${more} more`];
}
