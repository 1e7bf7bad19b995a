/**
 * The contents of a file with line numbers, independent of its syntax. Readers work on this. A map keeps its entries in
 * a list, so no key is special to JavaScript.
 */
export type SourceNode = SourceMap | SourceList | SourceScalar;

export interface SourceMap {
  readonly kind: 'map';
  readonly line: number;
  /** In the order written, including repeated keys. */
  readonly entries: readonly SourceEntry[];
  /** The first entry for each key. */
  readonly index: ReadonlyMap<string, SourceEntry>;
}

export interface SourceEntry {
  readonly key: string;
  readonly line: number;
  readonly value: SourceNode;
}

export interface SourceList {
  readonly kind: 'list';
  readonly line: number;
  readonly items: readonly SourceNode[];
}

export interface SourceScalar {
  readonly kind: 'scalar';
  readonly line: number;
  readonly value: string | number | boolean | null;
  /** As written: a version `1.0` or a code `007` would not survive conversion to a number. */
  readonly text: string;
}

export type ParsedSource =
  | { readonly kind: 'tree'; readonly root: SourceNode }
  | { readonly kind: 'broken'; readonly line: number; readonly column: number; readonly message: string };

/** No real configuration nests deeper, and a deeper one could overflow the stack. */
export const maxDepth = 64;

/** Values in one file, with aliases expanded. Leaves room for thousands of servers and stops alias bombs. */
export const maxNodes = 50_000;

export function sourceMap(line: number, entries: readonly SourceEntry[]): SourceMap {
  const index = new Map<string, SourceEntry>();
  for (const entry of entries) if (!index.has(entry.key)) index.set(entry.key, entry);
  return { kind: 'map', line, entries, index };
}

/** The value of the first entry with that key. A key without a value counts as absent. */
export function child(node: SourceNode | undefined, key: string): SourceNode | undefined {
  const value = entryOf(node, key)?.value;
  return value === undefined || isNull(value) ? undefined : value;
}

export function entryOf(node: SourceNode | undefined, key: string): SourceEntry | undefined {
  return node?.kind === 'map' ? node.index.get(key) : undefined;
}

export function isNull(node: SourceNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/** The line of the deepest existing part of the path. */
export function lineAt(node: SourceNode, path: readonly PropertyKey[]): number {
  let line = node.line;
  let here: SourceNode | undefined = node;
  for (const step of path) {
    if (here?.kind === 'map') {
      const entry = entryOf(here, String(step));
      if (entry === undefined) return line;
      line = entry.line;
      here = entry.value;
    } else if (here?.kind === 'list') {
      here = here.items[Number(step)];
      if (here === undefined) return line;
      line = here.line;
    }
  }
  return line;
}

/** Plain values for schema checks. The objects have no prototype, so no key is special. */
export function toPlain(node: SourceNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(toPlain);
  const plain: Record<string, unknown> = Object.create(null);
  for (const entry of node.entries) plain[entry.key] = toPlain(entry.value);
  return plain;
}
