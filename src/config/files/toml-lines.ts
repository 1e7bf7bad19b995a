import { parse } from 'smol-toml';

/** A position in a TOML file and the positions inside it. */
export interface TomlPlace {
  line: number;
  readonly keys: Map<string, TomlPlace>;
  readonly items: TomlPlace[];
  /** A single value as written. Empty for tables, lists and quoted text. */
  text: string;
}

/** Finds the lines of every table, key and item. The text must be valid: this does not check it. */
export function scanToml(text: string): TomlPlace {
  const cursor: Cursor = { text, at: 0, line: 1 };
  const root = createPlace(1);
  let table = root;
  for (skipBlank(cursor); cursor.at < text.length; skipBlank(cursor)) {
    const before = cursor.at;
    if (text[cursor.at] === '[') table = readHeader(cursor, root);
    else readPair(cursor, table);
    // Prevents an endless loop if the text is not valid after all.
    if (cursor.at === before) break;
  }
  return root;
}

interface Cursor {
  readonly text: string;
  at: number;
  line: number;
}

function createPlace(line: number): TomlPlace {
  return { line, keys: new Map(), items: [], text: '' };
}

function readHeader(cursor: Cursor, root: TomlPlace): TomlPlace {
  const { line } = cursor;
  const isItem = cursor.text[cursor.at + 1] === '[';
  cursor.at += isItem ? 2 : 1;
  const path = readKey(cursor, ']');
  cursor.at += isItem ? 2 : 1;
  let here = root;
  for (const [index, key] of path.entries()) {
    here = enter(here, key, line);
    if (index < path.length - 1 || !isItem) here = here.items.at(-1) ?? here;
  }
  if (!isItem) {
    // The table may have been created by the header of one of its subtables.
    here.line = line;
    return here;
  }
  const item = createPlace(line);
  here.items.push(item);
  return item;
}

function readPair(cursor: Cursor, table: TomlPlace): void {
  const { line } = cursor;
  let here = table;
  for (const key of readKey(cursor, '=')) here = enter(here, key, line);
  cursor.at += 1;
  readValue(cursor, here);
}

function enter(place: TomlPlace, key: string, line: number): TomlPlace {
  const known = place.keys.get(key);
  if (known !== undefined) return known;
  const made = createPlace(line);
  place.keys.set(key, made);
  return made;
}

/** Reads up to the end sign, without consuming it. */
function readKey(cursor: Cursor, end: ']' | '='): string[] {
  const { text } = cursor;
  const path: string[] = [];
  while (cursor.at < text.length && text[cursor.at] !== end) {
    const sign = text[cursor.at];
    if (sign === '"' || sign === "'") {
      const start = cursor.at;
      skipText(cursor);
      path.push(String(parse(`key=${text.slice(start, cursor.at)}`).key));
      continue;
    }
    barePattern.lastIndex = cursor.at;
    const [bare] = barePattern.exec(text) ?? [];
    if (bare !== undefined) path.push(bare);
    cursor.at += bare?.length ?? 1;
  }
  return path;
}

const barePattern = /[A-Za-z0-9_-]+/y;

function readValue(cursor: Cursor, place: TomlPlace): void {
  skipBlank(cursor);
  const sign = cursor.text[cursor.at];
  if (sign === '[') {
    readItems(cursor, ']', () => {
      const item = createPlace(cursor.line);
      place.items.push(item);
      readValue(cursor, item);
    });
  } else if (sign === '{') readItems(cursor, '}', () => readPair(cursor, place));
  else if (sign === '"' || sign === "'") skipText(cursor);
  else place.text = readBare(cursor);
}

/** A number, a date or a word. */
function readBare(cursor: Cursor): string {
  const start = cursor.at;
  while (cursor.at < cursor.text.length && !',]}#\n'.includes(cursor.text[cursor.at] ?? '')) cursor.at += 1;
  return cursor.text.slice(start, cursor.at).trim();
}

function readItems(cursor: Cursor, close: ']' | '}', readItem: () => void): void {
  cursor.at += 1;
  skipBlank(cursor);
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== close) {
    readItem();
    skipBlank(cursor);
    if (cursor.text[cursor.at] === ',') cursor.at += 1;
    skipBlank(cursor);
  }
  cursor.at += 1;
}

/** Skips quoted text of all four kinds. */
function skipText(cursor: Cursor): void {
  const { text } = cursor;
  const quote = text[cursor.at] ?? '';
  const isLong = text.startsWith(quote.repeat(3), cursor.at);
  const close = isLong ? quote.repeat(3) : quote;
  cursor.at += close.length;
  while (cursor.at < text.length && !text.startsWith(close, cursor.at)) {
    if (text[cursor.at] === '\\' && quote === '"') skipOne(cursor);
    skipOne(cursor);
  }
  cursor.at += close.length;
  // One or two quotes may precede the closing three.
  while (isLong && text[cursor.at] === quote) cursor.at += 1;
}

function skipBlank(cursor: Cursor): void {
  const { text } = cursor;
  for (;;) {
    const sign = text[cursor.at];
    if (sign === '#') while (cursor.at < text.length && text[cursor.at] !== '\n') cursor.at += 1;
    else if (sign === ' ' || sign === '\t' || sign === '\r' || sign === '\n' || sign === '\uFEFF') skipOne(cursor);
    else return;
  }
}

function skipOne(cursor: Cursor): void {
  if (cursor.text[cursor.at] === '\n') cursor.line += 1;
  cursor.at += 1;
}
