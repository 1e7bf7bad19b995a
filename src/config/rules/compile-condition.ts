import { allHold, anyHolds, type CallToDecide, type Holds, RuleCondition } from '../../domain/index.ts';
import { type ArgumentName, type FoundValue, parseArgumentName, valuesOf } from './argument-values.ts';
import type { ClauseDocument } from './rule-schema.ts';
import { compileValueTest, type ValueTest } from './value-test.ts';

export type CompiledCondition =
  /** Undefined: the clause applies to every call. */
  | { readonly kind: 'condition'; readonly condition: RuleCondition | undefined }
  | { readonly kind: 'wrong'; readonly key: string; readonly why: string };

/**
 * All arguments must meet their conditions. Where an argument has several values, a clause that allows needs all of
 * them to meet the condition; for one that restricts, one is enough. A missing argument meets no condition.
 */
export function compileCondition({ effect, when, after }: ClauseDocument): CompiledCondition {
  const tests: ArgumentTest[] = [];
  for (const [key, written] of Object.entries(when ?? {})) {
    const name = parseArgumentName(key);
    if (name === undefined) return { kind: 'wrong', key, why: 'is not the name of an argument' };
    const compiled = compileValueTest(written, key);
    if (compiled.kind === 'wrong') return { kind: 'wrong', key, why: compiled.why };
    tests.push({ name, test: compiled.test });
  }
  if (tests.length === 0 && after === undefined) return { kind: 'condition', condition: undefined };
  const quantifier = effect === 'allow' ? everyValue : someValue;
  const holds = (call: CallToDecide): Holds => {
    const labelled = after === undefined ? true : (call.labels?.has(after) ?? 'unknown');
    if (labelled === false) return false;
    const fits = allHold(tests, ({ name, test }) =>
      quantifier(valuesOf(call.args, name), (found) => judge(found, test, call)),
    );
    return fits === true ? labelled : fits;
  };
  return { kind: 'condition', condition: new RuleCondition(textOf({ when, after }), holds) };
}

interface ArgumentTest {
  readonly name: ArgumentName;
  readonly test: ValueTest;
}

type Quantifier = (found: readonly FoundValue[], judge: (found: FoundValue) => Holds) => Holds;

/** No value is not enough for a clause that allows. */
const everyValue: Quantifier = (found, judge) => (found.length === 0 ? false : allHold(found, judge));

const someValue: Quantifier = (found, judge) => anyHolds(found, judge);

function judge(found: FoundValue, test: ValueTest, { paths }: CallToDecide): Holds {
  switch (found.kind) {
    case 'missing':
      return false;
    case 'unexpected':
      return 'unknown';
    case 'value':
      return test(found.value, paths);
  }
}

function textOf({ when = {}, after }: Pick<ClauseDocument, 'when' | 'after'>): string {
  const parts = Object.entries(when).map(([name, condition]) => `${name}: ${JSON.stringify(condition)}`);
  return [
    ...(parts.length === 0 ? [] : [`when ${parts.join(', ')}`]),
    ...(after === undefined ? [] : [`after ${after}`]),
  ].join(', ');
}
