import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import {
  type Clock,
  countedBytes,
  defectFields,
  GatheredBytes,
  type HubError,
  type Logger,
  type Timer,
} from '../../base/index.ts';
import { type AnswerLimit, decodeMessage, readUpstreamMessage } from '../../mcp/index.ts';
import type { CallDeadlines, Deadlines, Timed } from '../connecting/deadlines.ts';
import {
  cancelled,
  defective,
  garbled,
  lostConnection,
  maxUnreadable,
  timedOut,
  tooMuchUnreadable,
} from '../failures.ts';
import type { FailedReply, RequestHandlers, UpstreamReply, UpstreamRequest } from '../transport.ts';
import { ResponseFlow } from './agent-bytes.ts';
import { replyOf } from './http-answer.ts';
import { createStreamMessageHandler, type StreamMessage } from './http-stream-messages.ts';
import { maxMessageBytes } from './message-limit.ts';
import { answeredStatus, headerText, isConnectionRefusal, isEventStream, networkFailure } from './network.ts';
import { createPacedSseReader, type PacedSseReader, pausableResponse } from './paced-reading.ts';
import { type OpenFrom, resumeStream } from './resumed-stream.ts';

/** One POST and its answer: JSON, or a stream that ends with the answer. */
export interface UpstreamExchange {
  readonly handler: Dispatcher.DispatchHandler;
  readonly reply: Promise<UpstreamReply>;
  cancel(error: HubError): void;
  readonly handlers: RequestHandlers | undefined;
  readonly deadline: CallDeadlines;
  /** A message of this call that arrived on another stream. */
  handle(message: StreamMessage): void;
}

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly deadlines: Deadlines;
  readonly server: string;
  readonly id: number;
  readonly request: UpstreamRequest;
  /** The legacy session of the request. */
  readonly sessionId: string | null;
  readonly onSession: ((sessionId: string) => void) | undefined;
  onNotification(method: string, params: Readonly<Record<string, unknown>>): void;
  readonly ways: FollowUpRequests;
  /** 401, 403 or 451. */
  onRefused(error: HubError): void;
  onGiveUp(reason: string): void;
  onEnd(exchange: UpstreamExchange): void;
}

/** Further requests to the same server. */
export interface FollowUpRequests {
  /** Sends the answer to a request of the server. */
  send(message: string): void;
  /** Undefined if streams cannot be resumed in this era. */
  readonly resume: OpenFrom | undefined;
}

export function createExchange(options: ExchangeOptions): UpstreamExchange {
  return new HttpExchange(options);
}

/** A stream that goes on after its answer is closed after this. Usually it ends, and its connection is reused. */
const lingerMs = 1000;

