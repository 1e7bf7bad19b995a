import { LinkedList } from '../../base/index.ts';
import type { Exchange } from './exchange.ts';
import { jsonOrStream } from './response.ts';

/**
 * Requests of modern clients that are not answered yet. A slow answer becomes a stream, so that its headers are sent and it
 * can be kept alive: Claude Code gives up a request without response headers after a minute. Time is counted in beats,
 * because reading a clock would cost every call.
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

  /** Turns answers that have waited for a whole beat into streams. */
  sweep(): void {
    this.#beats++;
    for (const exchange of this.#waiting) {
      const { response } = exchange;
      if (response.destroyed || response.writableEnded) this.#waiting.delete(exchange);
      else if (!response.headersSent && this.#beats - exchange.since > 1) {
        exchange.growing ??= jsonOrStream(response);
        exchange.growing.grow();
      }
    }
  }

  /** Writes to all of them that are streams. */
  write(text: string): void {
    for (const { growing } of this.#waiting) growing?.write(text);
  }
}
