import { unescapedOnce } from './escaped-text.ts';
import { type Needle, shortestNeedle } from './known-values.ts';

/**
 * All common spellings of a value: plain, in JSON, in a URL, in Base64 and in hexadecimal. Escapes such as `%41` and
 * `\u0041` are not included: the text is searched again after unescaping.
 */
export function spellingsOf(values: readonly string[]): Needle[] {
  const needles = new Map<string, Needle>();
  const add = (text: string, needle: Omit<Needle, 'text'>): void => {
    if (text.length >= shortestNeedle && !needles.has(text)) needles.set(text, { text, ...needle });
  };
  for (const value of values) {
    const anyCase = value.length >= shortestInAnyCase;
    for (const plain of inAddress(value))
      for (const text of [plain, ...inJson(plain)]) add(text, { edges: false, anyCase });
  }
  for (const value of values) add(Buffer.from(value).toString('hex'), { edges: false, anyCase: true });
  for (const value of values) for (const text of inBase64(value)) add(text, { edges: true, anyCase: false });
  return [...needles.values()];
}

/** Host names and headers lose their capitals. A shorter value in a different case is too often just a word. */
const shortestInAnyCase = 8;

/** The content of a JSON string, as most programs write it, in ASCII only, and with escaped slashes. */
export function inJson(value: string): string[] {
  const usual = JSON.stringify(value).slice(1, -1);
  const ascii = usual.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [usual, ascii, usual.replaceAll('/', '\\/')];
}

/**
 * The spellings of a value in a URL, apart from escapes: forms turn a space into a plus, parsers drop line breaks and
 * tabs, a backslash in a path becomes a slash, a lone surrogate becomes the replacement character, and existing escapes
 * stay.
 */
function inAddress(value: string): string[] {
  const whole = value.replace(/[\ud800-\udfff]/gu, '\ufffd');
  const joined = whole.replace(/[\t\n\r]/g, '');
  const all = [value, whole, joined, joined.replaceAll('\\', '/')];
  const read = [...all, ...all.map((text) => unescapedOnce(text).text)];
  return [...read, ...read.map((text) => text.replaceAll(' ', '+'))];
}

/**
 * Base64 writes three bytes as four characters, so a value has three spellings, one for each position at which it can
 * begin in a longer text (`user:SECRET`). Characters that also depend on the surrounding text are left out.
 */
function inBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const own = whole.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
