import { indentLines, insertLines, removeLines, splice } from './line-text.ts';
import { type Plain, renderBlock } from './render-member.ts';
import { columnOf, memberEnd, type TextList, type TextMap, type TextMember, type TextTree } from './text-tree.ts';

/** Appends a member to a YAML map that has lines of its own. */
export function putInBlock(tree: TextTree, map: TextMap, key: string, value: Plain): string {
  const { text } = tree;
  const [first, last, before] = [map.members[0], map.members.at(-1), map.members.at(-2)];
  if (first === undefined || last === undefined) return text;
  const column = columnOf(text, first.keyStart);
  const lines = indentLines(renderBlock(key, value, stepOf(tree)), column);
  const isSection = column === 0 && typeof value === 'object';
  const spaced = isSection || (before !== undefined && hasBlankLine(text.slice(memberEnd(before), last.keyStart)));
  return insertLines(text, memberEnd(last), spaced ? ['', ...lines] : lines);
}

/** For `servers:` without a value, or with an empty `{}`. */
export function fillBlock(tree: TextTree, { keyStart, keyEnd }: TextMember, key: string, value: Plain): string {
  const column = columnOf(tree.text, keyStart) + stepOf(tree);
  return insertLines(tree.text, keyEnd, indentLines(renderBlock(key, value, stepOf(tree)), column));
}

/** The same where the value is `{}`, which goes. */
export function fillEmptyBlock(tree: TextTree, holder: TextMember, key: string, value: Plain): string {
  const { text } = tree;
  const from = text.slice(0, holder.value?.start ?? holder.keyEnd).trimEnd().length;
  const bare = { ...tree, text: splice(text, from, memberEnd(holder), '') };
  return fillBlock(bare, holder, key, value);
}

export function appendToEnd({ text }: TextTree, key: string, value: Plain): string {
  const lines = renderBlock(key, value, 2);
  return insertLines(text, text.length, text.trim() === '' ? lines : ['', ...lines]);
}

export function appendToBlock({ text }: TextTree, list: TextList, item: string): string {
  const last = list.items.at(-1);
  if (last === undefined) return text;
  const dash = text.lastIndexOf('-', last.start);
  const [line = item] = renderBlock('x', item, 2).map((each) => each.replace(/^x: /, ''));
  return insertLines(text, last.end, indentLines([`- ${line}`], columnOf(text, dash)));
}

/** Removes a member with its lines. */
export function removeFromBlock({ text }: TextTree, member: TextMember): string {
  return removeLines(text, member.keyStart, memberEnd(member));
}

/** The indentation step of this file, taken from its first nested map. */
function stepOf({ text, root }: TextTree): number {
  const outer = root?.kind === 'map' && !root.flow ? root.members : [];
  for (const { value } of outer) {
    const inner = value?.kind === 'map' && !value.flow ? value.members[0] : undefined;
    if (inner !== undefined) return Math.max(1, columnOf(text, inner.keyStart));
  }
  return 2;
}

function hasBlankLine(text: string): boolean {
  return /\n[ \t]*\r?\n/.test(text);
}
