import { wordsMeant } from '../../base/index.ts';

export interface NameWords {
  /** Before the names there are, such as `Configured servers`. */
  readonly some: string;
  /** If there are none. */
  readonly none: string;
}

const mostNames = 20;

/** What to do about a name that nothing has: the likely one, or those there are. */
export function nameHint(word: string, known: readonly string[], { some, none }: NameWords): string {
  const meant = wordsMeant(word, known);
  if (meant !== undefined) return `Did you mean ${meant}?`;
  if (known.length === 0) return none;
  const more = known.length > mostNames ? ' …' : '';
  return `${some}: ${known.slice(0, mostNames).join(', ')}${more}.`;
}
