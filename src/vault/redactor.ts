import { hideCredentials, mayHoldCredential, redacted } from './credential-text.ts';
import { redactJson, type TextRules } from './json-redaction.ts';
import { createKnownValues, shortestNeedle } from './known-values.ts';
import { createShortValues } from './short-values.ts';
import { cutFirst, lookahead } from './shorten-text.ts';
import { spellingsOf } from './value-spellings.ts';

export interface Redactor {
  /**
   * Takes valid JSON and returns valid JSON on one line. Returns the same string if it contains no secret. Of a text of
   * more than `most` characters, only the beginning is redacted and returned: at least as much of it as is safe to show,
   * which may be more than `most` characters.
   */
  json(text: string, most?: number): string;
  /**
   * Redacts plain text. A text of more than `most` characters is cut and then redacted; no part of a secret that was
   * cut is shown.
   */
  message(text: string, most?: number): string;
}

interface Place {
  /** How many JSON strings the text is nested in. */
  readonly depth: number;
  /** Whether the original text continues after this one. */
  readonly cut: boolean;
}

/**
 * Hides known secret values, the values of members with secret names, and text that looks like a credential. It runs
 * before every sink and most texts contain nothing secret, so a cheap test comes first. The work is linear in the
 * length of the text. Values of fewer than six characters are hidden only if they are listed in `short` and stand
 * alone.
 */
export function createRedactor(secrets: readonly string[], short: readonly string[] = []): Redactor {
  const values = secrets.filter((secret) => secret.length >= shortestNeedle && !redacted.includes(secret));
  const known = createKnownValues(spellingsOf(values));
  const shortValues = createShortValues(short.filter((value) => value !== '' && !redacted.includes(value)));
  const numeric = values.filter((secret) => /^[\d.eE+-]+$/.test(secret));
  const numbers = createKnownValues(numeric.map((text) => ({ text, edges: false, anyCase: false })));
  const anyNumber = numeric.length > 0 || short.length > 0;

  function hideText(text: string, { depth, cut }: Place): string {
    let shown = shortValues.hide(known.hide(text, redacted), redacted);
    // The members of a JSON document inside a string have names too.
    if (depth < deepestNesting && isDocument(shown, cut)) shown = redactJson(shown, nested({ depth: depth + 1, cut }));
    return mayHoldCredential(shown) ? hideCredentials(shown, cut) : shown;
  }

  function hideNumbers(text: string): string {
    if (!anyNumber) return text;
    return text.replace(/-?\d[\d.eE+-]*/g, (number) =>
      shortValues.isOne(number) || numbers.holds(number) ? `"${redacted}"` : number,
    );
  }

  function nested(place: Place): TextRules {
    return { content: (text) => hideText(text, place), between: hideNumbers };
  }

  function message(text: string, most = Number.POSITIVE_INFINITY): string {
    return cutFirst(text, most, (part, cut) => hideText(part, { depth: 0, cut }));
  }

  // A record is one line. Between strings, a line break is only white space.
  const between = (text: string): string => hideNumbers(text.replace(/[\r\n]+/g, ' '));
  const top: TextRules = { content: (text) => hideText(text, { depth: 0, cut: false }), between };

  function upTo(most: number): TextRules {
    return { content: (text) => message(text, most), between: (text) => cutFirst(text, most, between) };
  }

  return {
    json(text, most = Number.POSITIVE_INFINITY) {
      if (text.length > most)
        return redactJson(text.slice(0, most + longestEscape * (most + lookahead)), upTo(most), most);
      const isPlain = !needsWalk(text) && !mayHoldCredential(text) && !known.holds(text) && !shortValues.holds(text);
      return isPlain ? text : redactJson(text, top);
    },
    message,
  };
}

const deepestNesting = 4;
/** A character of a JSON string takes at most six characters of its text: `\u0041`. */
const longestEscape = 6;

/** Line breaks to remove, or escapes that could spell a secret differently. */
function needsWalk(text: string): boolean {
  return text.includes('\n') || text.includes('\r') || (text.includes('\\') && /\\[u/]/.test(text));
}

function isDocument(text: string, cut: boolean): boolean {
  if (!/^\s*[{[]/.test(text) || !text.includes('"')) return false;
  if (cut) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
