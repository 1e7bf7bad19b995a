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
  const known = byName(before);
  const now = byName(after);
  const added = [...now.keys()].filter((name) => !known.has(name));
  const removed = [...known.keys()].filter((name) => !now.has(name));
  const changed = [...now].flatMap(([name, tool]) => (isChanged(known.get(name), tool) ? [name] : []));
  if (added.length + removed.length + changed.length === 0) return undefined;
  return { added: cut(added), removed: cut(removed), changed: cut(changed) };
}

function byName(tools: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** The same text may have the fingerprint of an earlier version. */
function isChanged(before: ToolDefinition | undefined, { fingerprint, text }: ToolDefinition): boolean {
  return before !== undefined && before.fingerprint !== fingerprint && before.text !== text;
}

function cut(names: readonly string[]): readonly string[] {
  const more = names.length - maxNames;
  return more <= 0 ? names : [...names.slice(0, maxNames), `and ${more} more`];
}
