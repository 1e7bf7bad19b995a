/** The contents of a `.env` file. Values are literal: a `${…}` in one is not expanded. */
export type ParsedDotEnv =
  | {
      readonly kind: 'values';
      readonly values: ReadonlyMap<string, string>;
      /** Lines that are not NAME=value. */
      readonly unread: readonly number[];
    }
  | { readonly kind: 'broken'; readonly line: number; readonly message: string };

/**
 * `NAME=value`, `export NAME=value`, three kinds of quotes (which may span lines) and comments. Node's own parser will
 * not do: it joins lines if one has no "=", and reads an unclosed quote as text.
 */
export function parseDotEnv(text: string): ParsedDotEnv {
  const cursor: Cursor = { text: text.replace(/\r\n?/g, '\n'), at: 0, line: 1 };
  const values = new Map<string, string>();
  const unread: number[] = [];
  while (cursor.at < cursor.text.length) {
    const { line } = cursor;
    assignmentPattern.lastIndex = cursor.at;
    const [start, name, blank] = assignmentPattern.exec(cursor.text) ?? [];
    if (start === undefined || name === undefined) {
      if (!emptyPattern.test(restOfLine(cursor))) unread.push(line);
      nextLine(cursor);
      continue;
    }
    cursor.at += start.length;
    const value = readValue(cursor, blank !== '');
    if (value === undefined) return { kind: 'broken', line, message: `the value of ${name} has no closing quote` };
    values.set(name, value);
  }
  return { kind: 'values', values, unread };
}

interface Cursor {
  readonly text: string;
  at: number;
  line: number;
}

const assignmentPattern = /[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=([ \t]*)/y;
/** Empty, a comment, or a name alone, which means the value that the environment has anyway. */
const emptyPattern = /^\s*(?:#.*|(?:export\s+)?[A-Za-z_][\w.-]*\s*)?$/;
const quotedPatterns: Readonly<Record<string, RegExp>> = {
  '"': /"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*(?:#[^\n]*)?(?=\n|$)/sy,
  "'": /'([^']*)'[ \t]*(?:#[^\n]*)?(?=\n|$)/y,
  '`': /`([^`]*)`[ \t]*(?:#[^\n]*)?(?=\n|$)/y,
};
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/** Leaves the cursor at the start of the next line. Undefined if a quote is not closed. */
function readValue(cursor: Cursor, afterBlank: boolean): string | undefined {
  const quote = cursor.text[cursor.at] ?? '';
  const pattern = Object.hasOwn(quotedPatterns, quote) ? quotedPatterns[quote] : undefined;
  if (pattern === undefined) {
    // A "#" starts a comment only after white space, because passwords may contain one.
    const rest = `${afterBlank ? ' ' : ''}${restOfLine(cursor)}`;
    const comment = rest.search(/\s#/);
    const written = rest.slice(0, comment < 0 ? rest.length : comment).trim();
    nextLine(cursor);
    return written;
  }
  pattern.lastIndex = cursor.at;
  const [whole, inside] = pattern.exec(cursor.text) ?? [];
  if (whole === undefined || inside === undefined) return undefined;
  cursor.at += whole.length;
  cursor.line += whole.split('\n').length - 1;
  nextLine(cursor);
  return quote === '"' ? inside.replace(/\\([nrt"\\$])/g, (_, letter: string) => escapes[letter] ?? letter) : inside;
}

function restOfLine({ text, at }: Cursor): string {
  const end = text.indexOf('\n', at);
  return text.slice(at, end < 0 ? text.length : end);
}

function nextLine(cursor: Cursor): void {
  const end = cursor.text.indexOf('\n', cursor.at);
  cursor.at = end < 0 ? cursor.text.length : end + 1;
  cursor.line += 1;
}
