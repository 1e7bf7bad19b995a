import { type Needle, shortestNeedle } from './known-values.ts';

/** Every way in which programs write a value down: as it is, in JSON, in an address, in base64 and in hexadecimal. */
export function spellingsOf(values: readonly string[]): Needle[] {
  const plain = new Set<string>();
  const base64 = new Set<string>();
  for (const value of values) {
    for (const text of [value, ...inJson(value), ...inAddress(value), ...inHex(value)]) plain.add(text);
    for (const text of inBase64(value)) base64.add(text);
  }
  return [
    ...[...plain].map((text) => ({ text, edges: false })),
    ...[...base64].filter((text) => !plain.has(text)).map((text) => ({ text, edges: true })),
  ].filter(({ text }) => text.length >= shortestNeedle);
}

/** The content of a JSON string, as most programs write it and as those do that keep to ASCII or escape the slash. */
export function inJson(value: string): string[] {
  const usual = JSON.stringify(value).slice(1, -1);
  const ascii = usual.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [usual, ascii, usual.replaceAll('/', '\\/')];
}

/** Programs differ in what they leave as it is, in the case of the digits, and in forms a space is a plus. */
function inAddress(value: string): string[] {
  // A lone half of a surrogate pair has no percent encoding.
  const usual = encodeURIComponent(value.replace(/[\ud800-\udfff]/gu, '\ufffd'));
  const strict = usual.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const upper = [usual, strict, usual.replaceAll('%20', '+'), strict.replaceAll('%20', '+')];
  return [...upper, ...upper.map((text) => text.replace(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase()))];
}

function inHex(value: string): string[] {
  const lower = Buffer.from(value).toString('hex');
  return [lower, lower.toUpperCase()];
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
