import { ScanFailure } from './scan-json.ts';

/**
 * Checks the whole grammar of JSON (RFC 8259) without building values: one pass, a number per level. The text is
 * forwarded as it came, so a client's parser would otherwise be the first to find a bad escape or literal. Throws
 * ScanFailure.
 */
export function validateJson(text: string, maxDepth: number): void {
  new Validator(text, maxDepth).run();
}

const quote = 34;
const plus = 43;
const comma = 44;
const minus = 45;
const dot = 46;
const zero = 48;
const nine = 57;
const colon = 58;
const openArray = 91;
const backslash = 92;
const closeArray = 93;
const lowerE = 101;
const lowerU = 117;
const openObject = 123;
const closeObject = 125;

/** A regular expression reads a long run fastest, but costs more to start than a few characters do. */
const fewCharacters = 48;

/** Iterative, so that depth costs no stack. */
class Validator {
  readonly #text: string;
  readonly #maxDepth: number;
  /** The closing brackets that are still due. */
  readonly #open: number[] = [];
  /** Made when a long string needs it: most texts are short. */
  #plainRun: RegExp | undefined;
  #depth = 0;
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  run(): void {
    do this.#value();
    while (this.#next());
    if (this.#at !== this.#text.length) throw this.#failure('the end of the text');
  }

  /** Reads a value; of an object or array that is not empty, up to its first value. */
  #value(): void {
    for (;;) {
      const code = this.#skipBlanks();
      if (code === openArray) {
        this.#enter(closeArray);
        if (this.#skipBlanks() !== closeArray) continue;
        this.#leave();
      } else if (code === openObject) {
        this.#enter(closeObject);
        if (this.#skipBlanks() !== closeObject) {
          this.#key();
          continue;
        }
        this.#leave();
      } else if (code === quote) this.#string();
      else if (code === minus || (code >= zero && code <= nine)) this.#number();
      else this.#word();
      return;
    }
  }

  /** Reads what follows a value. Whether another value must come. */
  #next(): boolean {
    for (;;) {
      const code = this.#skipBlanks();
      if (this.#depth === 0) return false;
      const due = this.#open[this.#depth];
      if (code === comma) {
        this.#at++;
        if (due === closeObject) {
          this.#skipBlanks();
          this.#key();
        }
        return true;
      }
      if (code !== due) throw this.#failure('a comma or a closing bracket');
      this.#leave();
    }
  }

  #enter(close: number): void {
    if (++this.#depth > this.#maxDepth) throw new ScanFailure('depth', `nested deeper than ${this.#maxDepth} levels`);
    this.#open[this.#depth] = close;
    this.#at++;
  }

  #leave(): void {
    this.#depth--;
    this.#at++;
  }

  #key(): void {
    if (this.#text.charCodeAt(this.#at) !== quote) throw this.#failure('a key');
    this.#string();
    if (this.#skipBlanks() !== colon) throw this.#failure('a colon');
    this.#at++;
  }

  #skipBlanks(): number {
    const text = this.#text;
    let code = text.charCodeAt(this.#at);
    while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++this.#at);
    return code;
  }

  #string(): void {
    const text = this.#text;
    let at = this.#at + 1;
    let long = at + fewCharacters;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === quote) break;
      if (code === backslash) {
        at = this.#afterEscape(at);
        long = at + fewCharacters;
      } else if (code >= 32) at = at < long ? at + 1 : this.#afterPlainRun(at);
      else {
        // A control character, or no character at all.
        this.#at = at;
        throw this.#failure(Number.isNaN(code) ? 'the end of a string' : 'no control character');
      }
    }
    this.#at = at + 1;
  }

  #afterPlainRun(at: number): number {
    this.#plainRun ??= /[ !#-[\]-\uffff]*/y;
    this.#plainRun.lastIndex = at;
    this.#plainRun.test(this.#text);
    return this.#plainRun.lastIndex;
  }

  #afterEscape(at: number): number {
    const text = this.#text;
    const code = text.charCodeAt(at + 1);
    if (code === lowerU) {
      let digits = 0;
      while (digits < 4 && isHex(text.charCodeAt(at + 2 + digits))) digits++;
      if (digits === 4) return at + 6;
    } else if (isSimpleEscape(code)) return at + 2;
    this.#at = at;
    throw this.#failure('a valid escape');
  }

  #number(): void {
    const text = this.#text;
    if (text.charCodeAt(this.#at) === minus) this.#at++;
    if (text.charCodeAt(this.#at) === zero) this.#at++;
    else this.#digits();
    if (text.charCodeAt(this.#at) === dot) {
      this.#at++;
      this.#digits();
    }
    // Either letter case.
    if ((text.charCodeAt(this.#at) | 32) !== lowerE) return;
    const sign = text.charCodeAt(++this.#at);
    if (sign === plus || sign === minus) this.#at++;
    this.#digits();
  }

  #digits(): void {
    const text = this.#text;
    const start = this.#at;
    let code = text.charCodeAt(start);
    while (code >= zero && code <= nine) code = text.charCodeAt(++this.#at);
    if (this.#at === start) throw this.#failure('a digit');
  }

  #word(): void {
    for (const word of ['true', 'false', 'null']) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return;
    }
    throw this.#failure('a value');
  }

  #failure(expected: string): ScanFailure {
    return new ScanFailure('syntax', `expected ${expected} at position ${this.#at}`);
  }
}

function isHex(code: number): boolean {
  const lower = code | 32;
  return (code >= zero && code <= nine) || (lower >= 97 && lower <= 102);
}

/** One of `"\/bfnrt`. */
function isSimpleEscape(code: number): boolean {
  switch (code) {
    case quote:
    case backslash:
    case 47:
    case 98:
    case 102:
    case 110:
    case 114:
    case 116:
      return true;
    default:
      return false;
  }
}
