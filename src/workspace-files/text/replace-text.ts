import type { Edited } from './edit-text.ts';
import { openTree } from './open-tree.ts';
import type { Dialect, TextNode, TextScalar, TextTree } from './text-tree.ts';

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
  const { start, end } = found;
  const written = text.slice(start, end);
  const expected = textsOf(opened.tree.root).map((each) => (each.start === start ? next : each.text));
  // As it is written, if the part is written plainly and the new text needs no quotes; else in quotes.
  for (const way of [written.replaceAll(part, () => by), JSON.stringify(next)]) {
    const edited = text.slice(0, start) + way + text.slice(end);
    if (hasTexts(edited, dialect, expected)) return { kind: 'edited', text: edited };
  }
  return unsupported;
}

const unsupported: Edited = { kind: 'unsupported' };

interface FoundText {
  readonly path: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Undefined for a key. */
  readonly scalar: TextScalar | undefined;
}

/** By its path, or by its line where a format moves keys around; undefined if it could be several. */
function findText(tree: TextTree, { within, field, line, text }: TextPlace): FoundText | undefined {
  const prefix = within.map((key) => `${key}.`).join('');
  const all = textsOf(tree.root).filter(
    ({ scalar, text: own, path }) => scalar?.alias === false && own === text && path.startsWith(prefix),
  );
  const byPath = all.filter(({ path }) => path === prefix + field);
  const [first, second] = byPath.length > 0 ? byPath : all.filter(({ start }) => tree.lineOf(start) === line);
  return second === undefined ? first : undefined;
}

/** Every key and text of a tree, in order. */
function textsOf(root: TextNode | undefined): FoundText[] {
  const found: FoundText[] = [];
  const visit = (node: TextNode | undefined, path: string): void => {
    const inner = path === '' ? '' : `${path}.`;
    if (node?.kind === 'map') {
      for (const { key, keyStart: start, keyEnd: end, value } of node.members) {
        found.push({ path: `${inner}${key} (key)`, text: key, start, end, scalar: undefined });
        visit(value, inner + key);
      }
    } else if (node?.kind === 'list') {
      for (const [at, item] of node.items.entries()) visit(item, inner + at);
    } else if (node !== undefined) {
      found.push({ path, text: node.text, start: node.start, end: node.end, scalar: node });
    }
  };
  visit(root, '');
  return found;
}

function hasTexts(text: string, dialect: Dialect, expected: readonly string[]): boolean {
  const opened = openTree(text, dialect);
  if (opened.kind !== 'tree') return false;
  const found = textsOf(opened.tree.root);
  return found.length === expected.length && found.every((each, at) => each.text === expected[at]);
}
