/**
 * Finds where things stand in JSON text, so that bytes can be forwarded as they came.
 *
 * `JSON.parse` changes big integers and silently drops repeated keys; forwarding bytes that nobody
 * looked at would let our parser and the upstream's disagree. So every inbound message is scanned:
 * repeated keys and too deep nesting are rejected, and the spans of the outer members are known.
 * The scanner does not check literals, numbers, escapes and what it skips; `JSON.parse` does that on the same text.
 */
export interface Member {
  readonly key: string;
  /** Where the quoted key begins. */
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
  /** The value's own members, when it is an object no deeper than `collectDepth`. */
  readonly members: readonly Member[] | undefined;
}

export interface ScanOptions {
  readonly maxDepth: number;
  readonly rejectRepeatedKeys: boolean;
  /** Objects down to this depth report their members; the outermost is 1. */
  readonly collectDepth: number;
}

export class ScanFailure extends Error {
  override readonly name = 'ScanFailure';
  readonly reason: 'syntax' | 'depth' | 'repeated-key';

  constructor(reason: ScanFailure['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface ScannedValue {
  readonly start: number;
  readonly end: number;
  readonly members: readonly Member[] | undefined;
}

/** Scans the one value that `text` holds; throws ScanFailure. */
export function scanJson(text: string, options: ScanOptions): ScannedValue {
  const scanner = new Scanner(text, options);
  scanner.skipBlanks();
  const start = scanner.position;
  const members = scanner.value(1);
  const end = scanner.position;
  scanner.skipBlanks();
  if (scanner.position !== text.length) throw new ScanFailure('syntax', 'text after the end of the JSON value');
  return { start, end, members };
}

/** The spans of an array's elements. Only for text that `scanJson` accepted. */
export function scanElements(text: string, start: number): readonly { start: number; end: number }[] {
  const scanner = new Scanner(text, { maxDepth: Number.MAX_SAFE_INTEGER, rejectRepeatedKeys: false, collectDepth: 0 });
  scanner.position = start;
  return scanner.elements();
}

/**
 * Whether valid JSON nests deeper than that. Costs next to nothing for the texts that cannot: those that are short, or have
 * fewer brackets than levels allowed.
 */
export function isDeeperThan(text: string, maxDepth: number): boolean {
  if (text.length <= 2 * maxDepth || !hasMoreBrackets(text, maxDepth)) return false;
  try {
    scanJson(text, { maxDepth, rejectRepeatedKeys: false, collectDepth: 0 });
    return false;
  } catch (error) {
    return error instanceof ScanFailure && error.reason === 'depth';
  }
}

function hasMoreBrackets(text: string, count: number): boolean {
  let left = count;
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (--left < 0) return true;
  }
  return false;
}

export function findMember(members: readonly Member[] | undefined, key: string): Member | undefined {
  if (members === undefined) return undefined;
  for (const member of members) if (member.key === key) return member;
  return undefined;
}

const quote = 34;
const backslash = 92;
const comma = 44;
const colon = 58;
const openObject = 123;
const closeObject = 125;
const openArray = 91;
const closeArray = 93;

class Scanner {
  position = 0;
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #rejectRepeated: boolean;
  readonly #collectDepth: number;

  constructor(text: string, options: ScanOptions) {
    this.#text = text;
    this.#maxDepth = options.maxDepth;
    this.#rejectRepeated = options.rejectRepeatedKeys;
    this.#collectDepth = options.collectDepth;
  }

