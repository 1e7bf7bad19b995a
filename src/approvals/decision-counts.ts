import type { ApprovalStatistics } from './approvals.ts';

/** The upper bounds of the classes of `decisionMs`, in milliseconds; one more class has no bound. */
const decisionBoundsMs: readonly number[] = [5, 15, 60, 300, 900, 3600].map((seconds) => seconds * 1000);

/** Counts decisions for metrics. */
export class DecisionCounts {
  readonly decided: Record<'approved' | 'denied' | 'expired' | 'void', number> = {
    approved: 0,
    denied: 0,
    expired: 0,
    void: 0,
  };
  readonly #counts: number[] = [...decisionBoundsMs, 0].map(() => 0);
  #sum = 0;

  /** A person took that long. */
  took(ms: number): void {
    const place = decisionBoundsMs.findIndex((bound) => ms <= bound);
    const index = place < 0 ? decisionBoundsMs.length : place;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += ms;
  }

  get decisionMs(): ApprovalStatistics['decisionMs'] {
    return { sum: this.#sum, boundsMs: decisionBoundsMs, counts: this.#counts };
  }
}
