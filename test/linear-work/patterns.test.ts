import { describe, expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { type Attack, attacksOn, attackText, hasEndlessLoop } from './attacks.ts';
import { composingFiles } from './counted-functions.ts';
import { type CompiledPatterns, createStepCounter, TooMuchWork } from './regexp-steps.ts';
import { readSourcePatterns } from './source-patterns.ts';

const { literals, composing } = readSourcePatterns(process.cwd());

/** Patterns whose text is short by construction, each with the reason. */
const bounded: ReadonlyMap<string, string> = new Map([
  [
    String(/<meta[^>]{1,300}?charset\s*=\s*["']?([\w:.+-]{1,40})/i),
    'It is given the first 1,024 bytes of a page (`sniffedBytes`).',
  ],
]);

describe('every regular expression in the sources', () => {
  test(verifies('cost:linear', 'takes a number of steps that is linear in the text'), () => {
    const open = literals.filter(({ pattern }) => hasEndlessLoop(pattern) && !bounded.has(String(pattern)));
    const slow = open.flatMap(({ place, pattern }) => {
      const attack = attacksOn(pattern).find((each) => isSuperLinear(pattern, each));
      return attack === undefined ? [] : [`${place} ${JSON.stringify(attack)}`];
    });
    expect(slow).toEqual([]);
  }, 120_000);

  test('that is put together from texts belongs to a function of the table of counted work', () => {
    expect(composing).toEqual(composingFiles);
  });

  test('is there, where it is excepted', () => {
    const all = new Set(literals.map(({ pattern }) => String(pattern)));
    expect([...bounded.keys()].filter((pattern) => !all.has(pattern))).toEqual([]);
  });
});

describe('the counting itself', () => {
  test.each([
    [/x+y/, true],
    [/^x+y/, false],
    [/(?:a|a)*b/, true],
    [/\s+$/, true],
    [/-eyJ[\w-]{8,}\./, true],
    [/"(?:[^"\\]|\\.)*"/, true],
    [/"[^"]*"/, false],
    [/\/\*[\s\S]*?\*\//g, true],
    [/x+/g, false],
    [/[^a-z]+/g, false],
  ])('%s goes back or starts again: %s', (pattern, isSlow) => {
    expect(attacksOn(pattern).some((attack) => isSuperLinear(pattern, attack))).toBe(isSlow);
  });
});

const programs: CompiledPatterns = new Map();
const short = 300;
const long = 8 * short;

/** Eight times the text may cost sixteen times the steps at most; the square would be sixty-four times. */
function isSuperLinear(pattern: RegExp, attack: Attack): boolean {
  const few = stepsOn(pattern, attackText(attack, short), short * short);
  if (few === undefined) return true;
  return few > 8 * short && stepsOn(pattern, attackText(attack, long), 16 * few) === undefined;
}

/** As `replace` does it: with `g`, again from the end of each match. Nothing where it takes more than `most`. */
function stepsOn(pattern: RegExp, text: string, most: number): number | undefined {
  let steps = 0;
  const counter = createStepCounter((more) => {
    steps += more;
    if (steps > most) throw new TooMuchWork();
  }, programs);
  try {
    let found = counter.exec(pattern, text, 0);
    while (found !== undefined && (pattern.global || pattern.sticky)) {
      found = counter.exec(pattern, text, found.end > found.index ? found.end : found.end + 1);
    }
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
  return steps;
}
