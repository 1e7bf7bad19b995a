import { type SourceEntry, type SourceMap, type SourceNode, sourceMap } from '../files/source-tree.ts';
import { withoutNoise } from './client-server.ts';

/** Removes keys without meaning: generated files write out empty maps, and `type: mcp` is not a transport type. */
export function tidied(root: SourceMap): SourceMap {
  const entries = root.entries
    .filter(({ key, value }) => key !== 'type' || !(value.kind === 'scalar' && value.value === 'mcp'))
    .map(({ key, line, value }): SourceEntry => {
      if (key === 'transport') return { key, line, value: withoutEmpty({ key, line, value }) };
      if (key !== 'fallback' || value.kind !== 'list') return { key, line, value };
      const items = value.items.map((item) => withoutEmpty({ key, line: item.line, value: item }));
      return { key, line, value: { ...value, items } };
    });
  return sourceMap(
    root.line,
    mapEntries(withoutNoise({ key: '', line: root.line, value: sourceMap(root.line, entries) })),
  );
}

function withoutEmpty(entry: SourceEntry): SourceNode {
  const { value } = withoutNoise(entry);
  if (value.kind !== 'map') return value;
  return sourceMap(
    value.line,
    value.entries.filter((inner) => !(optionalParts.has(inner.key) && isEmpty(inner.value))),
  );
}

const optionalParts: ReadonlySet<string> = new Set(['args', 'env', 'headers']);

function isEmpty(node: SourceNode): boolean {
  return node.kind === 'map' ? node.entries.length === 0 : node.kind === 'list' && node.items.length === 0;
}

function mapEntries({ value }: SourceEntry): readonly SourceEntry[] {
  return value.kind === 'map' ? value.entries : [];
}
