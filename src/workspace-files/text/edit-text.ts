import { appendToBlock, appendToEnd, fillBlock, fillEmptyBlock, putInBlock, removeFromBlock } from './block-edits.ts';
import { insertIntoFlow, removeFromFlow, unitOf } from './flow-edits.ts';
import { eolOf, splice } from './line-text.ts';
import { openTree } from './open-tree.ts';
import { type Plain, renderJson } from './render-member.ts';
import {
  type Dialect,
  isEmptyScalar,
  memberAt,
  nodeAt,
  type TextMap,
  type TextMember,
  type TextNode,
  type TextTree,
} from './text-tree.ts';
import { putInToml, removeFromToml, replaceInToml } from './toml-edits.ts';

/** `unsupported`: the text cannot be parsed, or something else is in the way of the change. */
export type Edited = { readonly kind: 'edited'; readonly text: string } | { readonly kind: 'unsupported' };

/** Keys that lead to a member, its own last. */
type Path = readonly string[];

/** Adds a member as the last of its map, creating maps that are missing. Leaves everything else as it is. */
export function putMember(text: string, dialect: Dialect, path: Path, value: Plain): Edited {
  if (dialect === 'toml') return putInToml(text, path, value);
  const tree = treeOf(text, dialect);
  const [parent, key] = [path.slice(0, -1), path.at(-1)];
  if (tree === undefined || key === undefined) return unsupported;
  const map = nodeAt(tree.root, parent);
  if (map?.kind === 'map') return edited(putInMap(tree, parent, map, [key, value]));
  if (!isEmptyScalar(map)) return unsupported;
  const name = parent.at(-1);
  if (name === undefined) return edited(startDocument(tree, key, value));
  const holder = memberAt(nodeAt(tree.root, parent.slice(0, -1)), name);
  if (holder === undefined) return putMember(text, dialect, parent, { [key]: value });
  if (dialect === 'yaml' && !isInFlow(tree, parent.slice(0, -1))) return edited(fillBlock(tree, holder, key, value));
  if (map === undefined) return unsupported;
  return edited(splice(text, map.start, map.end, inlineJson(tree, { [key]: value })));
}

/** Replaces the value of a member that is there. */
export function replaceMember(text: string, dialect: Dialect, path: Path, value: Plain): Edited {
  if (dialect === 'toml') return replaceInToml(text, path, value);
  const tree = treeOf(text, dialect);
  const found = tree === undefined ? undefined : nodeAt(tree.root, path);
  if (tree === undefined || found === undefined || dialect !== 'jsonc') return unsupported;
  const indent = text.slice(found.start, found.end).includes('\n') ? lineIndent(text, found.start) : undefined;
  return edited(splice(text, found.start, found.end, renderJson(value, indent, unitOf(tree), eolOf(text))));
}

/** Removes a member. Comments beside it stay. */
export function removeMember(text: string, dialect: Dialect, path: Path): Edited {
  if (dialect === 'toml') return removeFromToml(text, path);
  const tree = treeOf(text, dialect);
  const [parent, key] = [path.slice(0, -1), path.at(-1) ?? ''];
  const map = tree === undefined ? undefined : nodeAt(tree.root, parent);
  const member = memberAt(map, key);
  if (tree === undefined || map?.kind !== 'map' || member === undefined) return unsupported;
  if (!map.flow) return edited(removeFromBlock(tree, member));
  return edited(removeFromFlow(tree, map, map.members.indexOf(member)));
}

/** Sets a member to true or false, adding it if it is missing. */
export function setFlag(text: string, dialect: Dialect, path: Path, on: boolean): Edited {
  const tree = treeOf(text, dialect);
  if (tree === undefined) return unsupported;
  const member = memberAt(nodeAt(tree.root, path.slice(0, -1)), path.at(-1) ?? '');
  if (member === undefined) return putMember(text, dialect, path, on);
  const { value } = member;
  if (value?.kind !== 'scalar') return unsupported;
  return edited(splice(text, value.start, value.end, value.start === value.end ? ` ${on}` : String(on)));
}

