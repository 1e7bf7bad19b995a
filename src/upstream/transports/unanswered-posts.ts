import type { Dispatcher, Pool } from 'undici';
import type { CallDeadlines, Deadlines, Timed } from '../connecting/deadlines.ts';

/** The deadline of a message that the server does not accept. */
const takenMs = 10_000;

export interface UnansweredPostsOptions {
  /** The most messages in flight. More are dropped. */
  readonly max: number;
}

/**
 * Posts without an answer: notifications, and answers to server requests. The deadline of each covers its wait in the
 * queue and its connection, so that a server that leaves them open does not use up the connections of calls.
 */
export class UnansweredPosts {
  readonly #pool: Pool;
  readonly #deadlines: Deadlines;
  readonly #max: number;
  #inFlight = 0;

  constructor(pool: Pool, deadlines: Deadlines, { max }: UnansweredPostsOptions) {
    this.#pool = pool;
    this.#deadlines = deadlines;
    this.#max = max;
  }

  /** `onEnd` is called once: when it was accepted, timed out, or could not be sent. */
  send(request: Dispatcher.DispatchOptions, onEnd: () => void = () => {}): void {
    if (this.#inFlight >= this.#max) {
      onEnd();
      return;
    }
    this.#inFlight++;
    const post = new UnansweredPost(this.#deadlines, () => {
      this.#inFlight--;
      onEnd();
    });
    this.#pool.dispatch(request, post);
  }
}

class UnansweredPost implements Dispatcher.DispatchHandler, Timed {
  readonly #deadline: CallDeadlines;
  readonly #onEnd: () => void;
  #ended = false;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(deadlines: Deadlines, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#deadline = deadlines.start(this, takenMs, takenMs);
  }

  timeOut(): void {
    this.#end();
    this.#controller?.abort(new Error('not taken'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It waited for a connection until its deadline.
    if (this.#ended) controller.abort(new Error('not taken'));
  }

  onResponseStart(): void {}

  onResponseData(): void {}

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(): void {
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deadline.end();
    this.#onEnd();
  }
}
