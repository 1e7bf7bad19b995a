import type { ServerResponse } from 'node:http';
import { errorTable, type HubError, type Logger, toHubError } from '../../base/index.ts';
import { errorReply, sseEvent } from '../../mcp/index.ts';
import { challenge } from './protected-resource.ts';

/** A reader that leaves this much unread is given up. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** Proxies close streams on which nothing happens. */
export const keepAliveMs = 15_000;
/** A client that is told to stop sending has this long to notice. */
const lingerMs = 1000;
/** A large answer must be taken within this much silence. */
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
  response.write(text, length === text.length ? 'latin1' : 'utf8');
  process.nextTick(endResponse, response);
}

/** Ends an answer; a reader that takes nothing of it for a while is given up. */
export function endResponse(response: ServerResponse, silenceMs = slowReaderMs): void {
  if (response.writableLength > 65_536) response.setTimeout(silenceMs, () => response.destroy());
  response.end();
}

export function sendStatus(response: ServerResponse, status: number, headers: readonly string[] = []): void {
  response.writeHead(status, ['content-length', '0', ...headers]).end();
}

/** Refuses a request for whatever went wrong; what should not have is logged. */
export function refuse(response: ServerResponse, error: unknown, idText: string, logger: Logger): void {
  const known = toHubError(error);
  if (known.code === 'INTERNAL') logger.error('mcp_request_failed', { error: known.message, stack: known.stack });
  sendRefusal(response, known, idText);
}

/** Refuses the request as such; the body says so in JSON-RPC for clients that read it. */
export function sendRefusal(response: ServerResponse, error: HubError, idText = 'null'): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { http } = errorTable[error.code];
  const text = errorReply(idText, error);
  if (http === 413 && !response.req.complete) refuseUnread(response, http, text);
  else sendJson(response, http, text, http === 401 ? ['www-authenticate', challenge(response.req, error.message)] : []);
}

/**
 * Refuses a body that is still coming. Closing at once would cost the client the answer, for it sees its own write fail
 * first; so what it sends is dropped until it stops, or until its time for the request is over.
 */
function refuseUnread(response: ServerResponse, status: number, text: string): void {
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, ['content-type', 'application/json', 'content-length', length, 'connection', 'close']);
  response.write(text);
  response.setTimeout(lingerMs, () => response.destroy());
  response.req.once('end', () => response.end());
  response.req.resume();
}

/** An answer that is plain JSON unless something was said before it, or it took long. */
export interface GrowingAnswer {
  readonly between: (message: string) => void;
  /** Becomes a stream, if anybody is there. */
  grow(): void;
  /** What is no message, to a stream only. */
  write(text: string): void;
  /** The status counts as long as nothing was said before. */
  end(message: string, status?: number): void;
}

export function growingAnswer(response: ServerResponse): GrowingAnswer {
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
    end(message, status = 200) {
      if (stream === undefined) sendJson(response, status, message);
      else {
        stream.send(message);
        stream.end();
      }
    },
  };
}

export interface EventStream {
  send(message: string): void;
  /** What is no message: a comment, or an event of another kind. */
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
    else response.write(text);
  }

  return {
    send: (message) => write(sseEvent(message)),
    write,
    end() {
      if (!response.destroyed && !response.writableEnded) endResponse(response);
    },
  };
}