/** Appends a text to the list at `path`, which must exist. */
export function appendItem(text: string, dialect: Dialect, path: Path, item: string): Edited {
  const tree = treeOf(text, dialect);
  const list = tree === undefined ? undefined : nodeAt(tree.root, path);
  if (tree === undefined || list?.kind !== 'list' || dialect === 'toml') return unsupported;
  if (!list.flow) return edited(appendToBlock(tree, list, item));
  const quoted = dialect === 'jsonc' || !isPlainWord(item) || isQuoted(tree, list.items[0]?.start);
  return edited(insertIntoFlow(tree, list, () => (quoted ? JSON.stringify(item) : item)));
}

/** Removes a text from the list at `path`, the last one if it is there several times. */
export function removeItem(text: string, dialect: Dialect, path: Path, item: string): Edited {
  const tree = treeOf(text, dialect);
  const list = tree === undefined ? undefined : nodeAt(tree.root, path);
  if (tree === undefined || list?.kind !== 'list' || !list.flow || dialect === 'toml') return unsupported;
  const index = list.items.findLastIndex((each) => each.kind === 'scalar' && each.value === item);
  return index < 0 ? unsupported : edited(removeFromFlow(tree, list, index));
}

const unsupported: Edited = { kind: 'unsupported' };

function edited(text: string): Edited {
  return { kind: 'edited', text };
}

function treeOf(text: string, dialect: Dialect): TextTree | undefined {
  const opened = openTree(text, dialect);
  return opened.kind === 'tree' ? opened.tree : undefined;
}

function isInFlow(tree: TextTree, path: Path): boolean {
  return path.some((_, length) => isFlow(nodeAt(tree.root, path.slice(0, length)))) || isFlow(nodeAt(tree.root, path));
}

function isFlow(node: TextNode | undefined): boolean {
  return node?.kind === 'map' && node.flow;
}

/** An empty file of JSON becomes a document, one of YAML a section. */
function startDocument(tree: TextTree, key: string, value: Plain): string {
  if (tree.dialect === 'yaml') return appendToEnd(tree, key, value);
  const eol = eolOf(tree.text);
  const gap = tree.text === '' || tree.text.endsWith('\n') ? '' : eol;
  return `${tree.text}${gap}${renderJson({ [key]: value }, '', '  ', eol)}${eol}`;
}

function putInMap(tree: TextTree, path: Path, map: TextMap, [key, value]: readonly [string, Plain]): string {
  if (!map.flow) return putInBlock(tree, map, key, value);
  const { text, dialect } = tree;
  const first = map.members[0];
  if (first === undefined && dialect === 'yaml' && path.length > 0 && !isInFlow(tree, path.slice(0, -1))) {
    return fillEmptyBlock(tree, holderOf(tree, path), key, value);
  }
  const quoted = dialect === 'jsonc' || first === undefined || isQuoted(tree, first.keyStart);
  const name = quoted || !isPlainWord(key) ? JSON.stringify(key) : key;
  return insertIntoFlow(tree, map, (inner) => `${name}: ${renderJson(value, inner, unitOf(tree), eolOf(text))}`);
}

function holderOf(tree: TextTree, path: Path): TextMember {
  const member = memberAt(nodeAt(tree.root, path.slice(0, -1)), path.at(-1) ?? '');
  if (member === undefined) throw new Error('a map that was found by its path has a key');
  return member;
}

function inlineJson(tree: TextTree, value: Plain): string {
  return renderJson(value, undefined, unitOf(tree), eolOf(tree.text));
}

function lineIndent(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

function isPlainWord(text: string): boolean {
  return /^[A-Za-z_][\w-]*$/.test(text);
}

function isQuoted({ text }: TextTree, start: number | undefined): boolean {
  return start !== undefined && text[start] === '"';
}
