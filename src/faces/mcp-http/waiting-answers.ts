import { LinkedList } from '../../base/index.ts';
import type { Exchange } from './exchange.ts';
import { growingAnswer } from './response.ts';

/**
 * Answers to modern clients that are not there yet. One that takes long becomes a stream, so that its headers leave and it
 * can be kept alive: Claude Code gives a request up that has no headers after a minute. Time is counted in beats, because
 * asking a clock would cost every call.
 */
export class WaitingAnswers {
  readonly #waiting = new LinkedList<Exchange>();
  #beats = 0;

  add(exchange: Exchange): void {
    exchange.since = this.#beats;
    this.#waiting.add(exchange);
  }

  answered(exchange: Exchange): void {
    this.#waiting.delete(exchange);
  }

  /** Streams what has waited for a whole beat. */
  sweep(): void {
    this.#beats++;
    for (const exchange of this.#waiting) {
      const { response } = exchange;
      if (response.destroyed || response.writableEnded) this.#waiting.delete(exchange);
      else if (!response.headersSent && this.#beats - exchange.since > 1) {
        exchange.growing ??= growingAnswer(response);
        exchange.growing.grow();
      }
    }
  }

  /** To everybody who reads a stream. */
  write(text: string): void {
    for (const { growing } of this.#waiting) growing?.write(text);
  }
}
