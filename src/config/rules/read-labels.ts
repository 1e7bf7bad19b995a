import type { ContentLabels } from '../../domain/index.ts';
import type { SourceNode } from '../files/source-tree.ts';
import { textsAt } from '../texts.ts';

/** Reads labels whose shape has been checked: a list, or lists by tool. */
export function readLabels(node: SourceNode | undefined): ContentLabels | undefined {
  if (node === undefined) return undefined;
  if (node.kind === 'list') {
    return { all: node.items.flatMap((item) => (item.kind === 'scalar' ? [item.text] : [])), tools: new Map() };
  }
  if (node.kind !== 'map') return undefined;
  const tools = new Map(node.entries.map(({ key }) => [key, textsAt(node, key) ?? []]));
  const all = tools.get('*') ?? [];
  tools.delete('*');
  return { all, tools };
}
