import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { SseEvent } from '../../mcp/index.ts';
import { bodyOfType, foreignEndpoint, garbled, lostConnection } from '../failures.ts';
import type { FailedReply } from '../transport.ts';
import { maxMessageBytes } from './message-limit.ts';
import { answeredStatus, isEventStream, networkFailure } from './network.ts';
import { createPacedSseReader, type PacedSseReader, pausableResponse } from './paced-reading.ts';

export interface SseStreamEvents {
  /** Where to post messages: path and query at the origin of the stream. */
  onEndpoint(path: string): void;
  onMessage(text: string): void;
  /** The stream ended, or never began. Called once. */
  onEnd(failure: FailedReply): void;
}

export interface SseStreamOptions {
  readonly server: string;
  readonly url: URL;
}

/** The GET of the HTTP+SSE transport. Its response first names the endpoint for posts, then carries every answer. */
export class SseStream implements Dispatcher.DispatchHandler {
  readonly #options: SseStreamOptions;
  readonly #events: SseStreamEvents;
  #controller: Dispatcher.DispatchController | undefined;
  #reader: PacedSseReader | undefined;
  #isEndpointKnown = false;
  #ended = false;

  constructor(options: SseStreamOptions, events: SseStreamEvents) {
    this.#options = options;
    this.#events = events;
  }

  close(): void {
    this.#ended = true;
    this.#controller?.abort(new Error('closed'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error('ended'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    const { server } = this.#options;
    if (status !== 200) this.#end(answeredStatus(server, status, headers));
    else if (isEventStream(headers)) {
      const receive = ({ event, data }: SseEvent): void => this.#receive(event, data);
      this.#reader = createPacedSseReader(pausableResponse(controller), receive, maxMessageBytes);
    } else this.#end(garbled(server, bodyOfType(headers['content-type']), status));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#ended && this.#reader?.push(chunk) === false) {
      this.#end(lostConnection(this.#options.server, `a message over ${maxMessageBytes} bytes`, true));
    }
  }

  onResponseEnd(): void {
    this.#reader?.finish();
    this.#end(lostConnection(this.#options.server, 'its event stream ended', true));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reader?.finish();
    this.#end(networkFailure(this.#options.server, error, this.#controller !== undefined));
  }

  #receive(event: string, data: string): void {
    if (this.#ended) return;
    if (event === 'message') this.#events.onMessage(data);
    // Other events, such as pings, are ignored, and so is a second endpoint.
    else if (event === 'endpoint' && !this.#isEndpointKnown) this.#learnEndpoint(data.trim());
  }

  /** The endpoint must have the same origin, so that no server can send the hub's credentials somewhere else. */
  #learnEndpoint(text: string): void {
    const { server, url } = this.#options;
    const target = URL.canParse(text, url.href) ? new URL(text, url) : undefined;
    if (target === undefined) this.#end(garbled(server, 'an endpoint that is no address', 200));
    else if (target.origin !== url.origin) this.#end(foreignEndpoint(server, target.origin));
    else {
      this.#isEndpointKnown = true;
      this.#events.onEndpoint(target.pathname + target.search);
    }
  }

  #end(failure: FailedReply): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#events.onEnd(failure);
    this.#controller?.abort(new Error('ended'));
  }
}
