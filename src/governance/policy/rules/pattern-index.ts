import { compileWildcard, matchesWildcard, type Wildcard } from '../../../domain/index.ts';

/** Finds which of many patterns match a text without trying each. */
export interface PatternIndex<T> {
  add(pattern: string, value: T): void;
  /** Calls `see` for each matching pattern, in no particular order. */
  visit(text: string, see: (value: T) => void): void;
}

/**
 * Patterns are indexed by their literal start, then by their literal end. A text has few starts and ends, so ten
 * thousand rules cost a handful of lookups. Only patterns that begin and end with a star, or share both ends, are tried
 * one by one.
 */
export function createPatternIndex<T>(): PatternIndex<T> {
  const byPrefix = createLengthTable<LengthTable<Entry<T>[]>>();
  return {
    add(pattern, value) {
      const wildcard = compileWildcard(pattern);
      const bySuffix = byPrefix.open(wildcard.prefix, createLengthTable<Entry<T>[]>);
      bySuffix.open(wildcard.suffix, () => []).push({ wildcard, value });
    },
    visit(text, see) {
      byPrefix.visit(
        (length) => text.slice(0, length),
        text.length,
        (bySuffix) =>
          bySuffix.visit(
            (length) => text.slice(text.length - length),
            text.length,
            (entries) => {
              for (const { wildcard, value } of entries) if (matchesWildcard(wildcard, text)) see(value);
            },
          ),
      );
    },
  };
}

interface Entry<T> {
  readonly wildcard: Wildcard;
  readonly value: T;
}

/** A map that finds all keys that are a piece of a text, by key length. */
interface LengthTable<V> {
  open(key: string, create: () => V): V;
  visit(piece: (length: number) => string, maxLength: number, see: (value: V) => void): void;
}

function createLengthTable<V>(): LengthTable<V> {
  const values = new Map<string, V>();
  const lengths = new Set<number>();
  return {
    open(key, create) {
      let value = values.get(key);
      if (value === undefined) {
        value = create();
        values.set(key, value);
        lengths.add(key.length);
      }
      return value;
    },
    visit(piece, maxLength, see) {
      for (const length of lengths) {
        if (length > maxLength) continue;
        const value = values.get(piece(length));
        if (value !== undefined) see(value);
      }
    },
  };
}
