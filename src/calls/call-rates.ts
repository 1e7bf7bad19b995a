import type { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** How many calls each server has had in the last minute, whoever made them. */
export interface CallRates {
  /** Takes one of the server's calls; 0, or the milliseconds until there is one to take. */
  take(server: string, perMinute: number): Promise<number>;
}

export function createCallRates(): CallRates {
  const minutes = new Map<string, SlidingMinute>();
  let limiters: Promise<new (options: { points: number; duration: number }) => RateLimiterMemory> | undefined;
  return {
    async take(server, perMinute) {
      // Loaded with the first limited call, and only the part that counts in memory: all of it takes 10 MB.
      limiters ??= import('rate-limiter-flexible/lib/RateLimiterMemory.js').then((loaded) => loaded.default);
      const Limiter = await limiters;
      let minute = minutes.get(server);
      if (minute?.perMinute !== perMinute) {
        minute = new SlidingMinute(new Limiter({ points: 1, duration: secondsOf(perMinute) }), perMinute);
        minutes.set(server, minute);
      }
      return minute.take();
    },
  };
}

/**
 * One key of the limiter for each call that a minute may have, used in turn. The next key is always
 * the one that was taken longest ago, so no minute, wherever it begins, has more calls than keys.
 */
class SlidingMinute {
  readonly perMinute: number;
  readonly #limiter: RateLimiterMemory;
  #next = 0;
  #turn: Promise<number> = Promise.resolve(0);

  constructor(limiter: RateLimiterMemory, perMinute: number) {
    this.#limiter = limiter;
    this.perMinute = perMinute;
  }

  /** One after the other, so that no key is skipped. */
  take(): Promise<number> {
    this.#turn = this.#turn.then(() => this.#takeNext());
    return this.#turn;
  }

  async #takeNext(): Promise<number> {
    try {
      await this.#limiter.consume(this.#next);
    } catch (refusal) {
      // Counting in memory fails in no other way.
      return Math.max(1, (refusal as RateLimiterRes).msBeforeNext);
    }
    this.#next = (this.#next + 1) % Math.max(1, Math.floor(this.perMinute));
    return 0;
  }
}

/** Half a call in a minute is one in two; a timer cannot count much more than a day. */
function secondsOf(perMinute: number): number {
  return perMinute >= 1 ? 60 : Math.min(60 / perMinute, 86_400);
}
