import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../../base/index.ts';
import type { SseEvent, SseReader } from '../../mcp/index.ts';
import { garbled, lostConnection } from '../failures.ts';
import type { FailedReply } from '../transport.ts';
import { maxMessageBytes } from './message-limit.ts';
import { isEventStream } from './network.ts';
import { createPacedSseReader, type PacedSseReader, pausableResponse } from './paced-reading.ts';

/** Opens a stream that continues after the event with that id. */
export type OpenFrom = (lastId: string | undefined, handler: Dispatcher.DispatchHandler) => void;

export interface ResumeDeps {
  readonly clock: Clock;
  readonly open: OpenFrom;
}

export interface ResumeOptions {
  readonly server: string;
  /** The position at which the stream broke off. */
  readonly from: Pick<SseReader, 'lastId' | 'retryMs'>;
  onMessage(text: string): void;
  onLost(failure: FailedReply): void;
}

/**
 * Continues the stream of a call that broke off, over as many streams as the server needs. It ends when the server does
 * not continue, or when the caller has its answer and calls the returned function.
 */
export function resumeStream(deps: ResumeDeps, options: ResumeOptions): () => void {
  const stream = new ResumedStream(deps, options);
  return () => stream.stop();
}

const defaultRetryMs = 1000;
/** Bounds the pause that the server asks for, because a caller waits. */
const maxRetryMs = 30_000;
/** In a row, without data. The deadline of the call bounds the rest. */
const maxAttempts = 10;
/** Further attempts wait longer, up to this: a busy server may take seconds to notice that the old connection is gone. */
const longestPauseMs = 2000;

class ResumedStream implements Dispatcher.DispatchHandler {
  readonly #deps: ResumeDeps;
  readonly #options: ResumeOptions;
  #lastId: string | undefined;
  #retryMs: number;
  #attempts = 0;
  #stopped = false;
  #timer: Timer;
  /** Of the current attempt, as are the reader and the status. */
  #controller: Dispatcher.DispatchController | undefined;
  #reader: PacedSseReader | undefined;
  #status = 0;

  constructor(deps: ResumeDeps, options: ResumeOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#lastId = options.from.lastId;
    this.#retryMs = options.from.retryMs ?? defaultRetryMs;
    this.#timer = this.#openLater();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer.cancel();
    this.#controller?.abort(new Error('hung up'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(new Error('hung up'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    if (status !== 200 || !isEventStream(headers)) return;
    const receive = ({ data }: SseEvent): void => {
      if (!this.#stopped) this.#options.onMessage(data);
    };
    this.#reader = createPacedSseReader(pausableResponse(controller), receive, maxMessageBytes);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const reader = this.#reader;
    if (this.#stopped || reader === undefined) return;
    if (!reader.push(chunk)) {
      this.#lose(garbled(this.#options.server, `a message over ${maxMessageBytes} bytes`, this.#status));
      return;
    }
    this.#lastId = reader.lastId || this.#lastId;
    this.#retryMs = reader.retryMs ?? this.#retryMs;
    this.#attempts = 0;
  }

  onResponseEnd(): void {
    this.#reader?.finish();
    this.#retry(this.#reader !== undefined || isPassing(this.#status), `HTTP ${this.#status}`);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reader?.finish();
    this.#retry(true, error.message);
  }

  #openLater(): Timer {
    const asked = Math.min(this.#retryMs, maxRetryMs);
    const grown = Math.min(asked * 2 ** Math.max(this.#attempts - 1, 0), longestPauseMs);
    return this.#deps.clock.setTimer(Math.max(asked, grown), () => this.#open());
  }

  #open(): void {
    this.#reader = undefined;
    this.#status = 0;
    this.#attempts++;
    this.#deps.open(this.#lastId, this);
  }

  #retry(isWorthwhile: boolean, reason: string): void {
    this.#controller = undefined;
    if (this.#stopped) return;
    if (isWorthwhile && this.#attempts < maxAttempts) this.#timer = this.#openLater();
    else {
      const { server } = this.#options;
      this.#lose(lostConnection(server, `its answer stream broke off and cannot be resumed (${reason})`, true));
    }
  }

  /** A resumed call is never sent again, so this does not count as the loss of the connection. */
  #lose(failure: FailedReply): void {
    this.stop();
    this.#options.onLost({ ...failure, cause: 'gave-up' });
  }
}

/** The server, or a proxy in front of it, may answer the next time. 409: it still sees the old connection. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 409 || status === 408;
}
