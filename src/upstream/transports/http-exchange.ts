import type { Dispatcher } from 'undici';
import type { Clock, HubError, Timer } from '../../base/index.ts';
import {
  createSseReader,
  notOffered,
  type Question,
  readUpstreamMessage,
  type SseReader,
  type UpstreamMessage,
} from '../../mcp/index.ts';
import type { Deadlines } from '../deadlines.ts';
import { cancelled, garbled, lostConnection, lostSession, timedOut } from '../failures.ts';
import type { WireFailure, WireReply, WireRequest } from '../wire.ts';
import { answerMessage, isPing, pong } from './answer-to-server.ts';
import { answeredStatus, headerText, isRefusal, maxMessageBytes, networkFailure } from './network.ts';
import { type OpenFrom, resumeStream } from './resumed-stream.ts';

/** One POST and its answer: JSON, or a stream that ends with the answer. */
export interface Exchange {
  readonly handler: Dispatcher.DispatchHandler;
  readonly reply: Promise<WireReply>;
  cancel(error: HubError): void;
  readonly owner: unknown;
  /** A message that came elsewhere and belongs to this call. */
  hear(message: Aside): void;
}

/** What a server says besides its answer. */
export type Aside = UpstreamMessage & { readonly kind: 'request' | 'notification' };

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly server: string;
  readonly id: number;
  readonly request: WireRequest;
  /** The legacy session that this request named. */
  readonly sessionId: string | null;
  readonly onSession: ((sessionId: string) => void) | undefined;
  onNotification(method: string, params: Readonly<Record<string, unknown>>): void;
  readonly ways: Ways;
  /** 401, 403 or 451. */
  onRefused(error: HubError): void;
  onGiveUp(reason: string): void;
  onEnd(): void;
}

/** Further requests to the same server. */
export interface Ways {
  /** Brings the answer to a question of the server on its way. */
  send(message: string): void;
  /** Undefined in the era in which a stream that broke off is lost. */
  readonly resume: OpenFrom | undefined;
}

/** A stream usually ends with its answer, and its connection serves the next call; one that goes on has no reader. */
const lingerMs = 1000;
/** JSON-RPC codes with which servers answer 400 to a session they do not know. */
const sessionCodes: ReadonlySet<number> = new Set([-32000, -32001, -32600]);

