import type { Decision } from '../../domain/index.ts';
import { resourcePrefix } from './reading-name.ts';
import { uriSpellings } from './uri-spellings.ts';
import { isPattern } from './wildcard.ts';

/** The templates of its server that a URI could come from. */
export type FormsOf = (uri: string) => readonly string[];

/**
 * The strictest of what is said of a URI in any of its spellings, and of the templates that these fit: whoever denies
 * `memo://{id}` means all that has this form. A rule that names this very spelling stands.
 */
export function decideOnSpellings(subject: string, formsOf: FormsOf, decide: (subject: string) => Decision): Decision {
  const written = decide(subject);
  if (!subject.startsWith(resourcePrefix) || isNamedBy(written)) return written;
  const uri = subject.slice(resourcePrefix.length);
  const { same, alike } = uriSpellings(uri);
  let strictest = written;
  const consider = (decision: Decision): void => {
    if (strictness[decision.effect] > strictness[strictest.effect]) strictest = decision;
  };
  for (const spelling of same) consider(decide(resourcePrefix + spelling));
  const forms = new Set([uri, ...same].flatMap((spelling) => formsOf(spelling)));
  for (const text of [...alike, ...forms]) {
    const decision = decide(resourcePrefix + text);
    // An include list that names a URI need name neither its form nor, where it has a query, what is before that.
    if (decision.reason.kind !== 'not-included') consider(decision);
  }
  return strictest;
}

function isNamedBy({ reason }: Decision): boolean {
  return reason.kind === 'rule' && !isPattern(reason.pattern);
}

const strictness: Readonly<Record<Decision['effect'], number>> = { allow: 0, ask: 1, deny: 2 };
