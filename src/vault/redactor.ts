import { hideCredentials, mayHoldCredential, redacted } from './credential-text.ts';
import { redactJson, type TextRules } from './json-redaction.ts';

export interface Redactor {
  /** Valid JSON in, valid JSON on one line out; the same string when it holds nothing secret. */
  json(text: string): string;
  /** The same for plain text. */
  message(text: string): string;
}

/**
 * Hides known secret values, the values of members whose name says secret, and what looks like a credential.
 * It stands before every sink and most texts hold nothing, so one cheap look comes first.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const known = secrets.filter((secret) => secret.length >= shortestSecret && !redacted.includes(secret));
  const spelled = known.length === 0 ? undefined : spellings(known);
  const anyKnown = spelled === undefined ? undefined : new RegExp(spelled);
  const everyKnown = spelled === undefined ? undefined : new RegExp(spelled, 'g');
  const numbers = known.filter((secret) => /^[\d.eE+-]+$/.test(secret));

  function hideText(text: string, depth: number): string {
    let shown = text;
    if (everyKnown !== undefined) shown = shown.replace(everyKnown, redacted);
    // A JSON document inside a string: its members have names too.
    if (depth < deepestNesting && isDocument(shown)) shown = redactJson(shown, nested(depth + 1));
    return mayHoldCredential(shown) ? hideCredentials(shown) : shown;
  }

  function hideNumbers(text: string): string {
    if (numbers.length === 0) return text;
    return text.replace(/-?\d[\d.eE+-]*/g, (number) =>
      numbers.some((secret) => number.includes(secret)) ? `"${redacted}"` : number,
    );
  }

  function nested(depth: number): TextRules {
    return { content: (text) => hideText(text, depth), between: hideNumbers };
  }

  const top: TextRules = {
    content: (text) => hideText(text, 0),
    // A record is one line; between strings a line break is only white space.
    between: (text) => hideNumbers(text.replace(/[\r\n]+/g, ' ')),
  };
  return {
    json(text) {
      if (!needsWalk(text) && !mayHoldCredential(text) && anyKnown?.test(text) !== true) return text;
      return redactJson(text, top);
    },
    message(text) {
      return hideText(text, 0);
    },
  };
}

/** Shorter values are words of everyday text; hiding them would hide the text. */
const shortestSecret = 6;
const deepestNesting = 4;

/** Line breaks to take out, and escapes that could spell a secret in another way. */
function needsWalk(text: string): boolean {
  return text.includes('\n') || text.includes('\r') || (text.includes('\\') && /\\[u/]/.test(text));
}

function isDocument(text: string): boolean {
  if (!/^\s*[{[]/.test(text) || !text.includes('"')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One pattern for every spelling. In falling order a longer secret comes before its own beginning. */
function spellings(secrets: readonly string[]): string {
  const all = new Set<string>();
  for (const secret of secrets) {
    all.add(secret);
    all.add(JSON.stringify(secret).slice(1, -1));
    // A lone half of a surrogate pair has no percent encoding.
    all.add(encodeURIComponent(secret.replace(/[\ud800-\udfff]/gu, '\ufffd')));
  }
  const falling = [...all].sort((a, b) => (a < b ? 1 : -1));
  return falling.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
}
