import type { ServerResponse } from 'node:http';
import { errorTable, type HubError, type Logger, toHubError } from '../../base/index.ts';
import { errorReply, sseEvent } from '../../mcp/index.ts';
import type { RequestAnswer } from '../mcp/index.ts';
import { challenge } from './protected-resource.ts';
import { fittingText, writeCounted } from './unsent-answers.ts';

/** A client that leaves this much unread is disconnected. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** Proxies close silent streams. */
export const keepAliveMs = 15_000;
/** How long a client may go on sending after a refusal. */
const lingerMs = 1000;
/** A client that reads nothing of a large answer for this long is disconnected. */
const slowReaderMs = 60_000;

export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers: readonly string[] = [],
): void {
  // A client that is gone needs no answer.
  if (response.destroyed) return;
  const length = Buffer.byteLength(text);
  response.writeHead(status, ['content-type', 'application/json', 'content-length', String(length), ...headers]);
  // A string leaves in one write with the head, and plain ASCII needs no transcoding. Ending a tick later, when the
  // write has left, spares the empty second piece that `end` would make it gather.
  writeCounted(response, text, length === text.length ? 'latin1' : 'utf8');
  process.nextTick(endResponse, response);
}

/** Sends an answer, or an error instead if the clients of its agent leave too much unread. */
export function sendAnswer(response: ServerResponse, answer: RequestAnswer, status = 200): void {
  sendJson(response, status, fittingText(response, answer));
}

/** Ends a response; a client that reads nothing of it for `silenceMs` is disconnected. */
export function endResponse(response: ServerResponse, silenceMs = slowReaderMs): void {
  if (response.writableLength > 65_536) response.setTimeout(silenceMs, () => response.destroy());
  response.end();
}

export function sendStatus(response: ServerResponse, status: number, headers: readonly string[] = []): void {
  response.writeHead(status, ['content-length', '0', ...headers]).end();
}

/** Refuses a request; a defect is logged. */
export function refuseRequest(response: ServerResponse, error: unknown, idText: string, logger: Logger): void {
  const known = toHubError(error);
  if (known.code === 'INTERNAL') logger.error('mcp.request-failed', { error: known.message, stack: known.stack });
  sendRefusal(response, known, idText);
}

/** Refuses the HTTP request; the body is a JSON-RPC error for clients that read it. */
export function sendRefusal(response: ServerResponse, error: HubError, idText = 'null'): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { http } = errorTable[error.code];
  const text = errorReply(idText, error);
  const readsOn = error.code === 'REQUEST_TOO_LARGE' || error.code === 'OVERLOADED';
  if (readsOn && !response.req.complete) refuseUnread(response, http, text);
  else sendJson(response, http, text, http === 401 ? ['www-authenticate', challenge(response.req, error.message)] : []);
}

/**
 * Refuses a request whose body is still arriving. A client whose write fails never reads the answer, so the connection is
 * not closed at once: the rest of the body is dropped until the client stops or its time is over.
 */
function refuseUnread(response: ServerResponse, status: number, text: string): void {
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, ['content-type', 'application/json', 'content-length', length, 'connection', 'close']);
  response.write(text);
  response.setTimeout(lingerMs, () => response.destroy());
  response.req.once('end', () => response.end());
  response.req.resume();
}

/** An answer that is plain JSON, unless a message came before it or it took long. */
export interface GrowingAnswer {
  readonly between: (message: string) => void;
  /** Becomes a stream, if the client is still connected. */
  grow(): void;
  /** Writes something other than a message, to a stream only. */
  write(text: string): void;
  /** The status is used only if the answer is not a stream. */
  end(answer: RequestAnswer, status?: number): void;
}

export function jsonOrStream(response: ServerResponse): GrowingAnswer {
  let stream: EventStream | undefined;

  function grow(): void {
    if (!response.destroyed) stream ??= openEventStream(response);
  }

  return {
    grow,
    between(message) {
      grow();
      stream?.send(message);
    },
    write: (text) => stream?.write(text),
    end(answer, status = 200) {
      if (stream === undefined) sendAnswer(response, answer, status);
      else {
        stream.send(fittingText(response, answer));
        stream.end();
      }
    },
  };
}

export interface EventStream {
  send(message: string): void;
  /** Writes something other than a message: a comment, or another kind of event. */
  write(text: string): void;
  end(): void;
}

export function openEventStream(response: ServerResponse, headers: readonly string[] = []): EventStream {
  response.writeHead(200, [
    'content-type',
    'text/event-stream',
    'cache-control',
    'no-cache, no-transform',
    'x-accel-buffering',
    'no',
    ...headers,
  ]);
  response.flushHeaders();

  function write(text: string): void {
    if (response.destroyed || response.writableEnded) return;
    if (response.writableLength > maxUnreadBytes) response.destroy();
    else writeCounted(response, text, 'utf8');
  }

  return {
    send: (message) => write(sseEvent(message)),
    write,
    end() {
      if (!response.destroyed && !response.writableEnded) endResponse(response);
    },
  };
}
