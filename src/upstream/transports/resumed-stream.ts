import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../../base/index.ts';
import { createSseReader, type SseReader } from '../../mcp/index.ts';
import { garbled, lostConnection } from '../failures.ts';
import type { WireFailure } from '../wire.ts';
import { isEventStream, maxMessageBytes } from './network.ts';

/** Opens a stream that goes on after the event with that id. */
export type OpenFrom = (lastId: string | undefined, handler: Dispatcher.DispatchHandler) => void;

export interface ResumedStream {
  readonly server: string;
  /** How far the stream was read that broke off. */
  readonly from: Pick<SseReader, 'lastId' | 'retryMs'>;
  onMessage(text: string): void;
  onLost(failure: WireFailure): void;
}

/**
 * Reads on where the stream of a call broke off, over as many streams as the server wants to make of it. It ends with
 * `stop`, which whoever has the answer calls, or when the server does not go on.
 */
export function resumeStream(
  deps: { readonly clock: Clock; readonly open: OpenFrom },
  { server, from, onMessage, onLost }: ResumedStream,
): () => void {
  let { lastId, retryMs = defaultRetryMs } = from;
  let attempts = 0;
  let stopped = false;
  let controller: Dispatcher.DispatchController | undefined;
  let timer: Timer = wait();

  function wait(): Timer {
    return deps.clock.setTimer(Math.min(retryMs, maxRetryMs), open);
  }

  function open(): void {
    let sse: SseReader | undefined;
    let status = 0;
    attempts++;
    deps.open(lastId, {
      onRequestStart(started) {
        controller = started;
        if (stopped) started.abort(new Error('hung up'));
      },
      onResponseStart(_controller, statusCode, headers) {
        status = statusCode;
        if (statusCode !== 200 || !isEventStream(headers)) return;
        sse = createSseReader(({ data }) => {
          if (!stopped) onMessage(data);
        }, maxMessageBytes);
      },
      onResponseData(_controller, chunk) {
        if (stopped || sse === undefined) return;
        if (!sse.push(chunk)) {
          lose(garbled(server, `a message over ${maxMessageBytes} bytes`, status));
          return;
        }
        lastId = sse.lastId || lastId;
        retryMs = sse.retryMs ?? retryMs;
        attempts = 0;
      },
      onResponseEnd: () => again(sse !== undefined || isPassing(status), `HTTP ${status}`),
      onResponseError: (_controller, error) => again(true, error.message),
    });
  }

  function again(worthwhile: boolean, what: string): void {
    controller = undefined;
    if (stopped) return;
    if (worthwhile && attempts < maxAttempts) timer = wait();
    else lose(lostConnection(server, `its answer stream broke off and cannot be resumed (${what})`, true));
  }

  /** What was resumed is never sent again, so the loss is not one of the connection. */
  function lose(failure: WireFailure): void {
    stop();
    onLost({ ...failure, cause: 'gave-up' });
  }

  function stop(): void {
    stopped = true;
    timer.cancel();
    controller?.abort(new Error('hung up'));
  }

  return stop;
}

const defaultRetryMs = 1000;
/** Whatever the server wishes: the caller waits. */
const maxRetryMs = 30_000;
/** In a row that brought nothing; the patience of the call bounds the rest. */
const maxAttempts = 10;

/** The server, or what stands before it, may do better next time; 409 says that it still sees the old connection. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 409 || status === 408;
}
