import { child, type SourceNode } from './files/source-tree.ts';

/** The list of texts under a key. Undefined if there is none. */
export function textsAt(node: SourceNode | undefined, key: string): readonly string[] | undefined {
  const list = child(node, key);
  if (list?.kind !== 'list') return undefined;
  return list.items.flatMap((item) => (item.kind === 'scalar' ? [item.text] : []));
}

export function textAt(node: SourceNode | undefined, key: string): string | undefined {
  const value = child(node, key);
  return value?.kind === 'scalar' ? value.text : undefined;
}

export function numberAt(node: SourceNode | undefined, key: string): number | undefined {
  const value = child(node, key);
  return value?.kind === 'scalar' && typeof value.value === 'number' ? value.value : undefined;
}

export function booleanAt(node: SourceNode | undefined, key: string): boolean | undefined {
  const value = child(node, key);
  return value?.kind === 'scalar' && typeof value.value === 'boolean' ? value.value : undefined;
}