class HttpExchange implements UpstreamExchange, Dispatcher.DispatchHandler, Timed {
  readonly reply: Promise<UpstreamReply>;
  readonly deadline: CallDeadlines;
  readonly #options: ExchangeOptions;
  readonly #body = new GatheredBytes();
  #flow: ResponseFlow | undefined;
  #settle: ((reply: UpstreamReply) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #contentType = '';
  #refused: FailedReply | undefined;
  #sse: PacedSseReader | undefined;
  #linger: Timer | undefined;
  #stopResumed: (() => void) | undefined;
  #garbageInRow = 0;
  /** Most calls get nothing but their answer. */
  #streamMessages: ((message: StreamMessage) => void) | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.reply = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.deadline = options.deadlines.start(this, options.request.timeoutMs, options.request.maxMs);
  }

  handle(message: StreamMessage): void {
    this.#streamMessages ??= createStreamMessageHandler(this.#options, this.deadline, (error) => this.#failed(error));
    this.#streamMessages(message);
  }

  get handler(): Dispatcher.DispatchHandler {
    return this;
  }

  get handlers(): RequestHandlers | undefined {
    return this.#options.request.handlers;
  }

  cancel(error: HubError): void {
    if (this.#settle === undefined) return;
    this.#options.onGiveUp(error.message);
    this.#end(cancelled(error, true), true);
  }

  timeOut(limitMs: number): void {
    if (this.#settle === undefined) return;
    this.#options.onGiveUp('timeout');
    this.#end(timedOut(this.#options.server, this.#options.request.method, limitMs), true);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settle === undefined) controller.abort(new Error('hung up'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#contentType = headerText(headers['content-type']) ?? '';
    if (status !== 200) {
      this.#refused = answeredStatus(this.#options.server, status, headers);
      return;
    }
    const session = headerText(headers['mcp-session-id']);
    if (session !== undefined) this.#options.onSession?.(session);
    if (!isEventStream(headers)) return;
    this.#sse = createPacedSseReader(pausableResponse(controller), ({ data }) => this.#receive(data), maxMessageBytes);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settle === undefined) return;
    if (this.#sse === undefined) this.#body.add(chunk);
    if (this.#sse === undefined ? this.#body.size > maxMessageBytes : !this.#sse.push(chunk))
      this.#end(garbled(this.#options.server, `a message over ${maxMessageBytes} bytes`, this.#status), true);
    else this.#pauseWhenFull(controller);
  }

  onResponseEnd(): void {
    this.#sse?.finish();
    this.#linger?.cancel();
    try {
      this.#finish();
    } catch (error) {
      this.#failed(error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#sse?.finish();
    this.#linger?.cancel();
    this.#brokeOff(networkFailure(this.#options.server, error, this.#controller !== undefined));
  }

  #pauseWhenFull(controller: Dispatcher.DispatchController): void {
    const { server, request } = this.#options;
    const { account } = request;
    const kept = this.#sse === undefined ? this.#body.size : this.#sse.bufferedBytes;
    if (account === undefined || this.#settle === undefined) return;
    if (this.#flow === undefined && kept >= countedBytes) this.#flow = new ResponseFlow(account, server, controller);
    this.#flow?.keep(kept);
  }

  #end(outcome: UpstreamReply, hangUp = false): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    this.#body.clear();
    this.#flow?.end();
    this.deadline.end();
    this.#stopResumed?.();
    this.#options.onEnd(this);
    settle(outcome.kind === 'failed' ? this.#withStatus(outcome) : outcome);
    if (hangUp) this.#controller?.abort(new Error('hung up'));
  }

  /** An exchange that began with a status and then failed has that status. */
  #withStatus(failure: FailedReply): FailedReply {
    const isKnown = failure.httpStatus !== undefined || this.#status === 0;
    return isKnown ? failure : { ...failure, httpStatus: this.#status };
  }

  /** A message on the stream of this call. */
  #receive(text: string): void {
    try {
      this.#read(text);
    } catch (error) {
      this.#failed(error);
    }
  }

  #read(text: string): void {
    if (this.#settle === undefined) return;
    const { id, server, clock } = this.#options;
    const message = readUpstreamMessage(text, this.#limitOf);
    this.#garbageInRow = message.kind === 'garbage' ? this.#garbageInRow + 1 : 0;
    if (message.kind === 'result' || message.kind === 'error') {
      if (message.id !== id) return;
      this.#end({ ...message, httpStatus: this.#status });
      if (this.#stopResumed === undefined)
        this.#linger = clock.setTimer(lingerMs, () => this.#controller?.abort(new Error('answered')));
    } else if (message.kind === 'garbage') {
      if (message.id === id) this.#end(garbled(server, `an answer ${message.reason}`, this.#status), true);
      else if (this.#garbageInRow === maxUnreadable) this.#end(garbled(server, tooMuchUnreadable, this.#status), true);
    } else if (message.kind !== 'unasked') this.handle(message);
  }

  /** Only one answer is expected. */
  readonly #limitOf: AnswerLimit = (id) => {
    const { id: own, request } = this.#options;
    return id === own ? (request.maxAnswerLength ?? Number.POSITIVE_INFINITY) : undefined;
  };

  /** A defect while reading the response ends only this exchange. */
  #failed(error: unknown): void {
    const { logger, server } = this.#options;
    logger.error('upstream.defect-contained', { server, ...defectFields(error) });
    this.#end(defective(server, error), true);
  }

  /** The stream broke off. If its events have ids, the server can continue it on another stream. */
  #brokeOff(failure: FailedReply): void {
    const { clock, server, ways } = this.#options;
    const from = this.#sse;
    if (this.#settle === undefined) return;
    if (ways.resume === undefined || from === undefined || !from.lastId) this.#end(failure);
    else {
      const events = {
        onMessage: (text: string) => this.#receive(text),
        onLost: (lost: FailedReply) => this.#end(lost),
      };
      this.#stopResumed = resumeStream({ clock, open: ways.resume }, { server, from, ...events });
    }
  }

  #finish(): void {
    if (this.#settle === undefined) return;
    const { server, id, sessionId, onRefused } = this.#options;
    if (this.#sse !== undefined) {
      this.#brokeOff(lostConnection(server, 'the answer stream ended before the answer', true));
      return;
    }
    const [status, contentType, refused] = [this.#status, this.#contentType, this.#refused];
    const text = decodeMessage(this.#body.take());
    const limitOf = this.#limitOf;
    const reply = replyOf({ server, id, sessionId, status, contentType, refused, text, limitOf });
    if (reply.kind === 'failed' && reply === refused && isConnectionRefusal(status)) onRefused(reply.error);
    this.#end(reply);
  }
}
