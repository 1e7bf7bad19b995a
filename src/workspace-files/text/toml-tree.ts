import type { AST } from 'toml-eslint-parser';
import { keyName, parseTomlText, type TomlKeyPart } from './parse-toml-text.ts';
import { createLineFinder, type OpenedTree, type TextMember, type TextNode } from './text-tree.ts';

/** Tables of TOML are written in several places, so that their positions are those of their own header, if they have one. */
export function openToml(text: string): OpenedTree {
  const parsed = parseTomlText(text);
  if (parsed.kind === 'broken') return parsed;
  const root = new TableBuilder(0);
  for (const entry of parsed.top.body) {
    if (entry.type === 'TOMLTable') addTable(root, entry, text);
    else addPair(root, entry, text);
  }
  return {
    kind: 'tree',
    tree: { text, dialect: 'toml', root: root.toNode(), lineOf: createLineFinder(text) },
  };
}

type Slot = { keyStart: number; keyEnd: number; value: TableBuilder | TableBuilder[] | TextNode };

/** A table while its parts are collected. */
class TableBuilder {
  start: number;
  end: number;
  readonly flow: boolean;
  readonly #slots = new Map<string, Slot>();

  constructor(start: number, end = start, flow = false) {
    this.start = start;
    this.end = end;
    this.flow = flow;
  }

  /** The table under that key, made if it is missing; the last one of an array of tables. */
  enter(part: TomlKeyPart): TableBuilder {
    const found = this.#slots.get(keyName(part))?.value;
    if (found instanceof TableBuilder) return found;
    const last = Array.isArray(found) ? found.at(-1) : undefined;
    return last ?? this.put(part, new TableBuilder(part.range[0]));
  }

  put<T extends Slot['value']>(part: TomlKeyPart, value: T): T {
    this.#slots.set(keyName(part), { keyStart: part.range[0], keyEnd: part.range[1], value });
    return value;
  }

  append(part: TomlKeyPart, item: TableBuilder): void {
    const found = this.#slots.get(keyName(part))?.value;
    if (Array.isArray(found)) found.push(item);
    else this.put(part, [item]);
  }

  toNode(): TextNode {
    const members = [...this.#slots].map(([key, { keyStart, keyEnd, value }]): TextMember => {
      return { key, keyStart, keyEnd, value: nodeOf(value) };
    });
    const { start, end, flow } = this;
    return { kind: 'map', members, start, end, flow };
  }
}

function nodeOf(value: Slot['value']): TextNode {
  if (value instanceof TableBuilder) return value.toNode();
  if (!Array.isArray(value)) return value;
  const items = value.map((item) => item.toNode());
  const [start, end] = [items[0]?.start ?? 0, items.at(-1)?.end ?? 0];
  return { kind: 'list', items, start, end, flow: false };
}

function addTable(root: TableBuilder, { key, kind, body, range }: AST.TOMLTable, text: string): void {
  const [parents, last] = [key.keys.slice(0, -1), key.keys.at(-1)];
  if (last === undefined) return;
  const holder = parents.reduce((table, part) => table.enter(part), root);
  const own = kind === 'array' ? new TableBuilder(range[0]) : holder.enter(last);
  if (kind === 'array') holder.append(last, own);
  else holder.put(last, own);
  [own.start, own.end] = [range[0], body.at(-1)?.range[1] ?? key.range[1] + 1];
  for (const pair of body) addPair(own, pair, text);
}

function addPair(table: TableBuilder, { key, value }: AST.TOMLKeyValue, text: string): void {
  const [parents, last] = [key.keys.slice(0, -1), key.keys.at(-1)];
  if (last === undefined) return;
  const holder = parents.reduce((inner, part) => inner.enter(part), table);
  holder.put(last, contentOf(value, text));
}

function contentOf(node: AST.TOMLContentNode, text: string): TextNode {
  const [start, end] = node.range;
  if (node.type === 'TOMLArray') {
    const items = node.elements.map((item) => contentOf(item, text));
    return { kind: 'list', items, start, end, flow: true };
  }
  if (node.type === 'TOMLInlineTable') {
    const table = new TableBuilder(start, end, true);
    for (const pair of node.body) addPair(table, pair, text);
    return table.toNode();
  }
  const { value } = node;
  const written = text.slice(start, end);
  return { kind: 'scalar', start, end, value, text: typeof value === 'string' ? value : written, alias: false };
}
