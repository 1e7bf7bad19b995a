import { type Argument, InvalidArgumentError, type Option } from 'commander';
import { wordsMeant } from '../../base/index.ts';

/** Allows only these words, and suggests one for a typo. */
export function withChoices<Asked extends Option | Argument>(asked: Asked, words: readonly string[]): Asked {
  asked.choices(words);
  asked.argParser((text: string) => {
    if (words.includes(text)) return text;
    const meant = wordsMeant(text, words);
    throw new InvalidArgumentError(meant === undefined ? `Use one of ${words.join(', ')}.` : `Did you mean ${meant}?`);
  });
  return asked;
}
