import { unescapings } from './escaped-text.ts';
import { merged } from './text-spans.ts';
import { createAutomaton, type KnownAutomaton } from './value-automaton.ts';

/** Finds any number of values in one pass. The cost does not grow with the number of secrets. */
export interface KnownValues {
  holds(text: string): boolean;
  /** Returns the same string if it contains no known value. */
  hide(text: string, replacement: string): string;
}

/** One spelling of a value. */
export interface Needle {
  readonly text: string;
  /**
   * Base64 spreads a byte over two characters, so the characters at the edges belong to the value and its neighbours.
   */
  readonly edges: boolean;
  /** Ignore letter case. */
  readonly anyCase: boolean;
}

/** The minimum length of a value. The prefilter reads this many characters. */
export const shortestNeedle = 6;

export function createKnownValues(needles: readonly Needle[]): KnownValues {
  if (needles.length === 0) return { holds: () => false, hide: (text) => text };
  const mayHold = createQuickLook(needles);
  let automata: readonly KnownAutomaton[] | undefined;
  const plainSpans = (text: string): readonly number[] => {
    if (!mayHold(text)) return [];
    // Most processes never see a secret in a text, so build the automata on first use.
    automata ??= createAutomata(needles);
    return merged(automata.map((automaton) => automaton.spansIn(text)));
  };
  const spansIn = (text: string): readonly number[] => {
    const unescaped = unescapings(text);
    if (unescaped.length === 0) return plainSpans(text);
    const origins = unescaped.map((each) => plainSpans(each.text).map((index) => each.originOf(index)));
    return merged([plainSpans(text), ...origins]);
  };
  return {
    holds: (text) => spansIn(text).length > 0,
    hide(text, replacement) {
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

function createAutomata(needles: readonly Needle[]): KnownAutomaton[] {
  const exact = needles.filter(({ anyCase }) => !anyCase);
  const folded = needles.filter(({ anyCase }) => anyCase);
  return [
    ...(exact.length > 0 ? [createAutomaton(exact, { least: shortestNeedle, unitOf: (code) => code })] : []),
    ...(folded.length > 0 ? [createAutomaton(folded, { least: shortestNeedle, unitOf: smallLetter })] : []),
  ];
}

/** Lower case for A to Z and Latin-1. Upper and lower case differ in one bit there, which the prefilter ignores. */
function smallLetter(code: number): number {
  const isCapital = (code >= 65 && code <= 90) || (code >= 0xc0 && code <= 0xde && code !== 0xd7);
  return isCapital ? code | caseBit : code;
}

const blocks = 1 << 14;
const starts = 1 << 16;
const caseBit = 0x20;

/**
 * A prefilter with Wu and Manber's skips over the first characters of all values: where no value can begin, it skips up
 * to five characters. It ignores letter case, never misses a beginning, and advances at least one character per step.
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
  return ((text.charCodeAt(at - 1) | caseBit) * 131 + (text.charCodeAt(at) | caseBit)) & (blocks - 1);
}

/** A hash of the last `shortestNeedle` characters that end at `at`. */
function startOf(text: string, at: number): number {
  let hash = 0;
  for (let each = at - shortestNeedle + 1; each <= at; each++)
    hash = (hash * 31 + (text.charCodeAt(each) | caseBit)) | 0;
  return (hash ^ (hash >>> 16)) & (starts - 1);
}
