import { isMap, isNode, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import { type Plain, renderBlock, renderJson } from './render-member.ts';
import {
  columnOf,
  type Dialect,
  endOf,
  isEmptyScalar,
  memberAt,
  nodeAt,
  openTree,
  type TextMember,
  type TextTree,
  textMembersOf,
  textStartOf,
} from './text-tree.ts';

/** `unsupported`: the text cannot be parsed, or something else is in the way of the change. */
export type Edited = { readonly kind: 'edited'; readonly text: string } | { readonly kind: 'unsupported' };

/** Appends `key: value` to the map at `path`, creating the map if it is missing. Leaves everything else as it is. */
export function putMember(text: string, dialect: Dialect, path: readonly string[], key: string, value: Plain): Edited {
  const tree = treeOf(text, dialect);
  if (tree === undefined) return unsupported;
  const [parent, last] = [path.slice(0, -1), path.at(-1)];
  const map = nodeAt(tree.root, path);
  if (isMap(map)) {
    return edited(map.flow === true ? putInFlow(tree, path, map, key, value) : putInBlock(tree, map, key, value));
  }
  if (!isEmptyScalar(map)) return unsupported;
  if (last === undefined) return edited(appendToEnd(tree, key, value));
  const holder = memberAt(nodeAt(tree.root, parent), last);
  if (holder === undefined) return putMember(text, dialect, parent, last, { [key]: value });
  if (dialect === 'yaml' && !isInFlow(tree, parent)) return edited(fillMember(tree, holder, key, value));
  if (map === undefined) return unsupported;
  return edited(splice(text, textStartOf(map), endOf(map), inlineMap(tree, key, value)));
}

/** Sets a member to true or false, adding it if it is missing. */
export function setFlag(text: string, dialect: Dialect, path: readonly string[], key: string, on: boolean): Edited {
  const tree = treeOf(text, dialect);
  if (tree === undefined) return unsupported;
  const member = memberAt(nodeAt(tree.root, path), key);
  if (member === undefined) return putMember(text, dialect, path, key, on);
  const { value } = member;
  if (value === undefined || !isScalar(value)) return unsupported;
  const [start, end] = [textStartOf(value), endOf(value)];
  return edited(splice(text, start, end, start === end ? ` ${on}` : String(on)));
}

/** Appends a text to the list at `path`, which must exist. */
export function appendItem(text: string, dialect: Dialect, path: readonly string[], item: string): Edited {
  const tree = treeOf(text, dialect);
  if (tree === undefined) return unsupported;
  const list = nodeAt(tree.root, path);
  if (!isSeq(list)) return unsupported;
  return edited(list.flow === true ? appendToFlow(tree, list, item) : appendToBlock(tree, list, item));
}

const unsupported: Edited = { kind: 'unsupported' };

function edited(text: string): Edited {
  return { kind: 'edited', text };
}

function treeOf(text: string, dialect: Dialect): TextTree | undefined {
  const opened = openTree(text, dialect);
  return opened.kind === 'tree' ? opened.tree : undefined;
}

function isInFlow(tree: TextTree, path: readonly string[]): boolean {
  return path.some((_, length) => isFlow(nodeAt(tree.root, path.slice(0, length)))) || isFlow(nodeAt(tree.root, path));
}

function isFlow(node: Node | undefined): boolean {
  return isMap(node) && node.flow === true;
}

function putInBlock(tree: TextTree, map: YAMLMap, key: string, value: Plain): string {
  const members = textMembersOf(map);
  const [first, last, before] = [members[0], members.at(-1), members.at(-2)];
  if (first === undefined || last === undefined) return tree.text;
  const column = columnOf(tree.text, textStartOf(first.keyNode));
  const lines = indent(renderBlock(key, value, stepOf(tree)), column);
  const isSection = column === 0 && typeof value === 'object';
  const spaced =
    isSection ||
    (before !== undefined &&
      hasBlankLine(tree.text.slice(endOf(before.value ?? before.keyNode), textStartOf(last.keyNode))));
  return insertLines(tree.text, endOf(last.value ?? last.keyNode), spaced ? ['', ...lines] : lines);
}

/** For `servers:` without a value, or with an empty `{}`. */
function fillMember(tree: TextTree, { keyNode }: TextMember, key: string, value: Plain): string {
  const column = columnOf(tree.text, textStartOf(keyNode)) + stepOf(tree);
  return insertLines(tree.text, endOf(keyNode), indent(renderBlock(key, value, stepOf(tree)), column));
}

function appendToEnd({ text }: TextTree, key: string, value: Plain): string {
  const lines = renderBlock(key, value, 2);
  return insertLines(text, text.length, text.trim() === '' ? lines : ['', ...lines]);
}

function putInFlow(tree: TextTree, path: readonly string[], map: YAMLMap, key: string, value: Plain): string {
  const { text, dialect } = tree;
  const members = textMembersOf(map);
  const first = members[0];
  if (first === undefined && dialect === 'yaml' && path.length > 0 && !isInFlow(tree, path.slice(0, -1))) {
    const from = text.slice(0, textStartOf(map)).trimEnd().length;
    return fillMember({ ...tree, text: splice(text, from, endOf(map), '') }, keyOf(tree, path), key, value);
  }
  const quoted = dialect === 'jsonc' || first === undefined || text[textStartOf(first.keyNode)] === '"';
  const name = quoted || !/^[A-Za-z_][\w-]*$/.test(key) ? JSON.stringify(key) : key;
  const render = (inner: string | undefined): string =>
    `${name}: ${renderJson(value, inner, unitOf(tree), eolOf(text))}`;
  const ends = members.map((member) => endOf(member.value ?? member.keyNode));
  return insertIntoFlow(tree, map, { starts: members.map((each) => textStartOf(each.keyNode)), ends }, render);
}

function keyOf(tree: TextTree, path: readonly string[]): TextMember {
  const member = memberAt(nodeAt(tree.root, path.slice(0, -1)), path.at(-1) ?? '');
  if (member === undefined) throw new Error('a map that was found by its path has a key');
  return member;
}

function inlineMap(tree: TextTree, key: string, value: Plain): string {
  return renderJson({ [key]: value }, undefined, unitOf(tree), eolOf(tree.text));
}

function appendToFlow(tree: TextTree, list: YAMLSeq, item: string): string {
  const nodes = list.items.filter(isNode);
  const quoted = tree.dialect === 'jsonc' || !/^[A-Za-z_][\w-]*$/.test(item) || isQuoted(tree, nodes[0]);
  const places = { starts: nodes.map(textStartOf), ends: nodes.map(endOf) };
  return insertIntoFlow(tree, list, places, () => (quoted ? JSON.stringify(item) : item));
}

function isQuoted({ text }: TextTree, node: Node | undefined): boolean {
  return node !== undefined && text[textStartOf(node)] === '"';
}

function appendToBlock({ text }: TextTree, list: YAMLSeq, item: string): string {
  const last = list.items.filter(isNode).at(-1);
  if (last === undefined) return text;
  const dash = text.lastIndexOf('-', textStartOf(last));
  const [line = item] = renderBlock('x', item, 2).map((each) => each.replace(/^x: /, ''));
  return insertLines(text, endOf(last), indent([`- ${line}`], columnOf(text, dash)));
}

interface Places {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** Inserts between brackets: on its own line if the others have one, otherwise after the last one. */
function insertIntoFlow(
  tree: TextTree,
  node: YAMLMap | YAMLSeq,
  { starts, ends }: Places,
  render: (indent: string | undefined) => string,
): string {
  const { text, bare } = tree;
  const [open, close] = [textStartOf(node), (node.range?.[1] ?? 0) - 1];
  const eol = eolOf(text);
  const [first, last] = [starts[0], ends.at(-1)];
  if (first === undefined || last === undefined) {
    const outer = indentAt(text, open);
    const inner = outer + unitOf(tree);
    return isMap(node)
      ? splice(text, open + 1, close, `${eol}${inner}${render(inner)}${eol}${outer}`)
      : splice(text, open + 1, close, render(undefined));
  }
  const tail = withoutYamlComments(bare.slice(last, close));
  const comma = tail.includes(',');
  if (!text.slice(open, first).includes('\n')) {
    const at = comma ? last + tail.indexOf(',') + 1 : last;
    return splice(text, at, at, comma ? ` ${render(undefined)}` : `, ${render(undefined)}`);
  }
  const inner = indentAt(text, first);
  const end = text.slice(0, close).trimEnd().length;
  const added = splice(text, end, end, `${eol}${inner}${render(inner)}${comma ? ',' : ''}`);
  return comma ? added : splice(added, last, last, ',');
}

function withoutYamlComments(text: string): string {
  return text.replace(/(^|\s)#[^\r\n]*/g, (found) => ' '.repeat(found.length));
}

/** Inserts after the line that contains `offset`. The end of a block scalar is already past its last line. */
function insertLines(text: string, offset: number, lines: readonly string[]): string {
  const eol = eolOf(text);
  const block = lines.map((line) => line + eol).join('');
  if (offset === 0 || text[offset - 1] === '\n') return splice(text, offset, offset, block);
  const newLine = text.indexOf('\n', offset);
  return newLine < 0 ? `${text}${eol}${block}` : splice(text, newLine + 1, newLine + 1, block);
}

function indent(lines: readonly string[], columns: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(columns) + line));
}

/** The indentation step of this file, taken from its first nested map. */
function stepOf({ text, root }: TextTree): number {
  const outer = isMap(root) && root.flow !== true ? textMembersOf(root) : [];
  for (const { value } of outer) {
    const inner = isMap(value) && value.flow !== true ? textMembersOf(value)[0] : undefined;
    if (inner !== undefined) return Math.max(1, columnOf(text, textStartOf(inner.keyNode)));
  }
  return 2;
}

/** The same for JSON, where it may be a tab. */
function unitOf({ bare }: TextTree): string {
  return /\n([ \t]+)\S/.exec(bare)?.[1] ?? '  ';
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

export function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

function hasBlankLine(text: string): boolean {
  return /\n[ \t]*\r?\n/.test(text);
}

function splice(text: string, from: number, to: number, insert: string): string {
  return text.slice(0, from) + insert + text.slice(to);
}
