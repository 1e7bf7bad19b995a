import type { AST } from '@eslint-community/regexpp';
import { parsePattern } from './regexp-program.ts';

/** A text that is hard for a pattern: the beginning of a match, something repeated, and an end at which it fails. */
export interface Attack {
  readonly before: string;
  readonly pump: string;
  readonly after: string;
}

export function attackText({ before, pump, after }: Attack, length: number): string {
  return before + pump.repeat(Math.ceil(length / pump.length)) + after;
}

/** Without a loop that may go on for ever, every start costs a constant at most: such a pattern is linear as it stands. */
export function hasEndlessLoop(pattern: RegExp): boolean {
  return parsePattern(pattern).alternatives.some(({ elements }) => elements.some(isEndless));
}

function isEndless(element: AST.Element): boolean {
  switch (element.type) {
    case 'Quantifier':
      return element.max === Number.POSITIVE_INFINITY || isEndless(element.element);
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives.some(({ elements }) => elements.some(isEndless));
    case 'Assertion':
      if (element.kind !== 'lookahead' && element.kind !== 'lookbehind') return false;
      return element.alternatives.some(({ elements }) => elements.some(isEndless));
    default:
      return false;
  }
}

/** From the pattern itself: what its loops repeat, and beginnings of its matches, which every restart reads again. */
export function attacksOn(pattern: RegExp): Attack[] {
  const samples = createSamples(pattern);
  const whole = samples.beginningsOfAll(parsePattern(pattern).alternatives);
  const loops = samples.loops;
  const starts = unique(['', 'x', ...loops.map(({ before }) => before)]).slice(0, mostStarts);
  const turns = unique(loops.flatMap(({ turns: each }) => each)).slice(0, mostPumps);
  const beginnings = unique(whole.filter((text) => text !== '')).slice(0, mostPumps);
  const ends = ['', '\0', '\n#', '"x'];
  const attacks: Attack[] = [];
  for (const pump of unique([...turns, ...beginnings])) {
    const befores = turns.includes(pump) ? starts : ['', 'x'];
    for (const before of befores) for (const after of ends) attacks.push({ before, pump, after });
  }
  return attacks;
}

const mostStarts = 12;
const mostPumps = 60;
const mostWords = 4;

interface Loop {
  readonly before: string;
  readonly turns: readonly string[];
}

interface Samples {
  readonly loops: Loop[];
  beginningsOfAll(alternatives: readonly AST.Alternative[]): string[];
}

function createSamples(pattern: RegExp): Samples {
  const loops: Loop[] = [];
  const pool = unique([...pattern.source, ...'aA0_- \t\n"\'/\\#.:=&@{}<>é', '\u0000']);
  const fitting = (raw: string): string[] => {
    const probe = new RegExp(`^(?:${raw})$`, pattern.flags.replace(/[gy]/g, ''));
    return pool.filter((character) => probe.test(character)).slice(0, 3);
  };

  function wordsOf(element: AST.Element): string[] {
    switch (element.type) {
      case 'Group':
      case 'CapturingGroup':
        return unique(element.alternatives.flatMap(({ elements }) => wordsOfAll(elements).slice(0, 2))).slice(0, 8);
      case 'Quantifier':
        return repeated(wordsOf(element.element), Math.max(1, element.min));
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
        return fitting(element.raw);
      default:
        return [''];
    }
  }

  function wordsOfAll(elements: readonly AST.Element[]): string[] {
    let words = [''];
    for (const element of elements) words = joined(words, wordsOf(element));
    return words;
  }

  /** Beginnings of what the element matches, behind `before`. */
  function beginnings(element: AST.Element, before: readonly string[]): string[] {
    if (element.type === 'Group' || element.type === 'CapturingGroup') {
      return beginningsOfAny(element.alternatives, before);
    }
    if (element.type === 'Assertion') {
      return element.kind === 'lookahead' ? beginningsOfAny(element.alternatives, before) : [];
    }
    if (element.type !== 'Quantifier') return joined(before, wordsOf(element));
    const turns = wordsOf(element.element);
    for (const each of before.slice(0, 2)) loops.push({ before: each, turns });
    const inner = beginnings(element.element, before);
    return unique([
      ...inner,
      ...joined(before, repeated(turns, element.min + 1)),
      ...joined(before, repeated(turns, element.min)),
    ]);
  }

  function beginningsOfAny(alternatives: readonly AST.Alternative[], before: readonly string[]): string[] {
    const endless = alternatives.filter(({ elements }) => elements.some(isEndless));
    const told = endless.length === 0 ? alternatives : endless;
    return unique(told.flatMap(({ elements }) => beginningsOfRow(elements, before)));
  }

  function beginningsOfRow(elements: readonly AST.Element[], before: readonly string[]): string[] {
    const all: string[] = [];
    let read = [...before];
    for (const element of elements) {
      all.push(...beginnings(element, read));
      read = joined(
        read,
        element.type === 'Quantifier' && element.min === 0 ? ['', ...wordsOf(element)] : wordsOf(element),
      );
    }
    return unique(all);
  }

  return {
    loops,
    beginningsOfAll: (alternatives) => beginningsOfAny(alternatives, ['']),
  };
}

function joined(heads: readonly string[], tails: readonly string[]): string[] {
  return unique(heads.flatMap((head) => tails.map((tail) => head + tail))).slice(0, mostWords);
}

function repeated(words: readonly string[], times: number): string[] {
  return words.map((word) => word.repeat(Math.min(times, 400)));
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
