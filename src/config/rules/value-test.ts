import { type ArgumentPaths, allHold, anyHolds, type Holds, negated } from '../../domain/index.ts';
import { compileGlob, compileLinearPattern } from './linear-pattern.ts';
import type { ConditionDocument } from './rule-schema.ts';

/** Judges one value of an argument. `paths` is undefined where nobody can say what a path means. */
export type ValueTest = (value: unknown, paths: ArgumentPaths | undefined) => Holds;

export type CompiledTest =
  | { readonly kind: 'test'; readonly test: ValueTest }
  | { readonly kind: 'wrong'; readonly why: string };

/** `argument` is the argument's name as the rule has it. */
export function compileValueTest(condition: ConditionDocument, argument: string): CompiledTest {
  if (typeof condition !== 'object') return sound((value) => isEqual(value, condition));
  if (Array.isArray(condition)) return sound(oneOf(condition));
  const { not, ...plain } = condition;
  const parts = [...testsOf(plain, argument), ...(not === undefined ? [] : [opposite(not, argument)])];
  if (parts.length === 0) return { kind: 'wrong', why: 'is empty' };
  const tests: ValueTest[] = [];
  for (const part of parts) {
    if (part.kind === 'wrong') return part;
    tests.push(part.test);
  }
  return sound((value, paths) => allHold(tests, (test) => test(value, paths)));
}

function opposite(not: ConditionDocument, argument: string): CompiledTest {
  const compiled = compileValueTest(not, argument);
  if (compiled.kind === 'wrong') return compiled;
  return sound((value, paths) => negated(compiled.test(value, paths)));
}

type Tests = Exclude<ConditionDocument, string | number | boolean | readonly unknown[]>;

function* testsOf({ glob, prefix, regex, min, max, in: among, inside }: Tests, argument: string) {
  if (glob !== undefined) yield globTest(glob, argument);
  if (prefix !== undefined) yield onText((text) => text.startsWith(prefix));
  if (regex !== undefined) yield regexTest(regex);
  if (min !== undefined) yield onNumber((number) => number >= min);
  if (max !== undefined) yield onNumber((number) => number <= max);
  if (among !== undefined) yield sound(oneOf(among));
  if (inside !== undefined) yield insideTest(inside, argument);
}

function globTest(glob: string, argument: string): CompiledTest {
  const matches = compileGlob(glob);
  if (matches === undefined) return { kind: 'wrong', why: 'has a glob that cannot be read' };
  return onText((text, paths) => paths?.matchesGlob(argument, text, matches) ?? matches(text));
}

function regexTest(regex: string): CompiledTest {
  const matches = compileLinearPattern(regex);
  if (matches === undefined) {
    return { kind: 'wrong', why: 'has a regex that is not valid RE2, which has no look-around and no back-references' };
  }
  return onText(matches);
}

function insideTest(folder: string, argument: string): CompiledTest {
  if (folder.startsWith('~') || folder.includes('\0')) {
    return { kind: 'wrong', why: 'must have a folder that is relative to the workspace, or a full path' };
  }
  return onText((text, paths) => paths?.isInside(argument, text, folder) ?? 'unknown');
}

function onText(test: (text: string, paths: ArgumentPaths | undefined) => Holds): CompiledTest {
  return sound((value, paths) => (typeof value === 'string' ? test(value, paths) : 'unknown'));
}

function onNumber(test: (number: number) => boolean): CompiledTest {
  return sound((value) => (typeof value === 'number' ? test(value) : 'unknown'));
}

function oneOf(values: readonly (string | number | boolean)[]): ValueTest {
  return (value) => anyHolds(values, (each) => isEqual(value, each));
}

/** A server may take `"5"` for 5 and `["x"]` for "x", so values of different types may still be equal. */
function isEqual(value: unknown, expected: string | number | boolean): Holds {
  return typeof value === typeof expected ? value === expected : 'unknown';
}

function sound(test: ValueTest): CompiledTest {
  return { kind: 'test', test };
}
