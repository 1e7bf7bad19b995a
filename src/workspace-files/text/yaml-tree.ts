import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import {
  memberEnd,
  type OpenedTree,
  type TextMap,
  type TextMember,
  type TextNode,
  type TextScalar,
} from './text-tree.ts';

export function openYaml(text: string): OpenedTree {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const [error] = document.errors;
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  if (error !== undefined) return { kind: 'broken', line: lineOf(error.pos[0]), message: 'this is not valid YAML' };
  const root = document.contents === null ? undefined : toNode(document.contents, text);
  return { kind: 'tree', tree: { text, dialect: 'yaml', root, lineOf } };
}

function toNode(node: Node, text: string): TextNode {
  if (isMap(node)) return toMap(node, text);
  if (isSeq(node)) return toList(node, text);
  return toScalar(node, text);
}

function toMap(node: YAMLMap, text: string): TextMap {
  const members = node.items.flatMap(({ key, value }): TextMember[] => {
    if (!isScalar(key)) return [];
    const [keyStart, keyEnd] = rangeOf(key);
    return [{ key: String(key.value), keyStart, keyEnd, value: isNode(value) ? toNode(value, text) : undefined }];
  });
  const last = members.at(-1);
  return { kind: 'map', members, ...groupOf(node, last === undefined ? undefined : memberEnd(last)) };
}

function toList(node: YAMLSeq, text: string): TextNode {
  const items = node.items.filter(isNode).map((item) => toNode(item, text));
  return { kind: 'list', items, ...groupOf(node, items.at(-1)?.end) };
}

/** The parser counts comments and empty lines after a block as part of it. */
function groupOf(node: YAMLMap | YAMLSeq, lastEnd: number | undefined): Pick<TextMap, 'start' | 'end' | 'flow'> {
  const [start, end] = rangeOf(node);
  return node.flow === true ? { start, end, flow: true } : { start, end: lastEnd ?? end, flow: false };
}

function toScalar(node: Node, text: string): TextScalar {
  const [start, end] = rangeOf(node);
  if (isAlias(node)) {
    return { kind: 'scalar', start, end, value: undefined, text: `*${node.source}`, alias: true };
  }
  const value = isScalar(node) ? node.value : undefined;
  const source = isScalar(node) ? (node.source ?? String(value)) : text.slice(start, end);
  return { kind: 'scalar', start, end, value, text: typeof value === 'string' ? value : source, alias: false };
}

function rangeOf(node: Node): [start: number, end: number] {
  return [node.range?.[0] ?? 0, node.range?.[1] ?? 0];
}
