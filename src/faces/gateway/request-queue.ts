import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { PlainRequest } from '../mcp-http/index.ts';

export type RequestHandler = (request: PlainRequest, response: ServerResponse) => void;

/** Requests that may wait on one connection; more than one read of a socket can bring. */
const maxWaiting = 1024;

interface QueuedRequest {
  readonly request: PlainRequest;
  readonly response: ServerResponse;
}

interface QueueingSocket extends Socket {
  /** On the socket itself, because it is read with every request. */
  [queued]?: RequestQueue;
}

const queued = Symbol('requests');

/**
 * Handles the requests of a connection one after the other: the next begins when the previous answer has been sent, and
 * nothing more is read until then. So pipelining costs the hub one answer, however many requests fit in a packet.
 */
export function oneAtATime(handle: RequestHandler): RequestHandler {
  return function receive(request, response) {
    const socket: QueueingSocket = request.socket;
    socket[queued] ??= new RequestQueue(socket, handle);
    socket[queued].add(request, response);
  };
}

class RequestQueue {
  readonly #socket: Socket;
  readonly #handle: RequestHandler;
  readonly #waiting: QueuedRequest[] = [];
  #current: ServerResponse | undefined;
  #pausing = false;

  constructor(socket: Socket, handle: RequestHandler) {
    this.#socket = socket;
    this.#handle = handle;
  }

  add(request: PlainRequest, response: ServerResponse): void {
    const current = this.#current;
    if (this.#waiting.length === 0 && (current === undefined || current.writableFinished)) {
      this.#current = response;
      this.#handle(request, response);
      return;
    }
    if (this.#waiting.length >= maxWaiting) {
      this.overflowed();
      return;
    }
    this.came();
    request.buffer(this);
    if (this.#waiting.push({ request, response }) === 1) current?.once('finish', () => this.#next());
  }

  /** Pauses the connection once the parser is done: the parser resumes reading with each request that it completes. */
  came(): void {
    if (this.#pausing) return;
    this.#pausing = true;
    process.nextTick(() => {
      this.#pausing = false;
      if (this.#waiting.length > 0) this.#socket.pause();
    });
  }

  overflowed(): void {
    this.#socket.destroy();
  }

  #next(): void {
    const turn = this.#waiting.shift();
    if (turn === undefined) return;
    const { request, response } = turn;
    this.#current = response;
    if (this.#waiting.length > 0) response.once('finish', () => this.#next());
    this.#handle(request, response);
    request.release();
    if (this.#waiting.length === 0) this.#socket.resume();
  }
}
