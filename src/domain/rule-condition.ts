import type { CallToDecide } from './decision.ts';

/** `unknown`: the value has an unexpected type or more than one meaning. A rule never widens by it. */
export type Holds = boolean | 'unknown';

/**
 * The condition of a rule, as it is written and as it is checked. Two are equal if their texts are: `isDeepStrictEqual`
 * does not see private fields, and functions would differ after every load of the same file.
 */
export class RuleCondition {
  /** The condition as written. It must say everything that `holds` depends on, because approvals are given to the text. */
  readonly text: string;
  readonly #holds: (call: CallToDecide) => Holds;

  /** `holds` must be fast and must not change anything. */
  constructor(text: string, holds: (call: CallToDecide) => Holds) {
    this.text = text;
    this.#holds = holds;
  }

  /** A check that fails decides nothing. */
  holds(call: CallToDecide): Holds {
    try {
      return this.#holds(call);
    } catch {
      return 'unknown';
    }
  }
}

/** Negation, where what is unknown stays unknown. */
export function negated(holds: Holds): Holds {
  return holds === 'unknown' ? holds : !holds;
}

/** Whether all hold. One that fails decides, whatever is unknown. */
export function allHold<T>(items: Iterable<T>, judge: (item: T) => Holds): Holds {
  let result: Holds = true;
  for (const item of items) {
    const holds = judge(item);
    if (holds === false) return false;
    if (holds === 'unknown') result = 'unknown';
  }
  return result;
}

/** Whether one holds. */
export function anyHolds<T>(items: Iterable<T>, judge: (item: T) => Holds): Holds {
  return negated(allHold(items, (item) => negated(judge(item))));
}
