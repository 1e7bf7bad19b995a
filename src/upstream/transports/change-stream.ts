import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../../base/index.ts';
import { createSseReader, readUpstreamMessage, type SseReader } from '../../mcp/index.ts';
import type { Aside } from './http-asides.ts';
import type { OpenFrom } from './resumed-stream.ts';

/** Stands for everything that a server may have announced while its stream was away. */
export const streamReopened = 'quartermaster/stream-reopened';

/**
 * The GET stream on which a legacy HTTP server announces changes. It is a convenience: a server
 * without one answers 405, and one that drops it is asked again, ever less often.
 */
export function openChangeStream(
  deps: { readonly clock: Clock; readonly open: OpenFrom },
  events: ChangeStreamEvents,
): () => void {
  let stopped = false;
  let timer: Timer | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let delayMs = firstDelayMs;
  let wasOpen = false;
  let lastId: string | undefined;
  let leastDelayMs = firstDelayMs;
  let opening: Timer | undefined;
  let missed = false;

  /** Some servers send the head with their first event only: what they announce from now on is asked for. */
  function openingOver(): void {
    missed = true;
    // It may still wait for a connection.
    if (controller === undefined) opening = deps.clock.setTimer(openMs, openingOver);
    else controller.abort(new Error('did not open'));
  }

  function open(): void {
    let sse: SseReader | undefined;
    let supported = true;
    let openedAt = Number.POSITIVE_INFINITY;
    opening = deps.clock.setTimer(openMs, openingOver);
    deps.open(lastId, {
      onRequestStart(started) {
        controller = started;
        if (stopped) started.abort(new Error('closed'));
      },
      onResponseStart(_controller, status, headers) {
        opening?.cancel();
        const type = String(headers['content-type'] ?? '');
        if (status === 200 && type.startsWith('text/event-stream')) {
          sse = createSseReader((event) => announce(event.data), maxEventBytes);
          openedAt = deps.clock.monotonic();
          if (wasOpen || missed) events.onReopened();
          wasOpen = true;
          missed = false;
        } else {
          // 409: it still sees the connection that broke. 400: it may only have forgotten where the stream was left.
          supported = status >= 500 || status === 409 || (status === 400 && lastId !== undefined);
          if (status === 400) lastId = undefined;
        }
        events.onSettled();
        // From the start it only means that there is no such stream.
        if (status === 404 && wasOpen) events.onForgotten();
      },
      onResponseData(_controller, chunk) {
        if (sse === undefined) return;
        if (!sse.push(chunk)) controller?.abort(new Error('event too large'));
        lastId = sse.lastId ?? lastId;
        leastDelayMs = Math.min(sse.retryMs ?? leastDelayMs, maxDelayMs);
      },
      onResponseEnd: () => supported && again(openedAt),
      onResponseError() {
        opening?.cancel();
        events.onSettled();
        if (supported) again(openedAt);
      },
    });
  }

  function again(openedAt: number): void {
    controller = undefined;
    if (stopped) return;
    // A stream that lived for long was a good one; one that never opened lived for less than nothing.
    if (deps.clock.monotonic() - openedAt > maxDelayMs) delayMs = firstDelayMs;
    timer = deps.clock.setTimer(Math.max(delayMs, leastDelayMs), open);
    delayMs = Math.min(delayMs * 2, maxDelayMs);
  }

  function announce(data: string): void {
    const message = readUpstreamMessage(data);
    if (message.kind === 'notification' || message.kind === 'request') events.onMessage(message);
  }

  open();
  return () => {
    stopped = true;
    timer?.cancel();
    opening?.cancel();
    controller?.abort(new Error('closed'));
  };
}

export interface ChangeStreamEvents {
  onMessage(message: Aside): void;
  /** The server has answered for the first time, be it that there is no such stream. */
  onSettled(): void;
  /** It was closed for a while; what changed then was not announced. */
  onReopened(): void;
  /** The server does not know the session any more. */
  onForgotten(): void;
}

/** A stream that did not open within this is given up and asked for again. */
const openMs = 5 * 60_000;
const firstDelayMs = 1000;
const maxDelayMs = 60_000;
const maxEventBytes = 1024 * 1024;
