import type { UriProblem } from '../../../domain/index.ts';

/**
 * All results that a program may get from percent-decoding a text: decoding harmless characters only, once, twice, or
 * until nothing is left to decode. `%2A` is never decoded, because a bare `*` is a wildcard in rules.
 */
export function decodings(text: string): readonly string[] {
  if (!text.includes('%')) return [text];
  const once = decodeOnce(text);
  return [...new Set([decodeHarmless(text), once, decodeOnce(once), decodeAll(text)])];
}

/**
 * Why a URI cannot be compared safely: a control character, plain or encoded, more layers of percent-encoding than
 * anyone needs, or a path that servers resolve differently. Tabs and line breaks may be encoded, as in the text of a
 * query, but never raw.
 */
export function uriProblem(uri: string): UriProblem | undefined {
  if (!suspicious.test(uri)) return undefined;
  if (controls.test(uri)) return 'control-character';
  return encodingProblem(uri) ?? (hasAmbiguousPath(uri) ? 'ambiguous-path' : undefined);
}

function encodingProblem(uri: string): UriProblem | undefined {
  let text = uri;
  for (let layer = 0; layer <= maxLayers; layer++) {
    const decoded = decodeOnce(text);
    if (decoded === text) return undefined;
    if (hiddenControls.test(decoded) || dividedEscape.test(decoded)) return 'control-character';
    text = decoded;
  }
  return 'encoded-too-often';
}

const maxLayers = 3;
const suspicious = /[%\\\p{Cc}\P{ASCII}]/u;
const controls = /\p{Cc}/u;
const hiddenControls = /(?![\t\n\r])\p{Cc}/u;
/** URL parsers drop tabs and line breaks, which completes the escape. */
const dividedEscape = /%(?:\s+[\da-f]\s*|[\da-f]\s+)[\da-f]/i;

/**
 * Whether `.` or `..` stands together with a separator that only some programs see: a backslash, or a slash that is
 * encoded or written as a compatible character. URL parsers take `%2e%2e` for `..` and leave `%2f` in a name, others
 * decode both or none, so `..` removes a different folder for each.
 */
function hasAmbiguousPath(uri: string): boolean {
  const plain = withoutInvisible(decodeAll(uri)).normalize('NFKC');
  return steps.test(plain) && countOf(plain, /[/\\]/g) > countOf(uri, /\//g);
}

/** Also with parameters, as in `..;x`, and with the dots and spaces that Windows drops. */
const steps = /(?:^|[/\\:?#])\.[. ]*(?:[/\\?#;]|$)/;

function countOf(text: string, each: RegExp): number {
  return text.match(each)?.length ?? 0;
}

/** Without control characters and invisible characters, which parsers drop. */
export function withoutInvisible(text: string): string {
  return text.replaceAll(invisible, '');
}

const invisible = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Decodes only characters that mean the same encoded or not. The others are part of a URI's structure. */
function decodeHarmless(text: string): string {
  return text.replaceAll(encodedPart, (part) => (structural.test(part) ? part.toUpperCase() : decodePart(part)));
}

function decodeOnce(text: string): string {
  return text.replaceAll(encodedPart, (part) => (/^%2a$/i.test(part) ? '%2A' : decodePart(part)));
}

/** ASCII characters one by one. Consecutive bytes above ASCII together. */
const encodedPart = /%[0-7][0-9a-f]|(?:%[89a-f][0-9a-f])+/gi;
/** `% * . / : ? @ # \` and control characters. */
const structural = /^%(?:25|2a|2e|2f|3a|3f|40|23|5c|0[0-9a-f]|1[0-9a-f]|7f)$/i;

/** Bytes that are not UTF-8 become the replacement character. */
function decodePart(part: string): string {
  if (part.length === 3 && part < '%8') return String.fromCharCode(Number.parseInt(part.slice(1), 16));
  return Buffer.from(part.replaceAll('%', ''), 'hex').toString('utf8');
}

/** Decodes in one pass: an escape completed by a decoded character is decoded at once. */
function decodeAll(text: string): string {
  const bytes = Buffer.from(text);
  let length = 0;
  for (const byte of bytes) {
    bytes[length++] = byte; // never ahead of the read position
    while (length >= 3 && bytes[length - 3] === percent) {
      const value = hexValue(bytes[length - 2]) * 16 + hexValue(bytes[length - 1]);
      if (Number.isNaN(value) || value === star) break;
      length -= 3;
      bytes[length++] = value;
    }
  }
  return bytes.toString('utf8', 0, length);
}

const percent = 0x25;
const star = 0x2a;

function hexValue(byte: number | undefined): number {
  return byte === undefined ? Number.NaN : (hexValues[byte] ?? Number.NaN);
}

const hexValues: Readonly<Record<number, number>> = Object.fromEntries(
  [...'0123456789abcdefABCDEF'].map((digit) => [digit.charCodeAt(0), Number.parseInt(digit, 16)]),
);
