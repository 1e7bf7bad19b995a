import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../../base/index.ts';
import { createSseReader, readUpstreamMessage, type SseReader } from '../../mcp/index.ts';

/**
 * The GET stream on which a legacy HTTP server announces changes. It is a convenience: a server
 * without one answers 405, and one that drops it is asked again, ever less often.
 */
export function openChangeStream(
  deps: { readonly clock: Clock; open(handler: Dispatcher.DispatchHandler): void },
  events: { onNotification(method: string, params: Readonly<Record<string, unknown>>): void },
): () => void {
  let stopped = false;
  let timer: Timer | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let delayMs = firstDelayMs;

  function open(): void {
    let sse: SseReader | undefined;
    let supported = true;
    deps.open({
      onRequestStart(started) {
        controller = started;
        if (stopped) started.abort(new Error('closed'));
      },
      onResponseStart(_controller, status, headers) {
        const type = String(headers['content-type'] ?? '');
        if (status === 200 && type.startsWith('text/event-stream')) {
          delayMs = firstDelayMs;
          sse = createSseReader((event) => announce(event.data), maxEventBytes);
        } else supported = status >= 500;
      },
      onResponseData(_controller, chunk) {
        if (sse !== undefined && !sse.push(chunk)) controller?.abort(new Error('event too large'));
      },
      onResponseEnd: () => again(supported),
      onResponseError: () => again(supported),
    });
  }

  function again(supported: boolean): void {
    controller = undefined;
    if (stopped || !supported) return;
    timer = deps.clock.setTimer(delayMs, open);
    delayMs = Math.min(delayMs * 2, maxDelayMs);
  }

  function announce(data: string): void {
    const message = readUpstreamMessage(data);
    if (message.kind === 'notification') events.onNotification(message.method, message.params);
  }

  open();
  return () => {
    stopped = true;
    timer?.cancel();
    controller?.abort(new Error('closed'));
  };
}

const firstDelayMs = 1000;
const maxDelayMs = 60_000;
const maxEventBytes = 1024 * 1024;
