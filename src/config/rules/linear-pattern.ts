import { RE2JS } from 're2js';
import type { TextPattern, TextReplacement } from '../../domain/index.ts';

/** Bounds the size of the compiled program. */
export const maxPatternLength = 1000;

/** Undefined if the expression is not valid RE2 syntax: look-around and back-references are not. */
export function compileLinearPattern(expression: string): TextPattern | undefined {
  if (expression.length > maxPatternLength) return undefined;
  try {
    const compiled = RE2JS.compile(expression, RE2JS.DOTALL);
    return (text) => compiled.matcher(text).find();
  } catch {
    return undefined;
  }
}

/**
 * Replaces what the expression matches. Each search may read the rest of the text, and there is one for each match, so
 * `spend` is told how much that is and throws if it is too much. Undefined as above, and if it matches the empty text.
 */
export function compileLinearReplacement(expression: string, replacement: string): TextReplacement | undefined {
  if (expression.length > maxPatternLength) return undefined;
  try {
    const compiled = RE2JS.compile(expression, RE2JS.DOTALL);
    if (compiled.matcher('').find()) return undefined;
    return (text, spend) => {
      spend(text.length);
      const matcher = compiled.matcher(text);
      const pieces: string[] = [];
      let done = 0;
      while (matcher.find()) {
        spend(text.length - matcher.end());
        // A match of nothing, as of a word boundary, has nothing to replace.
        if (matcher.start() === matcher.end()) continue;
        pieces.push(text.slice(done, matcher.start()), replacement);
        done = matcher.end();
      }
      return done === 0 ? text : pieces.join('') + text.slice(done);
    };
  } catch {
    return undefined;
  }
}

/**
 * A glob on a whole text: `*` stands for any characters except `/`, `**` for any characters, `?` for one character
 * except `/`. A `**` between slashes also stands for nothing. Everything else stands for itself.
 */
export function compileGlob(glob: string): TextPattern | undefined {
  const pieces = glob.split(globParts).map((piece, index) => (index % 2 === 0 ? RE2JS.quote(piece) : globWords[piece]));
  return compileLinearPattern(`\\A(?:${pieces.join('')})\\z`);
}

const globParts = /(\*\*\/|\*\*|\*|\?)/;

const globWords: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
