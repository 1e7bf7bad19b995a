import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { blankComments } from './blank-comments.ts';

export type Dialect = 'yaml' | 'jsonc';

/** A file's text and the positions in it. */
export interface TextTree {
  readonly text: string;
  /** As long as `text`, with JSON comments replaced by blanks. */
  readonly bare: string;
  readonly dialect: Dialect;
  /** Undefined for an empty file. */
  readonly root: Node | undefined;
  /** Counted from 1. */
  lineOf(offset: number): number;
}

export type OpenedTree = { readonly kind: 'tree'; readonly tree: TextTree } | { readonly kind: 'broken' };

export function openTree(text: string, dialect: Dialect): OpenedTree {
  const bare = dialect === 'jsonc' ? blankComments(text) : text;
  const lines = new LineCounter();
  const document = parseDocument(bare, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  if (document.errors.length > 0) return { kind: 'broken' };
  const root = document.contents ?? undefined;
  return { kind: 'tree', tree: { text, bare, dialect, root, lineOf: (offset) => lines.linePos(offset).line } };
}

/** One `key: value`; the value may be missing. */
export interface TextMember {
  readonly key: string;
  readonly keyNode: Node;
  readonly value: Node | undefined;
}

export function textMembersOf(map: YAMLMap): TextMember[] {
  return map.items.flatMap((pair: Pair) => {
    const { key, value } = pair;
    if (!isScalar(key)) return [];
    return [{ key: String(key.value), keyNode: key, value: isNode(value) ? value : undefined }];
  });
}

export function memberAt(node: Node | undefined, key: string): TextMember | undefined {
  return isMap(node) ? textMembersOf(node).find((member) => member.key === key) : undefined;
}

export function nodeAt(root: Node | undefined, path: readonly string[]): Node | undefined {
  let here = root;
  for (const key of path) here = memberAt(here, key)?.value;
  return here;
}

/** The path of the member with that key whose key is on that line. */
export function findTextMember(tree: TextTree, key: string, line: number): readonly string[] | undefined {
  const search = (node: Node | undefined, path: readonly string[]): readonly string[] | undefined => {
    if (!isMap(node)) return undefined;
    for (const member of textMembersOf(node)) {
      const here = [...path, member.key];
      if (member.key === key && tree.lineOf(textStartOf(member.keyNode)) === line) return here;
      const deeper = search(member.value, here);
      if (deeper !== undefined) return deeper;
    }
    return undefined;
  };
  return search(tree.root, []);
}

export function isEmptyScalar(node: Node | undefined): boolean {
  return node === undefined || (isScalar(node) && node.value === null);
}

export function textStartOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/** The end of the text a person wrote. The parser counts comments and empty lines after a block as part of it. */
export function endOf(node: Node): number {
  if (isMap(node) && node.flow !== true) {
    const last = textMembersOf(node).at(-1);
    if (last !== undefined) return endOf(last.value ?? last.keyNode);
  }
  if (isSeq(node) && node.flow !== true) {
    const last = node.items.at(-1);
    if (isNode(last)) return endOf(last);
  }
  return node.range?.[1] ?? 0;
}

export function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

/** The value of a boolean member; undefined if it is missing, null if it is something else. */
export function flagOf(tree: TextTree, path: readonly string[], key: string): boolean | null | undefined {
  const member = memberAt(nodeAt(tree.root, path), key);
  if (member === undefined) return undefined;
  const value = isScalar(member.value) ? member.value.value : null;
  return typeof value === 'boolean' ? value : null;
}
