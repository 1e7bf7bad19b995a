import { unescapedOnce } from './escaped-text.ts';
import { type Needle, shortestNeedle } from './known-values.ts';

/**
 * Every way in which programs write a value down: as it is, in JSON, in an address, in base64 and in hexadecimal.
 * Escapes such as `%41` and `\u0041` are no spellings: the text is sought a second time without them.
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

/** Host names and headers lose their capitals. A shorter value in another case is too often only a word. */
const shortestInAnyCase = 8;

/** The content of a JSON string, as most programs write it and as those do that keep to ASCII or escape the slash. */
export function inJson(value: string): string[] {
  const usual = JSON.stringify(value).slice(1, -1);
  const ascii = usual.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [usual, ascii, usual.replaceAll('/', '\\/')];
}

/**
 * What an address makes of a value apart from escapes: in a form a space is a plus, line breaks and tabs are left out, in a
 * path a backslash becomes a slash, half of a surrogate pair becomes another character, and escapes in it stay as they are.
 */
function inAddress(value: string): string[] {
  const whole = value.replace(/[\ud800-\udfff]/gu, '\ufffd');
  const joined = whole.replace(/[\t\n\r]/g, '');
  const all = [value, whole, joined, joined.replaceAll('\\', '/')];
  const read = [...all, ...all.map((text) => unescapedOnce(text).text)];
  return [...read, ...read.map((text) => text.replaceAll(' ', '+'))];
}

/**
 * Base64 writes three bytes as four characters, so the same value has three spellings, one for each place at which it can
 * begin inside a longer text (`user:SECRET`). Characters that also depend on what stands around it are left out here.
 */
function inBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const own = whole.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
