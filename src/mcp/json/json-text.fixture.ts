import fc from 'fast-check';

/** A JSON document that keeps its spelling. */
export type Tree =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'array'; readonly items: readonly Tree[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Tree])[] };

/** Picks a number below `count`. The same seed repeats the same choices. */
export type Choose = (count: number) => number;

const literal = fc
  .oneof(
    fc.constantFrom('true', 'false', 'null', '0', '-0', '1e3', '1E+2', '-1.5e-7', '9007199254740993', '1.0', '1e400'),
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  )
  .map((text): Tree => ({ kind: 'literal', text }));

/** Keys and strings that break parsers, among ordinary ones. */
const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', 'id', 'params', 'arguments', '__proto__', 'constructor', 'toString', '\\', '\\"', '"', '\ud800'),
);

const word = words.map((value): Tree => ({ kind: 'string', value }));
const byKey = { selector: ([key]: readonly [string, Tree]) => key };

const { tree, object } = fc.letrec<{ tree: Tree; array: Tree; object: Tree }>((tie) => ({
  tree: fc.oneof({ depthSize: 'small', withCrossShrink: true }, literal, word, tie('array'), tie('object')),
  array: fc.array(tie('tree'), { maxLength: 4 }).map((items): Tree => ({ kind: 'array', items })),
  object: fc
    .oneof(
      { weight: 9, arbitrary: fc.uniqueArray(fc.tuple(words, tie('tree')), { maxLength: 10, ...byKey }) },
      // Many keys with only literals below them. Many keys at every depth would be too many.
      { weight: 1, arbitrary: fc.uniqueArray(fc.tuple(words, literal), { minLength: 17, maxLength: 20, ...byKey }) },
    )
    .map((entries): Tree => ({ kind: 'object', entries })),
}));

export const anyTree: fc.Arbitrary<Tree> = tree;
export const objectTree = object as fc.Arbitrary<Tree & { kind: 'object' }>; // the type that the rule `object` produces

export const choices: fc.Arbitrary<Choose> = fc.integer().map(chooseFrom);

/** The tree as text, with white space and escapes wherever JSON allows them. */
export function spell(node: Tree, choose: Choose): string {
  const gap = (): string => blanks[choose(blanks.length)] ?? '';
  switch (node.kind) {
    case 'literal':
      return node.text;
    case 'string':
      return spellString(node.value, choose);
    case 'array':
      return `[${node.items.map((item) => `${gap()}${spell(item, choose)}${gap()}`).join(',') || gap()}]`;
    case 'object': {
      const members = node.entries.map(([key, value]) => spellMember(key, spell(value, choose), choose));
      return `{${members.join(',') || gap()}}`;
    }
  }
}

export function spellMember(key: string, valueText: string, choose: Choose): string {
  const gap = (): string => blanks[choose(blanks.length)] ?? '';
  return `${gap()}${spellString(key, choose)}${gap()}:${gap()}${valueText}${gap()}`;
}

export function spellString(value: string, choose: Choose): string {
  let text = '"';
  for (let at = 0; at < value.length; at++) {
    const unit = value[at] as string; // within the length
    const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    text += choose(4) === 0 ? escaped : JSON.stringify(unit).slice(1, -1);
  }
  return `${text}"`;
}

/** The value that the text stands for. */
export function meaningOf(node: Tree): unknown {
  switch (node.kind) {
    case 'literal':
      return JSON.parse(node.text);
    case 'string':
      return node.value;
    case 'array':
      return node.items.map(meaningOf);
    case 'object': {
      // Defined, not assigned, so that `__proto__` is a key like any other.
      const result = {};
      for (const [key, value] of node.entries) {
        Object.defineProperty(result, key, {
          value: meaningOf(value),
          enumerable: true,
          writable: true,
          configurable: true,
        });
      }
      return result;
    }
  }
}

export function depthOf(node: Tree): number {
  if (node.kind === 'array') return 1 + Math.max(0, ...node.items.map(depthOf));
  if (node.kind === 'object') return 1 + Math.max(0, ...node.entries.map(([, value]) => depthOf(value)));
  return 0;
}

const blanks = ['', '', '', ' ', '\n', '\t', '\r\n', '  \n\t '];

function chooseFrom(seed: number): Choose {
  let state = seed | 0;
  return (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) % count;
  };
}
