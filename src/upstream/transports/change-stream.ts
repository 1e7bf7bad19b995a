import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../../base/index.ts';
import { readUpstreamMessage, type SseEvent, type SseReader } from '../../mcp/index.ts';
import { maxUnreadable } from '../failures.ts';
import type { StreamMessage } from './http-stream-messages.ts';
import { isEventStream } from './network.ts';
import { createPacedSseReader, type PacedSseReader, pausableResponse } from './paced-reading.ts';
import type { OpenFrom } from './resumed-stream.ts';

/** Stands for all announcements that were missed while the stream was closed. */
export const streamReopened = 'quartermaster/stream-reopened';

export interface ChangeStreamEvents {
  onMessage(message: StreamMessage): void;
  /** The first request was answered or failed, so it is known whether the stream is open. May be called again. */
  onSettled(): void;
  /** The stream was closed for a while, and changes in that time were not announced. */
  onReopened(): void;
  /** The server no longer knows the session. */
  onForgotten(): void;
}

export interface ChangeStreamDeps {
  readonly clock: Clock;
  readonly open: OpenFrom;
}

/**
 * Opens the GET stream on which a legacy HTTP server announces changes. The stream is optional: a server without one
 * answers 405. One that drops the stream is asked again, with growing pauses. Returns a function that stops it.
 */
export function openChangeStream(deps: ChangeStreamDeps, events: ChangeStreamEvents): () => void {
  const stream = new ChangeStream(deps, events);
  stream.open();
  return () => stream.stop();
}

/** A request that is not answered within this is cancelled and sent again. */
const openMs = 5 * 60_000;
const firstDelayMs = 1000;
const maxDelayMs = 60_000;
const maxEventBytes = 1024 * 1024;

/** The stream across its requests. */
class ChangeStream implements ChangeRequestEvents {
  readonly #deps: ChangeStreamDeps;
  readonly #events: ChangeStreamEvents;
  #request: ChangeRequest | undefined;
  #timer: Timer | undefined;
  #lastId: string | undefined;
  #delayMs = firstDelayMs;
  /** The pause that the server asks for. */
  #leastDelayMs = firstDelayMs;
  #openedAt = Number.POSITIVE_INFINITY;
  #isSupported = true;
  #wasOpen = false;
  #hasMissed = false;
  #stopped = false;

  constructor(deps: ChangeStreamDeps, events: ChangeStreamEvents) {
    this.#deps = deps;
    this.#events = events;
  }

  open(): void {
    this.#isSupported = true;
    this.#openedAt = Number.POSITIVE_INFINITY;
    this.#request = new ChangeRequest(this.#deps.clock, this);
    this.#deps.open(this.#lastId, this.#request);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#request?.cancel();
  }

  onAnswer(status: number, isOpen: boolean): void {
    if (isOpen) this.#opened();
    else {
      // 409: the server still sees the lost connection. 400: it may have forgotten only the position in the stream.
      this.#isSupported = status >= 500 || status === 409 || (status === 400 && this.#lastId !== undefined);
      if (status === 400) this.#lastId = undefined;
    }
    this.#events.onSettled();
    // At the start, 404 only means that the server has no such stream.
    if (status === 404 && this.#wasOpen) this.#events.onForgotten();
  }

  onEvent(data: string): boolean {
    const message = readUpstreamMessage(data, nobody);
    if (message.kind === 'notification' || message.kind === 'request') this.#events.onMessage(message);
    return message.kind !== 'garbage';
  }

  onRead({ lastId, retryMs }: SseReader): void {
    this.#lastId = lastId ?? this.#lastId;
    this.#leastDelayMs = Math.min(retryMs ?? this.#leastDelayMs, maxDelayMs);
  }

  onSlow(): void {
    this.#hasMissed = true;
  }

  onEnd(): void {
    this.#request = undefined;
    this.#events.onSettled();
    if (this.#stopped || !this.#isSupported) return;
    const { clock } = this.#deps;
    // The pauses start over after a stream that was open for long. One that never opened has an infinite `openedAt`.
    if (clock.monotonic() - this.#openedAt > maxDelayMs) this.#delayMs = firstDelayMs;
    this.#timer = clock.setTimer(Math.max(this.#delayMs, this.#leastDelayMs), () => this.open());
    this.#delayMs = Math.min(this.#delayMs * 2, maxDelayMs);
  }

  #opened(): void {
    this.#openedAt = this.#deps.clock.monotonic();
    if (this.#wasOpen || this.#hasMissed) this.#events.onReopened();
    this.#wasOpen = true;
    this.#hasMissed = false;
  }
}

/** No request is answered on this stream. */
const nobody = (): undefined => undefined;

interface ChangeRequestEvents {
  onAnswer(status: number, isOpen: boolean): void;
  /** Returns false if the message cannot be read. */
  onEvent(data: string): boolean;
  /** After each chunk. */
  onRead(reader: SseReader): void;
  /** No answer yet: announcements from now on may be missed. */
  onSlow(): void;
  onEnd(): void;
}

/** One GET. Some servers send its response headers only with the first event. */
class ChangeRequest implements Dispatcher.DispatchHandler {
  readonly #clock: Clock;
  readonly #events: ChangeRequestEvents;
  #opening: Timer;
  #controller: Dispatcher.DispatchController | undefined;
  #reader: PacedSseReader | undefined;
  #isCancelled = false;
  #garbageInRow = 0;

  constructor(clock: Clock, events: ChangeRequestEvents) {
    this.#clock = clock;
    this.#events = events;
    this.#opening = this.#waitForAnswer();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#opening.cancel();
    this.#controller?.abort(new Error('closed'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isCancelled) controller.abort(new Error('closed'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#opening.cancel();
    if (status === 200 && isEventStream(headers)) {
      const receive = (event: SseEvent): void => this.#receive(controller, event);
      this.#reader = createPacedSseReader(pausableResponse(controller), receive, maxEventBytes);
    }
    this.#events.onAnswer(status, this.#reader !== undefined);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#reader === undefined) return;
    if (!this.#reader.push(chunk)) controller.abort(new Error('event too large'));
    this.#events.onRead(this.#reader);
  }

  onResponseEnd(): void {
    this.#reader?.finish();
    this.#events.onEnd();
  }

  onResponseError(): void {
    this.#opening.cancel();
    this.#reader?.finish();
    this.#events.onEnd();
  }

  /** A defect closes the stream, as does a server that sends nothing that can be read. */
  #receive(controller: Dispatcher.DispatchController, { data }: SseEvent): void {
    if (controller.aborted) return;
    try {
      this.#garbageInRow = this.#events.onEvent(data) ? 0 : this.#garbageInRow + 1;
    } catch {
      controller.abort(new Error('defect'));
    }
    if (this.#garbageInRow === maxUnreadable) controller.abort(new Error('unreadable'));
  }

  #waitForAnswer(): Timer {
    return this.#clock.setTimer(openMs, () => {
      this.#events.onSlow();
      // Without a controller, the request still waits for a connection.
      if (this.#controller === undefined) this.#opening = this.#waitForAnswer();
      else this.#controller.abort(new Error('did not open'));
    });
  }
}
