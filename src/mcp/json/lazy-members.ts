import { isJsonObject } from '../../base/index.ts';
import { membersOf, withMembers } from './members.ts';
import type { Member } from './scan-json.ts';

/** Longer texts are parsed only in part, where somebody reads a member. */
export const maxParsedAtOnce: number = 64 * 1024;

/** The value of an object's text that was validated before. */
export function parsedObject(text: string): Record<string, unknown> {
  if (text.length > maxParsedAtOnce) return lazyObject(text, membersOf(text));
  return JSON.parse(text) as Record<string, unknown>; // the text of an object
}

/**
 * An object of which only small members are parsed, and only as many as are small together; another one is parsed when
 * somebody reads it. Most large results are only forwarded as text, and parsing one of 50 MB would hold the loop and
 * need several times its size. Throws SyntaxError for a small member that is not JSON.
 */
export function lazyObject(text: string, members: readonly Member[]): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  let left = maxParsedAtOnce;
  for (const { key, start, end } of members) {
    const length = end - start;
    const isLarge = length > left;
    if (!isLarge) left -= length;
    const property = isLarge ? lazily(text, start, end) : { value: JSON.parse(text.slice(start, end)), writable: true };
    // Defined, not assigned: "__proto__" is a key like any other.
    Object.defineProperty(value, key, { ...property, enumerable: true, configurable: true });
  }
  return value;
}

/** Whether a member is an object, without parsing it. */
export function isObjectMember(value: Readonly<Record<string, unknown>>, key: string): boolean {
  return lazyMember(value, key)?.isObject ?? isJsonObject(value[key]);
}

/** The text of a member that was too large to be parsed at once. Undefined for other members. */
export function unparsedText(value: Readonly<Record<string, unknown>>, key: string): string | undefined {
  return lazyMember(value, key)?.text();
}

/** A result with some members set, of which the others are neither parsed nor respelt. */
export function withResultMembers<T extends LazyResult>(result: T, changes: Readonly<Record<string, unknown>>): T {
  const texts = Object.entries(changes).map(([key, member]) => [key, JSON.stringify(member)]);
  const value = Object.defineProperties<Record<string, unknown>>(
    {},
    { ...Object.getOwnPropertyDescriptors(result.value), ...Object.getOwnPropertyDescriptors(changes) },
  );
  return { ...result, text: withMembers(result.text, Object.fromEntries(texts)), value };
}

interface LazyResult {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface LazyMember {
  (): unknown;
  readonly isObject: boolean;
  readonly text: () => string;
}

function lazyMember(value: Readonly<Record<string, unknown>>, key: string): LazyMember | undefined {
  return Object.getOwnPropertyDescriptor(value, key)?.get as LazyMember | undefined; // nobody else defines one
}

function lazily(text: string, start: number, end: number): { readonly get: LazyMember } {
  let parsed: { readonly value: unknown } | undefined;
  const memberText = (): string => text.slice(start, end);
  const read = (): unknown => {
    parsed ??= { value: JSON.parse(memberText()) };
    return parsed.value;
  };
  return { get: Object.assign(read, { isObject: text.charCodeAt(start) === openObject, text: memberText }) };
}

const openObject = 123;
