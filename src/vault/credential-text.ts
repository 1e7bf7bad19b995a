import { hideJsonWebTokens } from './json-web-tokens.ts';
import { hidesValue, keyKind, secretWords } from './secret-keys.ts';

export const redacted = '[redacted]';

/**
 * True for every text that `hideCredentials` or a secret key would change, and for some that they would not. It scans
 * raw JSON, so it requires no word boundaries: an escape such as `\n` hides them.
 */
export function mayHoldCredential(text: string): boolean {
  return holdsKey(text) || bearerWord.test(text) || holdsToken(text);
}

/**
 * Hides credentials that are recognisable by their form in plain text. With `cut`, the closing quote may be missing.
 */
export function hideCredentials(text: string, cut: boolean): string {
  let result = hideJsonWebTokens(text, redacted);
  for (const shape of shapes) result = result.replace(shape, redacted);
  return result
    .replace(bearer, `$1${redacted}`)
    .replace(urlPassword, `$1${redacted}@`)
    .replace(header, `$1${redacted}`)
    .replace(cut ? pairOrCut : pair, hidePair);
}

/** A colon or an equals sign follows a name, and most long texts have few of them, so the search starts there. */
function holdsKey(text: string): boolean {
  return holdsKeyBefore(':', text) || holdsKeyBefore('=', text);
}

function holdsKeyBefore(sign: string, text: string): boolean {
  let count = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
    if (++count > fewSigns) return coarseKey.test(text);
    if (keyBefore.test(text.slice(Math.max(0, at - longestKey), at))) return true;
  }
  return false;
}

/** Searching for a single hint is nearly free. Only texts that contain it pay for the pattern. */
function holdsToken(text: string): boolean {
  return coarseTokens.some(({ hint, pattern }) => text.includes(hint) && pattern.test(text));
}

const fewSigns = 64;
const longestKey = 256;
const nameTail = `(?:${secretWords})[\\w .()$-]{0,32}\\\\*["']? ?`;
const keyBefore = new RegExp(`${nameTail}$`, 'i');
const coarseKey = new RegExp(`${nameTail}[:=]`, 'i');
const bearerWord = /bearer/i;
const coarseTokens: readonly { readonly hint: string; readonly pattern: RegExp }[] = [
  { hint: '_', pattern: /gh[pousr]_|github_pat_|qm_[\w-]{12}/ },
  { hint: '-', pattern: /sk-[\w-]{12}|xox[abeprs]-|glpat-|-----BEGIN/ },
  { hint: 'eyJ', pattern: /eyJ[\w-]{4}/ },
  { hint: '://', pattern: /:\/\/[^\s/"]*@/ },
  { hint: 'KIA', pattern: /AKIA[0-9A-Z]{12}/ },
  { hint: 'SIA', pattern: /ASIA[0-9A-Z]{12}/ },
];

const start = '(?<![A-Za-z0-9])';
const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  new RegExp(`${start}(?:gh[pousr]_|github_pat_)\\w{10,}`, 'g'),
  new RegExp(`${start}sk-[\\w-]{16,}`, 'g'),
  new RegExp(`${start}xox[abeprs]-[\\w-]{8,}`, 'g'),
  new RegExp(`${start}A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])`, 'g'),
  new RegExp(`${start}glpat-[\\w.-]{8,}`, 'g'),
  new RegExp(`${start}qm_[\\w-]{16,}`, 'g'),
];
const bearer = /(bearer +)[\w.~+/=-]{6,}/gi;
const urlPassword = /(:\/\/[^\s/:@"']*:)[^\s/"']+@/g;
const header =
  /((?<![\w-])(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key): ?(?:(?:basic|bearer|digest|token) )?)[^\r\n"']+/gi;
const pairHead = `((?:${secretWords})[\\w.-]{0,32})(\\\\*["'] ?: ?|\\\\*["']? ?= ?)`;
const bareValue = `[^\\s"'&;,)}\\]]+`;
const pair = new RegExp(`${pairHead}("(?:[^"\\\\]|\\\\.)*"|'[^']*'|\\\\"[^"\\\\]*\\\\"|${bareValue})`, 'gi');
const pairOrCut = new RegExp(
  `${pairHead}("(?:[^"\\\\]|\\\\.)*(?:"|\\\\?$)|'[^']*(?:'|$)|\\\\"[^"\\\\]*(?:\\\\"|\\\\?$)|${bareValue})`,
  'gi',
);

/**
 * Hides the value of `key=value` and `"key": "value"` inside a text. The match begins at the secret word; the key may
 * begin earlier.
 */
function hidePair(whole: string, tail: string, between: string, value: string, at: number, text: string): string {
  if (value.startsWith(redacted.slice(0, -1))) return whole;
  const quote = /^\\?["']/.exec(value)?.[0] ?? '';
  const bare = /^(?:null|true|false|\d+)$/.test(value);
  if (!hidesValue(keyKind(text.slice(keyStart(text, at), at) + tail), bare ? value.charAt(0) : '"')) return whole;
  return `${tail}${between}${quote}${redacted}${quote}`;
}

function keyStart(text: string, from: number): number {
  let at = from;
  while (at > 0 && from - at < 32 && isKeyCharacter(text.charCodeAt(at - 1))) at--;
  return at;
}

/** A letter, a digit, `_`, `.` or `-`. */
function isKeyCharacter(code: number): boolean {
  if (code >= 97 && code <= 122) return true;
  return (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 45 || code === 46;
}
