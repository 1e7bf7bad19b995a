const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The calls of the last minute and of the last hour. */
export class RecentCalls {
  readonly #minute = new RecentTimes(minuteMs);
  readonly #hour = new RecentTimes(hourMs);

  /** How long to wait until a call fits into both limits, and which of them it waits for. Undefined: no need to wait. */
  wait(limits: CallLimits, now: number): { readonly span: 'minute' | 'hour'; readonly waitMs: number } | undefined {
    const minute = this.#minute.waitMs(limits.callsPerMinute, now);
    const hour = this.#hour.waitMs(limits.callsPerHour, now);
    if (minute <= 0 && hour <= 0) return undefined;
    return { span: minute > 0 ? 'minute' : 'hour', waitMs: Math.max(minute, hour) };
  }

  add(now: number): void {
    this.#minute.add(now);
    this.#hour.add(now);
  }
}

export interface CallLimits {
  readonly callsPerMinute: number | undefined;
  readonly callsPerHour: number | undefined;
}

/** The times of recent calls, oldest first. Never more than the limit lets through in its time. */
class RecentTimes {
  readonly #spanMs: number;
  #times: number[] = [];
  #first = 0;

  constructor(spanMs: number) {
    this.#spanMs = spanMs;
  }

  /** Until a call fits into the limit again. 0: now. */
  waitMs(limit: number | undefined, now: number): number {
    this.#forget(now);
    if (limit === undefined) {
      this.#times = [];
      this.#first = 0;
      return 0;
    }
    const blocking = this.#times[this.#times.length - limit];
    if (blocking === undefined || this.#times.length - this.#first < limit) return 0;
    return Math.max(1, Math.ceil(blocking + this.#spanMs - now));
  }

  add(now: number): void {
    this.#times.push(now);
  }

  #forget(now: number): void {
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? now) + this.#spanMs <= now) this.#first++;
    if (this.#first * 2 <= this.#times.length) return;
    this.#times = this.#times.slice(this.#first);
    this.#first = 0;
  }
}
