import { isMap, visit, type YAMLMap } from 'yaml';
import type { Edited } from './edit-text.ts';
import { textsOf } from './replace-text.ts';
import {
  type Dialect,
  endOf,
  memberAt,
  nodeAt,
  openTree,
  type TextMember,
  type TextTree,
  textMembersOf,
  textStartOf,
} from './text-tree.ts';

/**
 * Removes the member at `path` with its own lines: comments inside it and at the end of its last line go too. Leaves
 * everything else as it is, byte by byte.
 */
export function removeMember(text: string, dialect: Dialect, path: readonly string[]): Edited {
  const opened = openTree(text, dialect);
  if (opened.kind !== 'tree') return unsupported;
  const { tree } = opened;
  const map = nodeAt(tree.root, path.slice(0, -1));
  const members = isMap(map) ? textMembersOf(map) : [];
  const [index, second] = members.flatMap(({ key }, at) => (key === path.at(-1) ? [at] : []));
  const member = index === undefined ? undefined : members[index];
  if (!isMap(map) || index === undefined || member === undefined || second !== undefined) return unsupported;
  const span = { start: textStartOf(member.keyNode), end: endOf(member.value ?? member.keyNode) };
  const edited =
    map.flow === true
      ? removeFromFlow(tree, map, { members, index })
      : removeFromBlock(tree, span, members.length === 1 ? holderOf(tree, path.slice(0, -1)) : undefined);
  return edited !== undefined && isRest(tree, span, edited) ? { kind: 'edited', text: edited } : unsupported;
}

const unsupported: Edited = { kind: 'unsupported' };

interface Span {
  readonly start: number;
  readonly end: number;
}

function holderOf(tree: TextTree, path: readonly string[]): TextMember | undefined {
  return memberAt(nodeAt(tree.root, path.slice(0, -1)), path.at(-1) ?? '');
}

/** `holder` has no other member: without an empty map it would have no value. */
function removeFromBlock({ text }: TextTree, { start, end }: Span, holder: TextMember | undefined): string | undefined {
  const from = lineStart(text, start);
  const to = end > 0 && text[end - 1] === '\n' ? end : afterLine(text, end);
  if (!isBlank(text.slice(from, start)) || !isBlank(withoutComment(text.slice(end, to)))) return undefined;
  const before = isBlankBetween(text, from, to) ? lineStart(text, from - 1) : from;
  const rest = text.slice(0, before) + text.slice(to);
  if (holder === undefined) return rest;
  const colon = text.indexOf(':', endOf(holder.keyNode));
  return `${rest.slice(0, colon + 1)} {}${rest.slice(colon + 1)}`;
}

/** Whether an empty line before and one after it, or the end of the text, would become neighbours. */
function isBlankBetween(text: string, from: number, to: number): boolean {
  if (from === 0 || !isBlank(text.slice(lineStart(text, from - 1), from))) return false;
  return to >= text.length || isBlank(text.slice(to, afterLine(text, to)));
}

/** With its comma. The last one takes the comma before it, unless the file ends its lists with one. */
function removeFromFlow(
  tree: TextTree,
  map: YAMLMap,
  { members, index }: { readonly members: readonly TextMember[]; readonly index: number },
): string | undefined {
  const { text } = tree;
  const [member, previous, next] = [members[index], members[index - 1], members[index + 1]];
  if (member === undefined) return undefined;
  const [open, close] = [textStartOf(map), endOf(map) - 1];
  const [start, end] = [textStartOf(member.keyNode), endOf(member.value ?? member.keyNode)];
  const comma = commaIn(tree, end, next === undefined ? close : textStartOf(next.keyNode));
  const own = ownLines(tree, start, comma === undefined ? end : comma + 1);
  const before =
    comma === undefined && previous !== undefined
      ? commaIn(tree, endOf(previous.value ?? previous.keyNode), start)
      : undefined;
  const kept =
    before === undefined
      ? text.slice(0, own.start)
      : text.slice(0, before) + (own.isWhole ? text.slice(before + 1, own.start) : '');
  const rest = kept + text.slice(own.end);
  const closed = close - (text.length - rest.length);
  return members.length === 1 && isBlank(rest.slice(open + 1, closed))
    ? rest.slice(0, open + 1) + rest.slice(closed)
    : rest;
}

/** The lines of a member that has them to itself, else its text with the blanks after it. */
function ownLines(tree: TextTree, start: number, end: number): Span & { readonly isWhole: boolean } {
  const { text } = tree;
  const [from, to] = [lineStart(text, start), afterLine(text, end)];
  const isWhole = isBlank(text.slice(from, start)) && isBlank(gap(tree, end, to)) && from > 0;
  if (isWhole) return { start: from, end: to, isWhole };
  const blanks = /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  return { start, end: end + blanks, isWhole };
}

function commaIn(tree: TextTree, from: number, to: number): number | undefined {
  const at = gap(tree, from, to).indexOf(',');
  return at < 0 ? undefined : from + at;
}

/** The text between two members, with its comments replaced by blanks. */
function gap({ bare, dialect }: TextTree, from: number, to: number): string {
  const text = bare.slice(from, to);
  return dialect === 'yaml' ? text.replace(/(^|\s)#[^\r\n]*/g, (found) => ' '.repeat(found.length)) : text;
}

function lineStart(text: string, offset: number): number {
  return offset <= 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

function afterLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function withoutComment(text: string): string {
  return text.replace(/(^|\s)#.*$/s, '');
}

/** Whether the edited text says everything that the text said outside the span, in the same order. */
function isRest(tree: TextTree, { start, end }: Span, edited: string): boolean {
  const opened = openTree(edited, tree.dialect);
  if (opened.kind !== 'tree') return false;
  const expected = textsOf(tree.root).filter(({ node }) => {
    const offset = textStartOf(node);
    // At the end are the next key after a block of text, or a value that is empty.
    return offset < start || offset > end || (offset === end && endOf(node) > end);
  });
  const found = textsOf(opened.tree.root);
  const isSame = found.length === expected.length && found.every(({ text }, at) => text === expected[at]?.text);
  return isSame && !leavesAlias(opened.tree);
}

/** Whether an alias refers to an anchor that was removed. */
function leavesAlias({ root }: TextTree): boolean {
  const anchors = new Set<string>();
  let isLeft = false;
  visit(root ?? null, {
    Alias: (_key, { source }) => {
      isLeft ||= !anchors.has(source);
    },
    Value: (_key, { anchor }) => {
      if (anchor !== undefined) anchors.add(anchor);
    },
  });
  return isLeft;
}
