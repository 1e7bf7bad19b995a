import type { DefinitionChange } from '../../../domain/index.ts';

/** `read`, `prompt:greet`, `template:note://{id}` or `instructions`: a definition after the name of its server. */
export function labelOf({ kind, name }: Pick<DefinitionChange, 'kind' | 'name'>): string {
  if (kind === 'instructions') return kind;
  return kind === 'tool' ? name : `${kind}:${name}`;
}

/** `read changed`, or `look renamed from read`. */
export function changeWords(change: DefinitionChange): string {
  const { kind, from } = change;
  const suffix = from === undefined ? '' : ` from ${labelOf({ kind, name: from })}`;
  return `${labelOf(change)} ${change.change}${suffix}`;
}
