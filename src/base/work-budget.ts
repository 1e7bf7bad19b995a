/**
 * The work that one answer may take, in steps of about equal cost. Single bounds (length, number, depth) are not enough
 * for untrusted texts, because the work can be their product.
 */
export interface WorkBudget {
  /** False if fewer steps are left. The caller then skips the work, and the budget counts as spent. */
  spend(steps: number): boolean;
  /** True if work was skipped. Its result is unknown, so the answer must be the safe one. */
  readonly isSpent: boolean;
}

export function createWorkBudget(steps: number): WorkBudget {
  let left = steps;
  let isSpent = false;
  return {
    spend(cost) {
      left -= cost;
      if (left < 0) isSpent = true;
      return !isSpent;
    },
    get isSpent() {
      return isSpent;
    },
  };
}
