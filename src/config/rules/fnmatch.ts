import { RE2JS } from 're2js';
import type { TextPattern } from '../../domain/index.ts';
import { compileLinearPattern } from './linear-pattern.ts';

/** A whole text as Python's `fnmatch` compares it: `*` is any text, `?` any character, `[a-z]` and `[!a-z]` a choice. */
export function compileFnmatch(pattern: string): TextPattern | undefined {
  const pieces: string[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    const end = character === '[' ? endOfChoice(pattern, at) : -1;
    if (end > 0) {
      pieces.push(choice(pattern.slice(at + 1, end)));
      at = end;
    } else pieces.push(character === '*' ? '.*' : character === '?' ? '.' : RE2JS.quote(character));
  }
  return compileLinearPattern(`\\A(?:${pieces.join('')})\\z`);
}

/** A bracket right after the opening one, or after the negation, belongs to the choice. Without an end there is none. */
function endOfChoice(pattern: string, open: number): number {
  const first = pattern[open + 1] === '!' ? open + 2 : open + 1;
  return pattern.indexOf(']', first + 1);
}

function choice(inside: string): string {
  const isNegated = inside.startsWith('!');
  const characters = (isNegated ? inside.slice(1) : inside).replace(/[\\[\]^]/g, '\\$&');
  return `[${isNegated ? '^' : ''}${characters}]`;
}
