import type { Dispatcher, Pool } from 'undici';
import type { Timed } from '../deadlines.ts';
import { lostSession } from '../failures.ts';
import type { WireFailure } from '../wire.ts';
import { answeredStatus, networkFailure } from './network.ts';

/** One message on its way to the server. The answer comes over the stream; this only tells whether it was taken. */
export class Post implements Dispatcher.DispatchHandler, Timed {
  /** Bytes of it may have left. */
  started = false;
  /** It was taken or refused, or given up. */
  ended = false;
  /** Nothing more comes back. */
  complete = false;
  /** Whose connections it uses. */
  readonly pool: Pool;
  #text: string;
  readonly #server: string;
  readonly #onEnd: (failure: WireFailure | undefined) => void;
  #controller: Dispatcher.DispatchController | undefined;

  /** `onEnd` is called once, without a failure where the server took it or nobody wants to know any more. */
  constructor(server: string, text: string, pool: Pool, onEnd: (failure: WireFailure | undefined) => void) {
    this.#server = server;
    this.#text = text;
    this.pool = pool;
    this.#onEnd = onEnd;
  }

  /** Its text, to be sent; kept no longer, for the answer may take its time. */
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

  #end(failure: WireFailure | undefined): void {
    if (this.ended) return;
    this.ended = true;
    this.#onEnd(failure);
  }
}
