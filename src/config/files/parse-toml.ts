import { parse, TomlError } from 'smol-toml';
import {
  maxDepth,
  maxNodes,
  type ParsedSource,
  type SourceEntry,
  type SourceNode,
  type SourceScalar,
  sourceMap,
} from './source-tree.ts';
import { scanToml, type TomlPlace } from './toml-lines.ts';

/** The library parses the values but reports no line numbers. These come from a second scan of the valid text. */
export function parseToml(text: string): ParsedSource {
  let values: unknown;
  try {
    values = parse(text, { integersAsBigInt: 'asNeeded', maxDepth });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { kind: 'broken', line: error.line, column: error.column, message: describe(error.message) };
  }
  try {
    return { kind: 'tree', root: convert(values, scanToml(text), { nodes: maxNodes }, 0) };
  } catch (error) {
    if (!(error instanceof TreeError)) throw error;
    return { kind: 'broken', line: error.line, column: 1, message: error.message };
  }
}

/** Aborts the conversion. Never leaves this file. */
class TreeError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** The library's messages quote the file. Ours are chosen by the beginning of its message. */
const messages: readonly (readonly [start: string, message: string])[] = [
  ['trying to redefine', 'this key or table is defined twice'],
  ['each key-value', 'something follows the end of a value'],
  ['expected comma', 'a "," or a closing bracket is expected here'],
  ['unfinished string', 'this text is not closed'],
  ['unfinished array', 'this list is not closed'],
  ['unfinished table', 'this table is not closed'],
  ['incomplete key-value', 'a "=" is expected in this line'],
  ['document contains excessively', `nested more than ${maxDepth} levels`],
];

function describe(message: string): string {
  const cause = message.slice(message.indexOf(': ') + 2);
  return messages.find(([start]) => cause.startsWith(start))?.[1] ?? 'this is not valid TOML';
}

function convert(value: unknown, place: TomlPlace, budget: { nodes: number }, depth: number): SourceNode {
  const { line } = place;
  budget.nodes -= 1;
  if (budget.nodes < 0) throw new TreeError(`more than ${maxNodes} values`, line);
  if (depth > maxDepth) throw new TreeError(`nested more than ${maxDepth} levels`, line);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => convert(item, place.items[index] ?? place, budget, depth + 1));
    return { kind: 'list', line, items };
  }
  if (!isTable(value)) return scalar(value, place);
  const entries: SourceEntry[] = [];
  for (const [key, inner] of place.keys) {
    entries.push({ key, line: inner.line, value: convert(value[key], inner, budget, depth + 1) });
  }
  return sourceMap(line, entries);
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

/** Dates, and numbers that JavaScript cannot represent, stay as written. */
function scalar(value: unknown, { line, text }: TomlPlace): SourceScalar {
  if (typeof value === 'string') return { kind: 'scalar', line, value, text: value };
  if (typeof value === 'number' || typeof value === 'boolean') return { kind: 'scalar', line, value, text };
  return { kind: 'scalar', line, value: text, text };
}
