import type { Dispatcher } from 'undici';
import { createSseReader, type SseReader } from '../../mcp/index.ts';
import { foreignEndpoint, garbled, lostConnection } from '../failures.ts';
import type { WireFailure } from '../wire.ts';
import { answeredStatus, isEventStream, networkFailure } from './network.ts';

export interface SseStreamEvents {
  /** Where messages are to be posted: path and query at the origin of the stream. */
  onEndpoint(path: string): void;
  onMessage(text: string): void;
  /** It ended, or never began; once. */
  onEnd(failure: WireFailure): void;
}

const maxMessageBytes = 64 * 1024 * 1024;

/** The GET whose answer never ends: first it says where to post, then it carries every answer. */
export function createSseStream(
  options: { readonly server: string; readonly url: URL },
  events: SseStreamEvents,
): { readonly handler: Dispatcher.DispatchHandler; close(): void } {
  const { server, url } = options;
  let controller: Dispatcher.DispatchController | undefined;
  let reader: SseReader | undefined;
  let endpointKnown = false;
  let ended = false;

  function end(failure: WireFailure): void {
    if (ended) return;
    ended = true;
    events.onEnd(failure);
    controller?.abort(new Error('ended'));
  }

  function receive(event: string, data: string): void {
    if (ended) return;
    if (event === 'message') events.onMessage(data);
    // Others, such as pings, are the server's own affair; so is a second endpoint.
    else if (event === 'endpoint' && !endpointKnown) learnEndpoint(data.trim());
  }

  /** A server may not send the hub's credentials and arguments anywhere else. */
  function learnEndpoint(text: string): void {
    const target = URL.canParse(text, url.href) ? new URL(text, url) : undefined;
    if (target === undefined) end(garbled(server, 'an endpoint that is no address', 200));
    else if (target.origin !== url.origin) end(foreignEndpoint(server, target.origin));
    else {
      endpointKnown = true;
      events.onEndpoint(target.pathname + target.search);
    }
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (ended) started.abort(new Error('ended'));
    },
    onResponseStart(_controller, status, headers) {
      if (status !== 200) end(answeredStatus(server, status, headers));
      else if (isEventStream(headers)) {
        reader = createSseReader(({ event, data }) => receive(event, data), maxMessageBytes);
      } else end(garbled(server, `a body of type ${String(headers['content-type'] ?? 'unknown')}`, status));
    },
    onResponseData(_controller, chunk) {
      if (!ended && reader?.push(chunk) === false) {
        end(lostConnection(server, `a message over ${maxMessageBytes} bytes`, true));
      }
    },
    onResponseEnd: () => end(lostConnection(server, 'its event stream ended', true)),
    onResponseError: (_controller, error) => end(networkFailure(server, error, controller !== undefined)),
  };
  return {
    handler,
    close() {
      ended = true;
      controller?.abort(new Error('closed'));
    },
  };
}
