/**
 * How secret a value is, judging by its key. `token` is separate because counters and cursors share the word: `tokens:
 * 512`, `nextPageToken`.
 */
export type KeyKind = 'plain' | 'secret' | 'token' | 'tokens' | 'pass';

/** Every key that `keyKind` calls secret contains one of these. The fast test searches raw text for them. */
export const secretWords: string =
  'pass|pwd|secret|token|credential|cookie|authori[sz]ation|(?:api|private|access|secret|signing|encryption|ssh)[-_ .]?key';

export function keyKind(key: string): KeyKind {
  // Most keys contain no such word, and splitting a key is expensive.
  if (!anySecretWord.test(key)) return 'plain';
  const words = wordsOf(key);
  const last = words.at(-1);
  if (last === undefined || descriptiveWords.has(last)) return 'plain';
  if (words.some((word) => secretWord.test(word)) || secretPair.test(words.join('_'))) return 'secret';
  if (/tokens?$/.test(last)) {
    if (countingOrCursor.test(words.join('').replace(/tokens?$/, ''))) return 'plain';
    return last.endsWith('s') ? 'tokens' : 'token';
  }
  if (words.some((word) => word === 'token')) return 'token';
  return last === 'pass' ? 'pass' : 'plain';
}

const anySecretWord = /pass|pwd|secret|token|credential|cookie|authori[sz]ation|key/i;

/** Whether a key of that kind hides this value. `first` is the value's first character. */
export function hidesValue(kind: KeyKind, first: string): boolean {
  switch (kind) {
    case 'plain':
      return false;
    case 'pass':
      return first === '"';
    case 'tokens':
      return first === '"' || first === '{' || first === '[';
    case 'secret':
    case 'token':
      // null, true and false reveal nothing.
      return first !== 'n' && first !== 't' && first !== 'f';
  }
}

// Anchored at the end, so that `secretary` and `passport` stay readable and `clientsecret` does not.
const secretWord =
  /(?:passw(?:or)?d|passphrase|passcode|pwd|secrets?|credentials?|cookies?|authori[sz]ation|(?:api|private|access|secret|signing|encryption|ssh)keys?)$/;

const secretPair = /(?:^|_)(?:api|private|access|secret|signing|encryption|ssh)_keys?(?:_|$)/;

const countingOrCursor =
  /(?:max|min|num|count|total|per|limit|budget|used|next|prev|previous|page|pagination|continuation|cursor|sync|start|end|resume|progress)/;

/** Last words of keys that describe a secret instead of holding one. */
const descriptiveWords: ReadonlySet<string> = new Set(
  (
    'name names id ids type types kind count counts length size policy endpoint url uri path file field label ' +
    'ttl expiry expires expiration expired version limit limits budget usage format algorithm enabled required ' +
    'arn ref refs scope scopes strength'
  ).split(' '),
);

/** Splits `clientSecret`, `CLIENT_SECRET` and `client-secret` into the same two lower-case words. */
function wordsOf(key: string): string[] {
  const words: string[] = [];
  const small = key.toLowerCase();
  // Some capitals have no lower-case form of the same length, so positions in the two texts would differ.
  const hasCapitals = small !== key && small.length === key.length;
  let start = -1;
  for (let at = 0; at <= small.length; at++) {
    const isLetter = isSmall(small.charCodeAt(at));
    if (start >= 0 && (!isLetter || (hasCapitals && startsWord(key, at)))) {
      words.push(small.slice(start, at));
      start = -1;
    }
    if (start < 0 && isLetter) start = at;
  }
  return words;
}

/** A capital after a lower-case letter, or the last of several capitals before one. */
function startsWord(key: string, at: number): boolean {
  if (!isCapital(key.charCodeAt(at))) return false;
  return isCapital(key.charCodeAt(at - 1)) ? isSmall(key.charCodeAt(at + 1)) : true;
}

function isSmall(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isCapital(code: number): boolean {
  return code >= 65 && code <= 90;
}
