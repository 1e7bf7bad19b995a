import type { Dispatcher, Pool } from 'undici';
import type { Timed } from '../connecting/deadlines.ts';
import { lostSession } from '../failures.ts';
import type { FailedReply } from '../transport.ts';
import { answeredStatus, networkFailure } from './network.ts';

/** One POST. The answer comes over the stream. This only says whether the server accepted the message. */
export class Post implements Dispatcher.DispatchHandler, Timed {
  /** Some bytes may have been sent. */
  started = false;
  /** It was accepted, refused or cancelled. */
  ended = false;
  /** The response has ended. */
  complete = false;
  /** The status of its response, which does not contain the answer. */
  status: number | undefined;
  /** The pool whose connections it uses. */
  readonly pool: Pool;
  #text: string;
  readonly #server: string;
  readonly #onEnd: (failure: FailedReply | undefined) => void;
  #controller: Dispatcher.DispatchController | undefined;

  /** `onEnd` is called once, without a failure if the server accepted it or it was cancelled. */
  constructor(server: string, text: string, pool: Pool, onEnd: (failure: FailedReply | undefined) => void) {
    this.#server = server;
    this.#text = text;
    this.pool = pool;
    this.#onEnd = onEnd;
  }

  /** The text to send. Dropped afterwards, because the answer may take long. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  abort(): void {
    this.#end(undefined);
    if (!this.complete) this.#controller?.abort(new Error('given up'));
  }

  timeOut(): void {
    this.abort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.ended) controller.abort(new Error('given up'));
    else this.started = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.status = status;
    if (status >= 200 && status < 300) this.#end(undefined);
    else if (status === 404 || status === 410) this.#end(lostSession(this.#server, status));
    else this.#end(answeredStatus(this.#server, status, headers));
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    this.complete = true;
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.complete = true;
    this.#end(networkFailure(this.#server, error, this.started));
  }

  #end(failure: FailedReply | undefined): void {
    if (this.ended) return;
    this.ended = true;
    this.#onEnd(failure);
  }
}
