import { hideCredentials, mayHoldCredential, redacted } from './credential-text.ts';
import { lookahead, shortened } from './cut-text.ts';
import { redactJson, type TextRules } from './json-redaction.ts';
import { createKnownValues, shortestNeedle } from './known-values.ts';
import { createShortValues } from './short-values.ts';
import { spellingsOf } from './value-spellings.ts';

export interface Redactor {
  /** Valid JSON in, valid JSON on one line out; the same string when it holds nothing secret. */
  json(text: string): string;
  /**
   * The same for plain text. A text of more than `most` characters is cut, and only then redacted; no part of a secret
   * that was cut through is shown.
   */
  message(text: string, most?: number): string;
}

interface Place {
  /** How many strings of JSON the text is in. */
  readonly depth: number;
  /** Whether the text goes on behind its end. */
  readonly cut: boolean;
}

/**
 * Hides known secret values, the values of members whose name says secret, and what looks like a credential.
 * It stands before every sink and most texts hold nothing, so one cheap look comes first. The work is linear in the text.
 * Values of fewer than six characters are hidden where they stand alone, and only those that are said to be `short` secrets.
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
    // A JSON document inside a string: its members have names too.
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

  const top: TextRules = {
    content: (text) => hideText(text, { depth: 0, cut: false }),
    // A record is one line; between strings a line break is only white space.
    between: (text) => hideNumbers(text.replace(/[\r\n]+/g, ' ')),
  };
  return {
    json(text) {
      const isPlain = !needsWalk(text) && !mayHoldCredential(text) && !known.holds(text) && !shortValues.holds(text);
      return isPlain ? text : redactJson(text, top);
    },
    message(text, most = Number.POSITIVE_INFINITY) {
      if (text.length <= most) return hideText(text, { depth: 0, cut: false });
      const cut = text.length > most + lookahead;
      return shortened(hideText(cut ? text.slice(0, most + lookahead) : text, { depth: 0, cut }), most, cut);
    },
  };
}

const deepestNesting = 4;

/** Line breaks to take out, and escapes that could spell a secret in another way. */
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
