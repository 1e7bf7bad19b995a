import { createScanner } from 'jsonc-parser';
import { eolOf, indentAt, splice, startsLine } from './line-text.ts';
import { memberEnd, type TextList, type TextMap, type TextSpan, type TextTree } from './text-tree.ts';

/** A map or list in brackets. */
type FlowGroup = TextMap | TextList;

/** Inserts an entry as the last one: on its own line if the others have one. */
export function insertIntoFlow(
  tree: TextTree,
  group: FlowGroup,
  render: (indent: string | undefined) => string,
): string {
  const { text } = tree;
  const spans = spansOf(group);
  const [first, last] = [spans[0], spans.at(-1)];
  if (first === undefined || last === undefined) return fillFlow(tree, group, render);
  const close = group.end - 1;
  const comma = findComma(tree, last.end, close);
  if (!text.slice(group.start, first.start).includes('\n')) {
    const at = comma === undefined ? last.end : comma + 1;
    return splice(text, at, at, comma === undefined ? `, ${render(undefined)}` : ` ${render(undefined)},`);
  }
  const inner = indentAt(text, first.start);
  const end = text.slice(0, close).trimEnd().length;
  const added = splice(text, end, end, `${eolOf(text)}${inner}${render(inner)}${comma === undefined ? '' : ','}`);
  return comma === undefined ? splice(added, last.end, last.end, ',') : added;
}

/** Puts the first entry between brackets, after the comments that are there. */
function fillFlow(tree: TextTree, group: FlowGroup, render: (indent: string | undefined) => string): string {
  const { text } = tree;
  const [open, close] = [group.start, group.end - 1];
  const between = text.slice(open + 1, close);
  if (group.kind === 'list' && between.trim() === '') return splice(text, open + 1, close, render(undefined));
  if (between.trim() === '' && isOneLine(tree)) return splice(text, open + 1, close, render(undefined));
  const eol = eolOf(text);
  const outer = indentAt(text, open);
  const inner = outer + unitOf(tree);
  const end = open + 1 + between.trimEnd().length;
  const tail = text.slice(end, close);
  return splice(text, end, close, `${eol}${inner}${render(inner)}${tail.includes('\n') ? tail : eol + outer}`);
}

/** Inserts an entry as it is written, behind the one at `index`; -1 puts it first. */
export function insertWritten(tree: TextTree, group: FlowGroup, index: number, written: string): string {
  const { text } = tree;
  const spans = spansOf(group);
  const [first, before] = [spans[0], spans[index]];
  if (first === undefined) return fillFlow(tree, group, () => written);
  const isApart = text.slice(group.start, first.start).includes('\n');
  const gap = isApart ? eolOf(text) + indentAt(text, first.start) : ' ';
  if (before !== undefined) return splice(text, before.end, before.end, `,${gap}${written}`);
  return splice(text, first.start, first.start, `${written},${gap}`);
}

/** Removes the entry at `index`, its comma and its line. Comments stay. */
export function removeFromFlow(tree: TextTree, group: FlowGroup, index: number): string {
  const { text } = tree;
  const spans = spansOf(group);
  const [before, own, next] = [spans[index - 1], spans[index], spans[index + 1]];
  if (own === undefined) return text;
  const comma = findComma(tree, own.end, next?.start ?? group.end - 1);
  const earlier = before === undefined || comma !== undefined ? undefined : findComma(tree, before.end, own.start);
  const ownLine = startsLine(text, own.start);
  const start = ownLine ? lineBreakBefore(text, own.start) : own.start;
  let result = text;
  if (comma !== undefined) {
    const blanks = ownLine || next === undefined ? 0 : blanksAt(text, comma + 1);
    result = splice(result, comma, comma + 1 + blanks, '');
  }
  result = splice(result, Math.max(start, group.start + 1), own.end, '');
  if (earlier !== undefined) {
    const isBlank = text.slice(earlier + 1, own.start).trim() === '';
    result = splice(result, earlier, isBlank && !ownLine ? own.start : earlier + 1, '');
  } else if (!ownLine && comma !== undefined && next === undefined && before !== undefined) {
    result = withoutBlanksBefore(result, own.start);
  }
  const close = group.end - 1 - (text.length - result.length);
  const isEmpty = spans.length === 1 && result.slice(group.start + 1, close).trim() === '';
  return isEmpty ? splice(result, group.start + 1, close, '') : result;
}

function spansOf(group: FlowGroup): readonly TextSpan[] {
  if (group.kind === 'list') return group.items;
  return group.members.map((member) => ({ start: member.keyStart, end: memberEnd(member) }));
}

/** The first comma between two positions that is not in a comment. */
function findComma({ text, dialect }: TextTree, from: number, to: number): number | undefined {
  if (dialect === 'jsonc') {
    const scanner = createScanner(text, true);
    scanner.setPosition(from);
    scanner.scan();
    const at = scanner.getTokenOffset();
    return text[at] === ',' ? at : undefined;
  }
  const between = text.slice(from, to).replace(/(^|\s)#[^\r\n]*/g, (found) => ' '.repeat(found.length));
  const at = between.indexOf(',');
  return at < 0 ? undefined : from + at;
}

function lineBreakBefore(text: string, offset: number): number {
  const newLine = text.lastIndexOf('\n', offset - 1);
  return text[newLine - 1] === '\r' ? newLine - 1 : Math.max(newLine, 0);
}

function blanksAt(text: string, offset: number): number {
  let end = offset;
  while (text[end] === ' ' || text[end] === '\t') end += 1;
  return end - offset;
}

function withoutBlanksBefore(text: string, offset: number): string {
  let start = offset;
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start -= 1;
  return splice(text, start, offset, '');
}

/** A document without line breaks stays so, unless it has nothing in it yet. */
function isOneLine({ text, root }: TextTree): boolean {
  return root?.kind === 'map' && root.members.length > 0 && !text.trim().includes('\n');
}

/** One level of indentation, which may be a tab. */
export function unitOf({ text, root }: TextTree): string {
  const first = root?.kind === 'map' ? root.members[0] : undefined;
  const isApart =
    first !== undefined && startsLine(text, first.keyStart) && text.slice(0, first.keyStart).includes('\n');
  return (isApart ? indentAt(text, first.keyStart) : '') || '  ';
}
