import { isDeepStrictEqual } from 'node:util';
import { type Edited, putMember, removeItem, removeMember } from '../text/edit-text.ts';
import { insertWritten } from '../text/flow-edits.ts';
import { splice } from '../text/line-text.ts';
import { openTree, parseText } from '../text/open-tree.ts';
import { type Dialect, nodeAt, plainOf, type TextNode, type TextTree } from '../text/text-tree.ts';
import { appendToToml } from '../text/toml-edits.ts';
import type { KeyPath, TakenStep, TakenSteps } from './file-step.ts';
import { isSameContent } from './plain-value.ts';

export type UndoOutcome =
  /** `changed`: what the steps wrote there was changed since, and has gone or been replaced all the same. */
  | { readonly kind: 'undone'; readonly text: string; readonly changed: readonly KeyPath[] }
  | { readonly kind: 'refused'; readonly path: KeyPath };

/** The text as it would be if the steps had never been taken. Keeps what others changed since. */
export function undoSteps({ taken, splices, after }: TakenSteps, current: string, dialect: Dialect): UndoOutcome {
  if (current === after) return { kind: 'undone', text: undoSplices(splices, after, current) ?? current, changed: [] };
  const changed: KeyPath[] = [];
  let text = current;
  for (const each of taken.toReversed()) {
    const opened = openTree(text, dialect);
    const next = opened.kind === 'tree' ? undoStep(opened.tree, each, changed) : undefined;
    if (next === undefined) return { kind: 'refused', path: each.step.path };
    text = next;
  }
  const exact = undoSplices(splices, after, current);
  const same = exact !== undefined && isSameContent(parseText(exact, dialect), parseText(text, dialect), dialect);
  return { kind: 'undone', text: same ? exact : text, changed };
}

/**
 * Takes the splices back by their positions. Others may have changed one part of the text since, as long as no splice is
 * in that part.
 */
function undoSplices(splices: TakenSteps['splices'], after: string, current: string): string | undefined {
  const most = Math.min(after.length, current.length);
  let head = 0;
  while (head < most && after[head] === current[head]) head += 1;
  let tail = 0;
  while (tail < most - head && after.at(-1 - tail) === current.at(-1 - tail)) tail += 1;
  let [text, length] = [current, after.length];
  for (const { at, removed, inserted } of splices.toReversed()) {
    const end = at + inserted.length;
    // Where something was only taken out, a change right there could be on either side of it.
    const room = inserted === '' && head < length ? 1 : 0;
    const isBefore = end + room <= head;
    if (!isBefore && at < length - tail + room) return undefined;
    const from = isBefore ? at : text.length - (length - at);
    text = splice(text, from, from + inserted.length, removed);
    const grown = removed.length - inserted.length;
    if (isBefore) head += grown;
    else tail += grown;
    length += grown;
  }
  return text;
}

/** Undefined if the text cannot be edited there. */
function undoStep(tree: TextTree, each: TakenStep, changed: KeyPath[]): string | undefined {
  const { step, replaced } = each;
  const { text, dialect, root } = tree;
  const found = nodeAt(root, step.path);
  if (step.kind === 'remove') return found === undefined ? restore(tree, step.path, each) : text;
  if (found === undefined) return text;
  if (step.kind === 'include') {
    if (found.kind !== 'list' || !found.items.some((item) => plainOf(item) === step.item)) return text;
    return cleared(removeItem(text, dialect, step.path, step.item), dialect, step.path, each.made);
  }
  if (replaced !== undefined && text.slice(found.start, found.end) === replaced) return text;
  if (!isDeepStrictEqual(plainOf(found), step.value)) changed.push(step.path);
  if (replaced !== undefined) return splice(text, found.start, found.end, replaced);
  return cleared(removeMember(text, dialect, step.path), dialect, step.path.slice(0, -1), each.made);
}

/** Puts a removed member back where it was, as it was written. */
function restore(tree: TextTree, path: KeyPath, { replaced, behind }: TakenStep): string | undefined {
  const { text, dialect, root } = tree;
  if (replaced === undefined) return undefined;
  if (dialect === 'toml') return appendToToml(text, replaced);
  const map = nodeAt(root, path.slice(0, -1));
  if (map === undefined) {
    const made = putMember(text, dialect, path.slice(0, -1), {});
    const opened = made.kind === 'edited' ? openTree(made.text, dialect) : undefined;
    return opened?.kind === 'tree'
      ? restore(opened.tree, path, { replaced, behind, step: { kind: 'remove', path }, made: 0 })
      : undefined;
  }
  if (map.kind !== 'map' || !map.flow) return undefined;
  const at = map.members.findIndex(({ key }) => key === behind);
  return insertWritten(tree, map, behind !== undefined && at < 0 ? map.members.length - 1 : at, replaced);
}

/** Removes the maps and lists that a step made, as far as they are empty again. */
function cleared(edited: Edited, dialect: Dialect, path: KeyPath, made: number): string | undefined {
  if (edited.kind !== 'edited') return undefined;
  if (made === 0 || path.length === 0) return edited.text;
  const opened = openTree(edited.text, dialect);
  const found = opened.kind === 'tree' ? nodeAt(opened.tree.root, path) : undefined;
  // Tables of TOML that nothing is in have no text either.
  if (found === undefined || !isEmpty(found, edited.text)) return edited.text;
  const next = removeMember(edited.text, dialect, path);
  return next.kind === 'edited' ? cleared(next, dialect, path.slice(0, -1), made - 1) : edited.text;
}

/** Without comments of a person, too. */
function isEmpty(node: TextNode, text: string): boolean {
  if (node.kind === 'scalar') return node.value === null;
  if ((node.kind === 'map' ? node.members : node.items).length > 0) return false;
  return !node.flow || text.slice(node.start + 1, node.end - 1).trim() === '';
}
