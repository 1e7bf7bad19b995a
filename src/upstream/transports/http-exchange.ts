import type { Dispatcher } from 'undici';
import { type Clock, defectFields, GatheredBytes, type HubError, type Logger, type Timer } from '../../base/index.ts';
import { createSseReader, readUpstreamMessage, type SseReader, type UpstreamMessage } from '../../mcp/index.ts';
import type { Deadlines, Patience } from '../deadlines.ts';
import { cancelled, defective, garbled, lostConnection, lostSession, timedOut } from '../failures.ts';
import type { Hearing, WireFailure, WireReply, WireRequest } from '../wire.ts';
import { type Aside, createAsideHandler } from './http-asides.ts';
import { answeredStatus, headerText, isRefusal, maxMessageBytes, networkFailure } from './network.ts';
import { type OpenFrom, resumeStream } from './resumed-stream.ts';

/** One POST and its answer: JSON, or a stream that ends with the answer. */
export interface Exchange {
  readonly handler: Dispatcher.DispatchHandler;
  readonly reply: Promise<WireReply>;
  cancel(error: HubError): void;
  readonly hearing: Hearing | undefined;
  readonly patience: Patience;
  /** A message that came elsewhere and belongs to this call. */
  hear(message: Aside): void;
}

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly logger: Logger;
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
  const { clock, logger, server, id, request } = options;
  let settled = false;
  let controller: Dispatcher.DispatchController | undefined;
  let status = 0;
  let contentType = '';
  /** Of an answer that is no message. */
  let refused: WireFailure | undefined;
  const body = new GatheredBytes();
  let sse: SseReader | undefined;
  let linger: Timer | undefined;
  let stopResumed: (() => void) | undefined;
  let settle: (reply: WireReply) => void = () => {};
  const reply = new Promise<WireReply>((resolve) => {
    settle = resolve;
  });
  const patience = options.deadlines.start({ timeOut: giveUp }, request.timeoutMs, request.maxMs);
  const hear = createAsideHandler(options, patience, failed);

  function end(outcome: WireReply, hangUp = false): void {
    if (settled) return;
    settled = true;
    body.clear();
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

  function read(text: string): void {
    if (settled) return;
    const message = readUpstreamMessage(text);
    if (message.kind === 'result' || message.kind === 'error') {
      if (message.id !== id) return;
      end(message);
      if (stopResumed === undefined) linger = clock.setTimer(lingerMs, () => controller?.abort(new Error('answered')));
    } else if (message.kind !== 'garbage') hear(message);
    else if (message.id === id) end(garbled(server, `an answer ${message.reason}`, status), true);
  }

  function receive(take: () => void): void {
    try {
      take();
    } catch (error) {
      failed(error);
    }
  }

  /** A defect in reading what the server sent is the end of this exchange alone. */
  function failed(error: unknown): void {
    logger.error('upstream_defect', { server, ...defectFields(error) });
    end(defective(server, error), true);
  }

  const onMessage = (text: string): void => receive(() => read(text));

  /** The stream is gone, but not the call: a server that numbers its events goes on with them elsewhere. */
  function brokeOff(failure: WireFailure): void {
    const { resume } = options.ways;
    if (settled) return;
    if (resume === undefined || sse === undefined || !sse.lastId) end(failure);
    else stopResumed = resumeStream({ clock, open: resume }, { server, from: sse, onMessage, onLost: end });
  }

  function finish(): void {
    if (settled) return;
    if (sse !== undefined) {
      brokeOff(lostConnection(server, 'the answer stream ended before the answer', true));
      return;
    }
    const text = body.take().toString('utf8');
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
    else end(garbled(server, describe(contentType, message), status));
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
        sse = createSseReader(({ data }) => onMessage(data), maxMessageBytes);
      }
    },
    onResponseData(_controller, chunk) {
      if (settled) return;
      if (sse === undefined) body.add(chunk);
      if (sse === undefined ? body.size > maxMessageBytes : !sse.push(chunk))
        end(garbled(server, `a message over ${maxMessageBytes} bytes`, status), true);
    },
    onResponseEnd() {
      linger?.cancel();
      receive(finish);
    },
    onResponseError(_controller, error) {
      linger?.cancel();
      brokeOff(networkFailure(server, error, controller !== undefined));
    },
  };
  return { handler, reply, cancel: giveUp, hearing: request.hearing, patience, hear };
}

function isSessionLoss({ sessionId }: ExchangeOptions, status: number, code: number): boolean {
  return status === 400 && sessionId !== null && sessionCodes.has(code);
}

function describe(contentType: string, message: UpstreamMessage | undefined): string {
  if (message === undefined) return 'an empty body';
  if (message.kind !== 'garbage') return `a ${message.kind} where the answer should be`;
  return message.id === undefined ? `a body of type ${contentType || 'unknown'}` : `an answer ${message.reason}`;
}
