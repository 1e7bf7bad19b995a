import {
  maxDepth,
  maxNodes,
  type ParsedSource,
  type SourceEntry,
  type SourceNode,
  type SourceScalar,
  sourceMap,
} from './source-tree.ts';

/**
 * JSON as people write it in client files: strict, except for comments and trailing commas. JSON.parse will not do: it
 * loses line numbers, keeps only the last of repeated keys, and its messages quote the file.
 */
export function parseJsonc(text: string): ParsedSource {
  const cursor: Cursor = { text, at: 0, line: 1, lineStart: 0, nodes: 0 };
  try {
    skipBlank(cursor);
    if (cursor.at >= text.length) fail('the file is empty');
    const root = readValue(cursor, 0);
    skipBlank(cursor);
    if (cursor.at < text.length) fail('something follows the end of the document');
    return { kind: 'tree', root };
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    return { kind: 'broken', line: cursor.line, column: cursor.at - cursor.lineStart + 1, message: error.message };
  }
}

interface Cursor {
  readonly text: string;
  at: number;
  line: number;
  lineStart: number;
  nodes: number;
}

/** Aborts the recursive descent. Never leaves this file. */
class SyntaxFault extends Error {}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordPattern = /true|false|null/y;
/** A string up to its closing quote. Control characters must be escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these.
const stringPattern = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;

function fail(message: string): never {
  throw new SyntaxFault(message);
}

function readValue(cursor: Cursor, depth: number): SourceNode {
  if (depth > maxDepth) fail(`nested more than ${maxDepth} levels`);
  cursor.nodes += 1;
  if (cursor.nodes > maxNodes) fail(`more than ${maxNodes} values`);
  switch (cursor.text[cursor.at]) {
    case '{':
      return readMap(cursor, depth);
    case '[':
      return readList(cursor, depth);
    case '"':
      return readString(cursor);
    default:
      return readBare(cursor);
  }
}

function readMap(cursor: Cursor, depth: number): SourceNode {
  const { line } = cursor;
  const entries: SourceEntry[] = [];
  readItems(cursor, '}', () => {
    if (cursor.text[cursor.at] !== '"') fail('a name in double quotes is expected here');
    const keyLine = cursor.line;
    const key = readString(cursor).text;
    skipBlank(cursor);
    if (cursor.text[cursor.at] !== ':') fail('a ":" is expected here');
    cursor.at += 1;
    skipBlank(cursor);
    entries.push({ key, line: keyLine, value: readValue(cursor, depth + 1) });
  });
  return sourceMap(line, entries);
}

function readList(cursor: Cursor, depth: number): SourceNode {
  const { line } = cursor;
  const items: SourceNode[] = [];
  readItems(cursor, ']', () => items.push(readValue(cursor, depth + 1)));
  return { kind: 'list', line, items };
}

/** Reads from the opening bracket past the closing one. Allows a trailing comma. */
function readItems(cursor: Cursor, close: '}' | ']', readItem: () => void): void {
  cursor.at += 1;
  skipBlank(cursor);
  while (cursor.text[cursor.at] !== close) {
    readItem();
    skipBlank(cursor);
    const next = cursor.text[cursor.at];
    if (next === ',') cursor.at += 1;
    else if (next !== close) fail(`a "," or "${close}" is expected here`);
    skipBlank(cursor);
  }
  cursor.at += 1;
}

function readString(cursor: Cursor): SourceScalar {
  stringPattern.lastIndex = cursor.at;
  const [quoted] = stringPattern.exec(cursor.text) ?? fail('this string is not closed or contains an invalid escape');
  cursor.at += quoted.length;
  // The pattern matches only JSON strings, so this is a string.
  const value = JSON.parse(quoted) as string;
  return { kind: 'scalar', line: cursor.line, value, text: value };
}

function readBare(cursor: Cursor): SourceScalar {
  for (const pattern of [wordPattern, numberPattern]) {
    pattern.lastIndex = cursor.at;
    const text = pattern.exec(cursor.text)?.[0];
    if (text === undefined) continue;
    cursor.at += text.length;
    // The patterns match only JSON's numbers and words.
    return { kind: 'scalar', line: cursor.line, value: JSON.parse(text) as number | boolean | null, text };
  }
  return fail('a value is expected here');
}

function skipBlank(cursor: Cursor): void {
  for (;;) {
    const character = cursor.text[cursor.at];
    if (character === '\n') {
      cursor.at += 1;
      newLine(cursor);
    } else if (character === ' ' || character === '\t' || character === '\r') cursor.at += 1;
    else if (cursor.text.startsWith('//', cursor.at)) skipLine(cursor);
    else if (cursor.text.startsWith('/*', cursor.at)) skipBlock(cursor);
    else return;
  }
}

function skipLine(cursor: Cursor): void {
  const end = cursor.text.indexOf('\n', cursor.at);
  cursor.at = end < 0 ? cursor.text.length : end;
}

function skipBlock(cursor: Cursor): void {
  const end = cursor.text.indexOf('*/', cursor.at + 2);
  if (end < 0) fail('this comment is not closed');
  while (cursor.at < end + 2) {
    const character = cursor.text[cursor.at];
    cursor.at += 1;
    if (character === '\n') newLine(cursor);
  }
}

function newLine(cursor: Cursor): void {
  cursor.line += 1;
  cursor.lineStart = cursor.at;
}
