import { afterJsonString } from '../../base/index.ts';

/**
 * Finds the positions of values in JSON text, so that bytes can be forwarded unchanged.
 *
 * `JSON.parse` changes big integers and silently drops repeated keys. If the hub forwarded bytes it had not examined,
 * its parser and the upstream's could disagree. So every inbound message is scanned: repeated keys and excessive
 * nesting are rejected, and the spans of the outer members are recorded. The scanner does not check literals, numbers,
 * escapes or the parts it skips; `JSON.parse` does that on the same text.
 */
export interface Member {
  readonly key: string;
  /** The position of the key's opening quote. */
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
  /** The members of the value, if it is an object no deeper than `collectDepth`. */
  readonly members: readonly Member[] | undefined;
}

export interface ScanOptions {
  readonly maxDepth: number;
  readonly rejectRepeatedKeys: boolean;
  /** Objects down to this depth report their members. The outermost has depth 1. */
  readonly collectDepth: number;
  /** The most members that an object which reports them may have. */
  readonly maxMembers?: number;
  /** The most keys in all objects together. Only keys that the scan reads count: all if it rejects repeated ones. */
  readonly maxKeys?: number;
}

/** Not an Error: servers can send garbage faster than stack traces can be recorded. */
export class ScanFailure {
  readonly reason: 'syntax' | 'depth' | 'repeated-key' | 'members' | 'keys';
  readonly message: string;

  constructor(reason: ScanFailure['reason'], message: string) {
    this.reason = reason;
    this.message = message;
  }
}

export interface ScannedValue {
  readonly start: number;
  readonly end: number;
  readonly members: readonly Member[] | undefined;
  /** Commas and colons between values and keys: about as many as JSON.parse would create. */
  readonly parts: number;
}

/** Scans the single value in `text`. Throws ScanFailure. */
export function scanJson(text: string, options: ScanOptions): ScannedValue {
  const scanner = new Scanner(text, options);
  scanner.skipBlanks();
  const start = scanner.position;
  const members = scanner.value(1);
  const end = scanner.position;
  scanner.skipBlanks();
  if (scanner.position !== text.length) throw new ScanFailure('syntax', 'text after the end of the JSON value');
  return { start, end, members, parts: scanner.parts };
}

/** The spans of an array's first elements, at most that many. Only for text that `scanJson` accepted. */
export function scanElements(text: string, start: number, most: number): readonly { start: number; end: number }[] {
  const scanner = new Scanner(text, { maxDepth: Number.MAX_SAFE_INTEGER, rejectRepeatedKeys: false, collectDepth: 0 });
  scanner.position = start;
  return scanner.elements(most);
}

/**
 * Whether valid JSON nests deeper than `maxDepth`. Nearly free for texts that cannot: short ones, and those with fewer
 * brackets than allowed levels.
 */
export function isDeeperThan(text: string, maxDepth: number): boolean {
  if (text.length <= 2 * maxDepth || !hasMore(text, '[{', maxDepth)) return false;
  try {
    scanJson(text, { maxDepth, rejectRepeatedKeys: false, collectDepth: 0 });
    return false;
  } catch (error) {
    return error instanceof ScanFailure && error.reason === 'depth';
  }
}

/** Whether the text has any of these characters more often. Stops as soon as it knows. */
export function hasMore(text: string, characters: string, count: number): boolean {
  let left = count;
  for (const character of characters) {
    for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) if (--left < 0) return true;
  }
  return false;
}

export function findMember(members: readonly Member[] | undefined, key: string): Member | undefined {
  if (members === undefined) return undefined;
  for (const member of members) if (member.key === key) return member;
  return undefined;
}

const quote = 34;
const comma = 44;
const colon = 58;
const openObject = 123;
const closeObject = 125;
const openArray = 91;
const closeArray = 93;

class Scanner {
  position = 0;
  parts = 0;
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #rejectRepeated: boolean;
  readonly #collectDepth: number;
  readonly #maxMembers: number;
  readonly #maxKeys: number;
  #keys = 0;

  constructor(text: string, options: ScanOptions) {
    this.#text = text;
    this.#maxDepth = options.maxDepth;
    this.#rejectRepeated = options.rejectRepeatedKeys;
    this.#collectDepth = options.collectDepth;
    this.#maxMembers = options.maxMembers ?? Number.POSITIVE_INFINITY;
    this.#maxKeys = options.maxKeys ?? Number.POSITIVE_INFINITY;
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

  elements(most: number): { start: number; end: number }[] {
    const spans: { start: number; end: number }[] = [];
    this.position++;
    this.skipBlanks();
    if (this.#text.charCodeAt(this.position) === closeArray) return spans;
    while (spans.length < most) {
      const start = this.position;
      this.value(2);
      spans.push({ start, end: this.position });
      this.skipBlanks();
      if (this.#text.charCodeAt(this.position++) !== comma) return spans;
      this.skipBlanks();
    }
    return spans;
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
      if (++this.#keys > this.#maxKeys) throw tooMany('keys', this.#maxKeys);
      if (members !== undefined && members.length >= this.#maxMembers) throw tooMany('members', this.#maxMembers);
      let key = '';
      if (members !== undefined || this.#rejectRepeated) {
        key = this.#decodeKey(keyStart + 1, this.position - 1);
        if (this.#rejectRepeated) {
          // While the members are few, they serve as the list of keys.
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
      this.parts++;
      this.skipBlanks();
    }
  }

  /** Skips an object or array and checks only its depth. Does not recurse, so it cannot overflow the stack. */
  #skip(outerDepth: number): void {
    const text = this.#text;
    let depth = outerDepth - 1;
    let at = this.position;
    let parts = 0;
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
      else if (code === comma || code === colon) parts++;
      else if (Number.isNaN(code)) throw syntax('the end of an object or array', at);
      at++;
    } while (depth >= outerDepth);
    this.position = at;
    this.parts += parts;
  }

  #string(): void {
    const end = afterJsonString(this.#text, this.position);
    if (end < 0) throw syntax('the end of a string', this.#text.length);
    this.position = end;
  }

  /** Skips a number, true, false or null up to the next delimiter. */
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

/** Most objects have one key or a few, where a string or an array is faster than a set. */
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

function tooMany(what: 'members' | 'keys', most: number): ScanFailure {
  const noun = what === 'keys' ? 'keys' : 'members in one object';
  return new ScanFailure(what, `with over ${most} ${noun}`);
}

function tooDeep(maxDepth: number): ScanFailure {
  return new ScanFailure('depth', `nested deeper than ${maxDepth} levels`);
}

function syntax(expected: string, at: number): ScanFailure {
  return new ScanFailure('syntax', `expected ${expected} at position ${at}`);
}
