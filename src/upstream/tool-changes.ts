import type { ToolDefinition } from '../domain/index.ts';

/** How a list of tools differs from the one before, by the names of the tools. */
export interface ToolChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Of these a model reads something else than before: description, schema, annotations or title. */
  readonly changed: readonly string[];
}

/** Enough to see what happened, not enough to flood the log. */
const maxNames = 20;

/** Undefined where nothing differs. Long lists are cut and say by how much. */
export function toolChanges(
  before: readonly ToolDefinition[],
  after: readonly ToolDefinition[],
): ToolChanges | undefined {
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
