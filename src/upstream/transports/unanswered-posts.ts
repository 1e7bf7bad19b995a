import type { Dispatcher, Pool } from 'undici';
import type { Deadlines, Patience, Timed } from '../deadlines.ts';

/** A message that the server does not take is given up after this. */
const takenMs = 10_000;

export interface UnansweredPostsOptions {
  /** How many may be on their way; a server that takes none of them is not sent more. */
  readonly max: number;
}

/**
 * Posts that expect nothing back: notifications, and answers to what a server asked. Each has a deadline, for its place in
 * the queue and its connection alike, so that a server that leaves them unanswered does not use up what calls need.
 */
export class UnansweredPosts {
  readonly #pool: Pool;
  readonly #deadlines: Deadlines;
  readonly #max: number;
  #underWay = 0;

  constructor(pool: Pool, deadlines: Deadlines, { max }: UnansweredPostsOptions) {
    this.#pool = pool;
    this.#deadlines = deadlines;
    this.#max = max;
  }

  /** `onEnd` is called once: when it was taken, was given up, or could not be sent. */
  send(request: Dispatcher.DispatchOptions, onEnd: () => void = () => {}): void {
    if (this.#underWay >= this.#max) {
      onEnd();
      return;
    }
    this.#underWay++;
    const post = new UnansweredPost(this.#deadlines, () => {
      this.#underWay--;
      onEnd();
    });
    this.#pool.dispatch(request, post);
  }
}

class UnansweredPost implements Dispatcher.DispatchHandler, Timed {
  readonly #patience: Patience;
  readonly #onEnd: () => void;
  #ended = false;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(deadlines: Deadlines, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#patience = deadlines.start(this, takenMs, takenMs);
  }

  timeOut(): void {
    this.#end();
    this.#controller?.abort(new Error('not taken'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It waited for a connection until its time was over.
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
    this.#patience.end();
    this.#onEnd();
  }
}
