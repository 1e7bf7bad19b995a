export type Dialect = 'yaml' | 'jsonc' | 'toml';

/** A file's text and the positions in it. */
export interface TextTree {
  readonly text: string;
  readonly dialect: Dialect;
  /** Undefined for an empty file. */
  readonly root: TextNode | undefined;
  /** Counted from 1. */
  lineOf(offset: number): number;
}

export type TextNode = TextMap | TextList | TextScalar;

export interface TextSpan {
  readonly start: number;
  /** The end of the text a person wrote, without comments and empty lines after it. */
  readonly end: number;
}

interface TextGroup extends TextSpan {
  /** Written in brackets. */
  readonly flow: boolean;
}

export interface TextMap extends TextGroup {
  readonly kind: 'map';
  readonly members: readonly TextMember[];
}

export interface TextList extends TextGroup {
  readonly kind: 'list';
  readonly items: readonly TextNode[];
}

export interface TextScalar extends TextSpan {
  readonly kind: 'scalar';
  /** `text` is what the configuration reads: a number is the text that was written. */
  readonly value: unknown;
  readonly text: string;
  /** Refers to another node, so that its text is not its own. */
  readonly alias: boolean;
}

/** One `key: value`; the value may be missing. */
export interface TextMember {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: TextNode | undefined;
}

export type OpenedTree =
  | { readonly kind: 'tree'; readonly tree: TextTree }
  | { readonly kind: 'broken'; readonly line: number; readonly message: string };

export function memberAt(node: TextNode | undefined, key: string): TextMember | undefined {
  return node?.kind === 'map' ? node.members.find((member) => member.key === key) : undefined;
}

export function nodeAt(root: TextNode | undefined, path: readonly string[]): TextNode | undefined {
  let here = root;
  for (const key of path) here = memberAt(here, key)?.value;
  return here;
}

/**
 * The path of the member with that key whose key is on that line. A name that the configuration changed is not the key
 * any more, so that the only map on that line counts too.
 */
export function findTextMember(tree: TextTree, key: string, line: number): readonly string[] | undefined {
  const onLine: (readonly string[])[] = [];
  const search = (node: TextNode | undefined, path: readonly string[]): readonly string[] | undefined => {
    if (node?.kind !== 'map') return undefined;
    for (const member of node.members) {
      const here = [...path, member.key];
      const isOnLine = tree.lineOf(member.keyStart) === line;
      if (isOnLine && member.key === key) return here;
      if (isOnLine && member.value?.kind === 'map') onLine.push(here);
      const deeper = search(member.value, here);
      if (deeper !== undefined) return deeper;
    }
    return undefined;
  };
  const named = search(tree.root, []);
  return named ?? (onLine.length === 1 ? onLine[0] : undefined);
}

export function isEmptyScalar(node: TextNode | undefined): boolean {
  return node === undefined || (node.kind === 'scalar' && node.value === null);
}

export function memberEnd({ value, keyEnd }: TextMember): number {
  return value?.end ?? keyEnd;
}

export function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

/** The value of a boolean member; undefined if it is missing, null if it is something else. */
export function flagOf(tree: TextTree, path: readonly string[], key: string): boolean | null | undefined {
  const member = memberAt(nodeAt(tree.root, path), key);
  if (member === undefined) return undefined;
  const value = member.value?.kind === 'scalar' ? member.value.value : null;
  return typeof value === 'boolean' ? value : null;
}

/** The content of a node, without its text. */
export function plainOf(node: TextNode | undefined): unknown {
  if (node === undefined) return null;
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainOf);
  return Object.fromEntries(node.members.map(({ key, value }) => [key, plainOf(value)]));
}

/** Finds the line of an offset. */
export function createLineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
