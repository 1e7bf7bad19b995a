/**
 * Formats times like `Date.toISOString`, which is slow. Most times share at least their second with the previous one.
 */
export class TimeStamps {
  #last = Number.NaN;
  #text = '';
  #second = Number.NaN;
  /** The text up to the dot before the milliseconds. */
  #head = '';

  text(now: number): string {
    const whole = Math.floor(now);
    if (whole === this.#last) return this.#text;
    const second = Math.floor(whole / 1000);
    if (second !== this.#second) {
      this.#head = new Date(second * 1000).toISOString().slice(0, -4);
      this.#second = second;
    }
    const ms = whole - second * 1000;
    this.#last = whole;
    this.#text = `${this.#head}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
    return this.#text;
  }
}