export function createExchange(options: ExchangeOptions): Exchange {
  const { clock, server, id, request } = options;
  let settled = false;
  let controller: Dispatcher.DispatchController | undefined;
  let status = 0;
  let contentType = '';
  /** Of an answer that is no message. */
  let refused: WireFailure | undefined;
  let parts: Buffer[] = [];
  let size = 0;
  let sse: SseReader | undefined;
  let linger: Timer | undefined;
  let stopResumed: (() => void) | undefined;
  let settle: (reply: WireReply) => void = () => {};
  const reply = new Promise<WireReply>((resolve) => {
    settle = resolve;
  });
  const patience = options.deadlines.start({ timeOut: giveUp }, request.timeoutMs, request.maxMs);

  function end(outcome: WireReply, hangUp = false): void {
    if (settled) return;
    settled = true;
    patience.end();
    stopResumed?.();
    options.onEnd();
    settle(outcome);
    if (hangUp) controller?.abort(new Error('hung up'));
  }

  /** The limit that was reached, or the error of whoever cancelled. */
  function giveUp(why: number | HubError): void {
    if (settled) return;
    const timeout = typeof why === 'number';
    options.onGiveUp(timeout ? 'timeout' : why.message);
    end(timeout ? timedOut(server, request.method, why) : cancelled(why, true), true);
  }

  function receive(text: string): void {
    if (settled) return;
    const message = readUpstreamMessage(text);
    if (message.kind === 'result' || message.kind === 'error') {
      if (message.id !== id) return;
      end(message);
      if (stopResumed === undefined) linger = clock.setTimer(lingerMs, () => controller?.abort(new Error('answered')));
    } else if (message.kind !== 'garbage') hear(message);
  }

  function hear(message: Aside): void {
    if (message.kind === 'request') void asked(message.id, message);
    else notified(message.method, message.params);
  }

  /** What comes on the stream of a call belongs to that call. */
  function notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/message') request.hearing?.log(params);
    else if (method !== 'notifications/progress') options.onNotification(method, params);
    else if (params.progressToken === id) {
      patience.renew();
      request.hearing?.progress(params);
    }
  }

  async function asked(questionId: string | number, question: Question): Promise<void> {
    const { hearing } = request;
    if (hearing === undefined || isPing(question)) {
      options.ways.send(answerMessage(questionId, isPing(question) ? pong : notOffered()));
      return;
    }
    patience.hold();
    const answer = await hearing.ask(question);
    patience.resume();
    options.ways.send(answerMessage(questionId, answer));
  }

  /** The stream is gone, but not the call: a server that numbers its events goes on with them elsewhere. */
  function brokeOff(failure: WireFailure): void {
    const { resume } = options.ways;
    if (settled) return;
    if (resume === undefined || sse === undefined || !sse.lastId) end(failure);
    else stopResumed = resumeStream({ clock, open: resume }, { server, from: sse, onMessage: receive, onLost: end });
  }

  function finish(): void {
    if (settled) return;
    if (sse !== undefined) {
      brokeOff(lostConnection(server, 'the answer stream ended before the answer', true));
      return;
    }
    const text = (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString('utf8'); // length checked
    parts = [];
    const message = text === '' ? undefined : readUpstreamMessage(text);
    if (status === 404 && options.sessionId !== null) end(lostSession(server, status));
    else if (message?.kind === 'error' && isSessionLoss(options, status, message.code))
      end(lostSession(server, status));
    else if (refused !== undefined && (isRefusal(status) || status === 429 || status >= 500)) {
      if (isRefusal(status)) options.onRefused(refused.error);
      end(refused);
    } else if (message?.kind === 'error' && (message.id === id || message.id === null || message.id === undefined)) {
      end(status === 200 ? message : { ...message, httpStatus: status });
    } else if (refused !== undefined) end(refused);
    else if (message?.kind === 'result' && message.id === id) end(message);
    else end(garbled(server, describe(contentType, message?.kind), status));
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (settled) started.abort(new Error('hung up'));
    },
    onResponseStart(_controller, statusCode, headers) {
      status = statusCode;
      contentType = headerText(headers['content-type']) ?? '';
      if (statusCode !== 200) {
        refused = answeredStatus(server, statusCode, headers);
        return;
      }
      const session = headerText(headers['mcp-session-id']);
      if (session !== undefined) options.onSession?.(session);
      if (contentType.startsWith('text/event-stream')) {
        sse = createSseReader((event) => receive(event.data), maxMessageBytes);
      }
    },
    onResponseData(_controller, chunk) {
      if (sse !== undefined) {
        if (!settled && !sse.push(chunk)) end(garbled(server, `a message over ${maxMessageBytes} bytes`, status), true);
        return;
      }
      parts.push(chunk);
      size += chunk.length;
      if (size > maxMessageBytes) end(garbled(server, `a message over ${maxMessageBytes} bytes`, status), true);
    },
    onResponseEnd() {
      linger?.cancel();
      finish();
    },
    onResponseError(_controller, error) {
      linger?.cancel();
      brokeOff(networkFailure(server, error, controller !== undefined));
    },
  };
  return { handler, reply, cancel: giveUp, owner: request.hearing?.owner, hear };
}

function isSessionLoss({ sessionId }: ExchangeOptions, status: number, code: number): boolean {
  return status === 400 && sessionId !== null && sessionCodes.has(code);
}

function describe(contentType: string, kind: string | undefined): string {
  if (kind === undefined) return 'an empty body';
  return kind === 'garbage' ? `a body of type ${contentType || 'unknown'}` : `a ${kind} where the answer should be`;
}
