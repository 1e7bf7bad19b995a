import { isAlias, isMap, isNode, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import type { Edited } from './edit-text.ts';
import { type Dialect, endOf, openTree, type TextTree, textMembersOf, textStartOf } from './text-tree.ts';

/** A text in a file, as a reader found it. */
export interface TextPlace {
  /** The map that contains it. */
  readonly within: readonly string[];
  /** Its dotted path in that map. Keys may contain dots too. */
  readonly field: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** Replaces every `part` of one text. Leaves everything else as it is, byte by byte. */
export function replacePart(
  text: string,
  dialect: Dialect,
  place: TextPlace,
  { part, by }: { readonly part: string; readonly by: string },
): Edited {
  const opened = openTree(text, dialect);
  const found = opened.kind === 'tree' ? findText(opened.tree, place) : undefined;
  if (opened.kind !== 'tree' || found === undefined || part === '' || !place.text.includes(part)) return unsupported;
  const next = place.text.replaceAll(part, () => by);
  const [start, end] = [textStartOf(found.node), endOf(found.node)];
  const written = text.slice(start, end);
  const expected = textsOf(opened.tree.root).map((each) => (each.node === found.node ? next : each.text));
  // As it is written, if the part is written plainly and the new text needs no quotes; else in quotes.
  for (const way of [written.replaceAll(part, () => by), JSON.stringify(next)]) {
    const edited = text.slice(0, start) + way + text.slice(end);
    if (hasTexts(edited, dialect, expected)) return { kind: 'edited', text: edited };
  }
  return unsupported;
}

const unsupported: Edited = { kind: 'unsupported' };

export interface FoundText {
  readonly path: string;
  readonly text: string;
  readonly node: Node;
}

/** By its path, or by its line where a format moves keys around; undefined if it could be several. */
function findText(tree: TextTree, { within, field, line, text }: TextPlace): FoundText | undefined {
  const prefix = within.map((key) => `${key}.`).join('');
  const all = textsOf(tree.root).filter(
    (each) => isScalar(each.node) && each.text === text && each.path.startsWith(prefix),
  );
  const byPath = all.filter(({ path }) => path === prefix + field);
  const [first, second] =
    byPath.length > 0 ? byPath : all.filter(({ node }) => tree.lineOf(textStartOf(node)) === line);
  return second === undefined ? first : undefined;
}

/** Every key and text of a tree, in order. */
export function textsOf(root: Node | undefined): FoundText[] {
  const found: FoundText[] = [];
  const visit = (node: Node | undefined, path: string): void => {
    const inner = path === '' ? '' : `${path}.`;
    if (isMap(node)) {
      for (const { key, keyNode, value } of textMembersOf(node)) {
        found.push({ path: `${inner}${key} (key)`, text: key, node: keyNode });
        visit(value, inner + key);
      }
    } else if (isSeq(node)) {
      for (const [at, item] of node.items.entries()) visit(isNode(item) ? item : undefined, inner + at);
    } else if (isScalar(node)) {
      found.push({ path, text: textOf(node), node });
    } else if (isAlias(node)) {
      found.push({ path, text: `*${node.source}`, node });
    }
  };
  visit(root, '');
  return found;
}

/** As the configuration reads it: a number is the text that was written. */
function textOf({ value, source }: Scalar): string {
  return typeof value === 'string' ? value : (source ?? String(value));
}

function hasTexts(text: string, dialect: Dialect, expected: readonly string[]): boolean {
  const opened = openTree(text, dialect);
  if (opened.kind !== 'tree') return false;
  const found = textsOf(opened.tree.root);
  return found.length === expected.length && found.every((each, at) => each.text === expected[at]);
}
