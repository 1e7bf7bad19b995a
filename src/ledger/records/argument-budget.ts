import type { Clock } from '../../base/index.ts';

/** Characters of arguments per minute that the ledger keeps of one agent, with those that it delegates to. */
export const keptArgumentsPerMinute: number = 64 * 1024 * 1024;
const minuteMs = 60_000;

/** Limits the arguments that are kept of each agent, so that no agent can fill the disk with large ones. */
export class ArgumentBudget {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #perMinute: number;
  /** Used in this minute, by agent. */
  readonly #used = new Map<string, number>();
  #endsAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonic'>, perMinute: number = keptArgumentsPerMinute) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** False if the agent has used up its minute. */
  take(agent: string, characters: number): boolean {
    const now = this.#clock.monotonic();
    if (now >= this.#endsAt) {
      this.#used.clear();
      this.#endsAt = now + minuteMs;
    }
    const used = (this.#used.get(agent) ?? 0) + characters;
    if (used > this.#perMinute) return false;
    this.#used.set(agent, used);
    return true;
  }
}
