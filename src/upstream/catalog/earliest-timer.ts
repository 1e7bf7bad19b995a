import type { Clock, Timer } from '../../base/index.ts';

/** Runs once at the earliest of the times it was set to. A later request never postpones an earlier one. */
export class EarliestTimer {
  readonly #clock: Clock;
  readonly #run: () => void;
  #timer: Timer | undefined;
  #dueAt = 0;

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock;
    this.#run = run;
  }

  set(ms: number): void {
    const dueAt = this.#clock.monotonic() + ms;
    if (this.#timer !== undefined && this.#dueAt <= dueAt) return;
    this.#timer?.cancel();
    this.#dueAt = dueAt;
    this.#timer = this.#clock.setTimer(ms, () => {
      this.#timer = undefined;
      this.#run();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
