import { afterJsonString, HubError } from '../../base/index.ts';

/**
 * JSON text without blanks and with sorted keys. Numbers and strings stay as written, because different numbers can be
 * equal after parsing: `JSON.parse` reads 9007199254740993 as 9007199254740992. Only for valid JSON of limited depth.
 */
export function canonicalText(text: string): string {
  const pieces: string[] = [];
  flatten(new CanonicalWriter(text).write(), pieces);
  return pieces.join('');
}

/** Joined once, at the end: otherwise each level would copy all that is inside it. */
type Piece = string | readonly Piece[];

function flatten(piece: Piece, pieces: string[]): void {
  if (typeof piece === 'string') pieces.push(piece);
  else for (const inner of piece) flatten(inner, pieces);
}

interface Member {
  readonly key: string;
  readonly pieces: readonly Piece[];
}

/** Takes over the text in runs, from one blank or object to the next, because most tokens are a few characters. */
class CanonicalWriter {
  readonly #text: string;
  #position = 0;
  /** The run began here. */
  #start = 0;
  #pieces: Piece[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  write(): readonly Piece[] {
    this.#value();
    this.#endRun();
    return this.#pieces;
  }

  #value(): void {
    switch (this.#next()) {
      case '{':
        this.#object();
        break;
      case '[':
        this.#array();
        break;
      case '"':
        this.#string();
        break;
      default:
        this.#literal();
    }
  }

  #object(): void {
    this.#endRun();
    const members: Member[] = [];
    this.#leaveOut();
    while (this.#next() !== '}') {
      members.push(this.#member());
      if (this.#next() === ',') this.#leaveOut();
    }
    this.#leaveOut();
    members.sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#pieces.push(
      '{',
      members.map(({ pieces }, index) => (index === 0 ? pieces : [',', pieces])),
      '}',
    );
  }

  /** The pieces of a member are its own, so that members can be sorted. */
  #member(): Member {
    const around = this.#pieces;
    this.#pieces = [];
    const key = this.#string();
    this.#next();
    this.#position++;
    this.#value();
    this.#endRun();
    const member = { key, pieces: this.#pieces };
    this.#pieces = around;
    return member;
  }

  #array(): void {
    this.#position++;
    while (this.#next() !== ']') {
      this.#value();
      if (this.#next() === ',') this.#position++;
    }
    this.#position++;
  }

  #string(): string {
    const start = this.#position;
    const end = afterJsonString(this.#text, start);
    if (this.#text[start] !== '"' || end < 0) throw notJson();
    this.#position = end;
    return this.#text.slice(start, end);
  }

  /** A number, true, false or null. */
  #literal(): void {
    const start = this.#position;
    while (this.#position < this.#text.length && !isDelimiter(this.#text.charCodeAt(this.#position))) this.#position++;
    if (this.#position === start) throw notJson();
  }

  /** The first character of the next token. A run ends at a blank. */
  #next(): string | undefined {
    if (isBlank(this.#text.charCodeAt(this.#position))) {
      this.#endRun();
      while (isBlank(this.#text.charCodeAt(this.#position))) this.#position++;
      this.#start = this.#position;
    }
    return this.#text[this.#position];
  }

  /** One character, between two runs. */
  #leaveOut(): void {
    this.#position++;
    this.#start = this.#position;
  }

  #endRun(): void {
    if (this.#position > this.#start) this.#pieces.push(this.#text.slice(this.#start, this.#position));
    this.#start = this.#position;
  }
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
