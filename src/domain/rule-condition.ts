import type { CallToDecide } from './decision.ts';

/**
 * The condition of a rule, as it is written and as it is checked. Two are equal if their texts are: `isDeepStrictEqual`
 * does not see private fields, and functions would differ after every load of the same file.
 */
export class RuleCondition {
  /** The condition as written. It must say everything that `holds` depends on, because approvals are given to the text. */
  readonly text: string;
  readonly #holds: (call: CallToDecide) => boolean;

  /** `holds` must be fast and must not change anything. */
  constructor(text: string, holds: (call: CallToDecide) => boolean) {
    this.text = text;
    this.#holds = holds;
  }

  holds(call: CallToDecide): boolean {
    return this.#holds(call);
  }
}
