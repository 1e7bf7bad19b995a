import { type DefinitionKind, type DefinitionPins, definitionKinds } from './definition-lock.ts';

/** One difference between the accepted definitions of a server and those that it lists. */
export interface DefinitionChange {
  readonly kind: DefinitionKind | 'instructions';
  /** The server's own name, URI template, or empty for instructions. */
  readonly name: string;
  readonly change: 'changed' | 'new' | 'removed' | 'renamed';
  /** The accepted name of a renamed one. */
  readonly from?: string;
}

/** A definition under another name that is otherwise equal to one that is gone counts as renamed. */
export function definitionChanges(accepted: DefinitionPins, listed: DefinitionPins): readonly DefinitionChange[] {
  const changes = definitionKinds.flatMap((kind) => changesOf(kind, accepted[kind], listed[kind]));
  const [before, now] = [accepted.instructions, listed.instructions];
  if (before === now) return changes;
  const change = before === undefined ? 'new' : now === undefined ? 'removed' : 'changed';
  return [{ kind: 'instructions', name: '', change }, ...changes];
}

function changesOf(
  kind: DefinitionKind,
  accepted: ReadonlyMap<string, string>,
  listed: ReadonlyMap<string, string>,
): readonly DefinitionChange[] {
  const gone = [...accepted].filter(([name]) => !listed.has(name));
  const goneByPrint = new Map(gone.map(([name, print]) => [print, name]));
  const renamed = new Set<string>();
  const differing = [...listed].flatMap(([name, print]): DefinitionChange[] => {
    const known = accepted.get(name);
    if (known === print) return [];
    if (known !== undefined) return [{ kind, name, change: 'changed' }];
    const from = goneByPrint.get(print);
    if (from === undefined || renamed.has(from)) return [{ kind, name, change: 'new' }];
    renamed.add(from);
    return [{ kind, name, change: 'renamed', from }];
  });
  const removed = gone.filter(([name]) => !renamed.has(name));
  return [...differing, ...removed.map(([name]): DefinitionChange => ({ kind, name, change: 'removed' }))];
}
