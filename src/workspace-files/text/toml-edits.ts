import type { AST } from 'toml-eslint-parser';
import type { Edited } from './edit-text.ts';
import { eolOf, insertLines, removeLines, splice } from './line-text.ts';
import { keyName, parseTomlText } from './parse-toml-text.ts';
import type { Plain } from './render-member.ts';
import { isPlainList, renderTomlKey, renderTomlPair, renderTomlValue } from './render-toml.ts';

type Path = readonly string[];

/** A map becomes a table at the end of the file, anything else a line of the table that is there. */
export function putInToml(text: string, path: Path, value: Plain): Edited {
  const found = findPlaces(text, path.slice(0, -1));
  const key = path.at(-1);
  if (found === undefined || key === undefined) return unsupported;
  const { table, pair, dotted } = found;
  if (pair !== undefined) return putInline(text, pair, key, value);
  if (typeof value === 'object' && !isPlainList(value)) return edited(appendTable(text, path, value));
  if (table !== undefined) return edited(insertLines(text, table.key.range[1], [renderTomlPair(key, value)]));
  const last = dotted.at(-1);
  if (last === undefined) return unsupported;
  const start = text.slice(last.key.range[0], last.key.keys.at(-1)?.range[0]);
  return edited(insertLines(text, last.range[1], [`${start}${renderTomlPair(key, value)}`]));
}

/** Replaces the value of a key that has its own. */
export function replaceInToml(text: string, path: Path, value: Plain): Edited {
  const pair = findPlaces(text, path)?.pair;
  if (pair === undefined) return unsupported;
  return edited(splice(text, ...pair.value.range, renderTomlValue(value)));
}

/** Removes a key, or a table with the tables below it. Comments between its lines go too. */
export function removeFromToml(text: string, path: Path): Edited {
  const found = findPlaces(text, path);
  if (found === undefined) return unsupported;
  const { pair, table, below, dotted } = found;
  if (pair !== undefined && pair.parent.type === 'TOMLInlineTable') return edited(removeInline(text, pair));
  const parts = [
    ...[...(table === undefined ? [] : [table]), ...below].map((each) => [each.range[0], tableEnd(each)] as const),
    ...[...(pair === undefined ? [] : [pair]), ...dotted].map(({ range }) => range),
  ];
  if (parts.length === 0) return unsupported;
  const fromEnd = parts.toSorted(([left], [right]) => right - left);
  return edited(fromEnd.reduce((result, [from, to]) => removeLines(result, from, to), text));
}

/** The raw text of what `removeFromToml` removes, as lines that can stand at the end of the file. */
export function tomlTextOf(text: string, path: Path): string | undefined {
  const found = findPlaces(text, path);
  if (found?.table === undefined || found.pair !== undefined || found.dotted.length > 0) return undefined;
  const tables = [found.table, ...found.below].toSorted((left, right) => left.range[0] - right.range[0]);
  return tables.map((table) => text.slice(table.range[0], lineEnd(text, tableEnd(table)))).join(eolOf(text).repeat(2));
}

export function appendToToml(text: string, block: string): string {
  const eol = eolOf(text);
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return `${text}${gap}${block}${eol}`;
}

const unsupported: Edited = { kind: 'unsupported' };

function edited(text: string): Edited {
  return { kind: 'edited', text };
}

interface TomlPlaces {
  /** `[a.b]` */
  readonly table: AST.TOMLTable | undefined;
  /** `[a.b.c]` */
  readonly below: readonly AST.TOMLTable[];
  /** `b = …` in `[a]`, or `a.b = …` */
  readonly pair: AST.TOMLKeyValue | undefined;
  /** `b.c = …` in `[a]`, or `a.b.c = …` */
  readonly dotted: readonly AST.TOMLKeyValue[];
}

/** Where the value at a path is written. Undefined if the text cannot be parsed, or the path is in an array of tables. */
function findPlaces(text: string, path: Path): TomlPlaces | undefined {
  const parsed = parseTomlText(text);
  if (parsed.kind === 'broken') return undefined;
  const tables = parsed.top.body.filter((each) => each.type === 'TOMLTable');
  const pairs = parsed.top.body.filter((each) => each.type === 'TOMLKeyValue');
  if (tables.some(({ kind, key }) => kind === 'array' && startsWith(path, namesOf(key)))) return undefined;
  const all = [
    ...pairs.map((pair) => ({ pair, at: namesOf(pair.key) })),
    ...tables.flatMap(({ key, body }) => body.map((pair) => ({ pair, at: [...namesOf(key), ...namesOf(pair.key)] }))),
  ];
  return {
    table: tables.find(({ key }) => isSame(namesOf(key), path)),
    below: tables.filter(({ key }) => startsWith(namesOf(key), path) && namesOf(key).length > path.length),
    pair: all.map((each) => pairAt(each.pair, each.at, path)).find((each) => each !== undefined),
    dotted: all.flatMap(({ pair, at }) => {
      const isInTable = at.length - namesOf(pair.key).length >= path.length;
      return !isInTable && startsWith(at, path) && at.length > path.length ? [pair] : [];
    }),
  };
}

/** The pair itself, or one in its inline table. */
function pairAt(pair: AST.TOMLKeyValue, at: Path, path: Path): AST.TOMLKeyValue | undefined {
  if (isSame(at, path)) return pair;
  if (pair.value.type !== 'TOMLInlineTable' || !startsWith(path, at)) return undefined;
  for (const inner of pair.value.body) {
    const found = pairAt(inner, [...at, ...namesOf(inner.key)], path);
    if (found !== undefined) return found;
  }
  return undefined;
}

function putInline(text: string, { value: table }: AST.TOMLKeyValue, key: string, value: Plain): Edited {
  if (table.type !== 'TOMLInlineTable') return unsupported;
  const last = table.body.at(-1);
  const added = renderTomlPair(key, value);
  if (last !== undefined) return edited(splice(text, last.range[1], last.range[1], `, ${added}`));
  return edited(splice(text, table.range[0] + 1, table.range[1] - 1, ` ${added} `));
}

function removeInline(text: string, pair: AST.TOMLKeyValue): string {
  const siblings = pair.parent.type === 'TOMLInlineTable' ? pair.parent.body : [];
  const index = siblings.indexOf(pair);
  const [before, next] = [siblings[index - 1], siblings[index + 1]];
  if (before !== undefined) return splice(text, before.range[1], pair.range[1], '');
  return splice(text, pair.range[0], next?.range[0] ?? pair.range[1], '');
}

function appendTable(text: string, path: Path, value: { readonly [key: string]: Plain }): string {
  const lines = Object.entries(value).map(([key, inner]) => renderTomlPair(key, inner));
  return appendToToml(text, [`[${renderTomlKey(path)}]`, ...lines].join(eolOf(text)));
}

function tableEnd({ key, body }: AST.TOMLTable): number {
  return body.at(-1)?.range[1] ?? key.range[1] + 1;
}

/** With the comment behind it, which goes too. */
function lineEnd(text: string, offset: number): number {
  const newLine = text.indexOf('\n', offset);
  if (newLine < 0) return text.length;
  return text[newLine - 1] === '\r' ? newLine - 1 : newLine;
}

function namesOf({ keys }: AST.TOMLKey): Path {
  return keys.map(keyName);
}

function isSame(left: Path, right: Path): boolean {
  return left.length === right.length && startsWith(left, right);
}

function startsWith(path: Path, start: Path): boolean {
  return start.length <= path.length && start.every((key, index) => key === path[index]);
}