  value(depth: number): Member[] | undefined {
    const code = this.#text.charCodeAt(this.position);
    if (code === quote) this.#string();
    else if (code !== openObject && code !== openArray) this.#literal();
    else if (depth > this.#collectDepth && !this.#rejectRepeated) this.#skip(depth);
    else if (code === openObject) return this.#object(depth);
    else this.#array(depth);
    return undefined;
  }

  skipBlanks(): void {
    const text = this.#text;
    let at = this.position;
    for (let code = text.charCodeAt(at); code === 32 || code === 10 || code === 13 || code === 9; ) {
      code = text.charCodeAt(++at);
    }
    this.position = at;
  }

  elements(): { start: number; end: number }[] {
    const spans: { start: number; end: number }[] = [];
    this.position++;
    this.skipBlanks();
    if (this.#text.charCodeAt(this.position) === closeArray) return spans;
    for (;;) {
      const start = this.position;
      this.value(2);
      spans.push({ start, end: this.position });
      this.skipBlanks();
      if (this.#text.charCodeAt(this.position++) !== comma) return spans;
      this.skipBlanks();
    }
  }

  #object(depth: number): Member[] | undefined {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    const text = this.#text;
    const members: Member[] | undefined = depth <= this.#collectDepth ? [] : undefined;
    let seen: Seen;
    this.position++;
    this.skipBlanks();
    if (text.charCodeAt(this.position) === closeObject) {
      this.position++;
      return members;
    }
    for (;;) {
      const keyStart = this.position;
      if (text.charCodeAt(keyStart) !== quote) throw syntax('a key', keyStart);
      this.#string();
      let key = '';
      if (members !== undefined || this.#rejectRepeated) {
        key = this.#decodeKey(keyStart + 1, this.position - 1);
        if (this.#rejectRepeated) {
          // The members are a list of keys already, as long as they are few.
          if (members === undefined || members.length > few)
            seen = noteKey(seen ?? members?.map((each) => each.key), key);
          else if (findMember(members, key) !== undefined) throw repeatedKey(key);
        }
      }
      this.skipBlanks();
      if (text.charCodeAt(this.position) !== colon) throw syntax('a colon', this.position);
      this.position++;
      this.skipBlanks();
      const start = this.position;
      const inner = this.value(depth + 1);
      members?.push({ key, keyStart, start, end: this.position, members: inner });
      this.skipBlanks();
      const next = text.charCodeAt(this.position++);
      if (next === closeObject) return members;
      if (next !== comma) throw syntax('a comma or the end of the object', this.position - 1);
      this.skipBlanks();
    }
  }

  #array(depth: number): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    const text = this.#text;
    this.position++;
    this.skipBlanks();
    if (text.charCodeAt(this.position) === closeArray) {
      this.position++;
      return;
    }
    for (;;) {
      this.value(depth + 1);
      this.skipBlanks();
      const next = text.charCodeAt(this.position++);
      if (next === closeArray) return;
      if (next !== comma) throw syntax('a comma or the end of the array', this.position - 1);
      this.skipBlanks();
    }
  }

  /** Past an object or array of whose inside nothing is wanted but its depth; no call per level, so no stack to fill. */
  #skip(outerDepth: number): void {
    const text = this.#text;
    let depth = outerDepth - 1;
    let at = this.position;
    do {
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.position = at;
        this.#string();
        at = this.position;
        continue;
      }
      if (code === openObject || code === openArray) {
        if (++depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
      } else if (code === closeObject || code === closeArray) depth--;
      else if (Number.isNaN(code)) throw syntax('the end of an object or array', at);
      at++;
    } while (depth >= outerDepth);
    this.position = at;
  }

  #string(): void {
    const text = this.#text;
    let at = this.position + 1;
    for (;;) {
      at = text.indexOf('"', at);
      if (at < 0) throw syntax('the end of a string', text.length);
      let slashes = at - 1;
      while (text.charCodeAt(slashes) === backslash) slashes--;
      at++;
      if (((at - slashes) & 1) === 0) break;
    }
    this.position = at;
  }

  /** Numbers, true, false, null: up to the next delimiter. */
  #literal(): void {
    const text = this.#text;
    const start = this.position;
    let at = start;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === comma || code === closeObject || code === closeArray || code <= 32) break;
    }
    if (at === start) throw syntax('a value', start);
    this.position = at;
  }

  #decodeKey(start: number, end: number): string {
    const key = this.#text.slice(start, end);
    if (!key.includes('\\')) return key;
    try {
      return JSON.parse(`"${key}"`) as string; // a JSON string parses to a string
    } catch {
      throw syntax('a valid key', start);
    }
  }
}

/** Most objects have one key or a handful, where a string or an array beats a set. */
type Seen = Set<string> | string[] | string | undefined;

const few = 16;

function noteKey(seen: Seen, key: string): Seen {
  if (seen === undefined) return key;
  if (typeof seen === 'string') {
    if (seen === key) throw repeatedKey(key);
    return [seen, key];
  }
  if (Array.isArray(seen) ? seen.includes(key) : seen.has(key)) throw repeatedKey(key);
  if (!Array.isArray(seen)) return seen.add(key);
  seen.push(key);
  return seen.length > few ? new Set(seen) : seen;
}

function repeatedKey(key: string): ScanFailure {
  return new ScanFailure('repeated-key', `the key ${JSON.stringify(key.slice(0, 80))} appears twice`);
}

function tooDeep(maxDepth: number): ScanFailure {
  return new ScanFailure('depth', `nested deeper than ${maxDepth} levels`);
}

function syntax(expected: string, at: number): ScanFailure {
  return new ScanFailure('syntax', `expected ${expected} at position ${at}`);
}
