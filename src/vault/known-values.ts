import { createAutomaton, type KnownAutomaton } from './value-automaton.ts';

/** Finds any number of values in one pass: the cost of a text does not grow with the number of secrets. */
export interface KnownValues {
  holds(text: string): boolean;
  /** The same string where it holds none. */
  hide(text: string, replacement: string): string;
}

/** A value in one spelling. */
export interface Needle {
  readonly text: string;
  /** Base64 spreads a byte over two characters: those at the edges of the value belong to it and to its neighbours. */
  readonly edges: boolean;
}

/** Values must have this many characters at least: the quick look reads them. */
export const shortestNeedle = 6;

export function createKnownValues(needles: readonly Needle[]): KnownValues {
  if (needles.length === 0) return { holds: () => false, hide: (text) => text };
  const mayHold = createQuickLook(needles);
  let automaton: KnownAutomaton | undefined;
  const spansIn = (text: string): number[] => {
    // Most processes never see a secret in a text: it is built for those that do.
    automaton ??= createAutomaton(needles, shortestNeedle);
    return automaton.spansIn(text);
  };
  return {
    holds: (text) => mayHold(text) && spansIn(text).length > 0,
    hide(text, replacement) {
      if (!mayHold(text)) return text;
      const spans = spansIn(text);
      if (spans.length === 0) return text;
      let shown = '';
      let at = 0;
      for (let index = 0; index < spans.length; index += 2) {
        shown += text.slice(at, spans[index]) + replacement;
        at = spans[index + 1] ?? text.length;
      }
      return shown + text.slice(at);
    },
  };
}

const blocks = 1 << 14;
const starts = 1 << 16;

/**
 * Wu and Manber's skips over the first characters of all values: where no value can begin, up to five characters are passed
 * at once. It never overlooks a beginning, and each step goes on by one character at least.
 */
function createQuickLook(needles: readonly Needle[]): (text: string) => boolean {
  const farthest = shortestNeedle - 1;
  const skips = new Uint8Array(blocks).fill(farthest);
  const beginnings = new Uint8Array(starts);
  for (const { text } of needles) {
    for (let at = 1; at <= farthest; at++) {
      const block = blockOf(text, at);
      skips[block] = Math.min(skips[block] ?? 0, farthest - at);
    }
    beginnings[startOf(text, farthest)] = 1;
  }
  return (text) => {
    const { length } = text;
    for (let at = farthest; at < length; ) {
      const skip = skips[blockOf(text, at)] ?? 0;
      if (skip === 0 && beginnings[startOf(text, at)] === 1) return true;
      at += skip === 0 ? 1 : skip;
    }
    return false;
  };
}

function blockOf(text: string, at: number): number {
  return (text.charCodeAt(at - 1) * 131 + text.charCodeAt(at)) & (blocks - 1);
}

/** Of the characters that end here, as many as the shortest value has. */
function startOf(text: string, at: number): number {
  let hash = 0;
  for (let each = at - shortestNeedle + 1; each <= at; each++) hash = (hash * 31 + text.charCodeAt(each)) | 0;
  return (hash ^ (hash >>> 16)) & (starts - 1);
}
