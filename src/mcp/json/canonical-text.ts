import { afterJsonString, HubError } from '../../base/index.ts';

/**
 * JSON text without blanks and with sorted keys. Numbers and strings stay as written, because different numbers can be
 * equal after parsing: `JSON.parse` reads 9007199254740993 as 9007199254740992. Only for valid JSON of limited depth.
 */
export function canonicalText(text: string): string {
  const pieces: string[] = [];
  flatten(new TokenReader(text).value(), pieces);
  return pieces.join('');
}

/** Joined once, at the end: otherwise each level would copy all that is inside it. */
type Piece = string | readonly Piece[];

function flatten(piece: Piece, pieces: string[]): void {
  if (typeof piece === 'string') pieces.push(piece);
  else for (const inner of piece) flatten(inner, pieces);
}

interface Named {
  readonly key: string;
  readonly value: Piece;
}

class TokenReader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): Piece {
    switch (this.#next()) {
      case '{':
        return this.#object();
      case '[':
        return ['[', separated(this.#items(']', () => this.value())), ']'];
      case '"':
        return this.#string();
      default:
        return this.#literal();
    }
  }

  #object(): Piece {
    const members = this.#items('}', () => this.#member());
    members.sort((a, b) => (a.key < b.key ? -1 : 1));
    return ['{', separated(members.map(({ key, value }) => [key, ':', value])), '}'];
  }

  #items<T>(end: '}' | ']', read: () => T): T[] {
    const items: T[] = [];
    this.#position++;
    while (this.#next() !== end) {
      items.push(read());
      if (this.#next() === ',') this.#position++;
    }
    this.#position++;
    return items;
  }

  #member(): Named {
    const key = this.#string();
    this.#next();
    this.#position++;
    return { key, value: this.value() };
  }

  #string(): string {
    const start = this.#position;
    const end = afterJsonString(this.#text, start);
    if (this.#text[start] !== '"' || end < 0) throw notJson();
    this.#position = end;
    return this.#text.slice(start, this.#position);
  }

  /** A number, true, false or null. */
  #literal(): string {
    const start = this.#position;
    let at = start;
    while (at < this.#text.length && !isDelimiter(this.#text.charCodeAt(at))) at++;
    if (at === start) throw notJson();
    this.#position = at;
    return this.#text.slice(start, at);
  }

  /** The first character of the next token. */
  #next(): string | undefined {
    while (isBlank(this.#text.charCodeAt(this.#position))) this.#position++;
    return this.#text[this.#position];
  }
}

function separated(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [',', piece]));
}

function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

function isDelimiter(code: number): boolean {
  return code <= 32 || code === 44 || code === 93 || code === 125;
}

function notJson(): HubError {
  return new HubError('INTERNAL', 'Text that should have a canonical form is not JSON.');
}
