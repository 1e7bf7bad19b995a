import type { Clock, HubError, Logger } from '../../base/index.ts';
import { createLineReader, notification, readUpstreamMessage } from '../../mcp/index.ts';
import type { Child } from '../children/index.ts';
import { cancelled, lostConnection, queueFull, timedOut } from '../failures.ts';
import { createPatience, type Patience } from '../patience.ts';
import {
  type Envelope,
  legacyEnvelope,
  requestText,
  type Wire,
  type WireCall,
  type WireEvents,
  type WireFailure,
  type WireReply,
  type WireRequest,
} from '../wire.ts';

/** JSON-RPC over a child's pipes: one write per turn of the loop, whatever number of calls it carries. */
export function createStdioWire(
  deps: { readonly clock: Clock; readonly logger: Logger; readonly child: Child; readonly events: WireEvents },
  options: { readonly server: string },
): Wire {
  return new StdioWire(deps, options.server);
}

/** A child that reads nothing may not make the hub hold more than this for it. */
const maxQueuedBytes = 16 * 1024 * 1024;
const maxMessageBytes = 64 * 1024 * 1024;
/** Enough to see what is wrong, not enough to flood the log. */
const maxGarbageReports = 5;

interface Pending {
  readonly request: WireRequest;
  readonly patience: Patience;
  readonly settle: (reply: WireReply) => void;
}

class StdioWire implements Wire {
  readonly transport = 'stdio';
  readonly sessionId = null;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #child: Child;
  readonly #events: WireEvents;
  readonly #server: string;
  readonly #pending = new Map<number, Pending>();
  #envelope: Envelope = legacyEnvelope('');
  #nextId = 1;
  #outgoing = '';
  #garbage = 0;
  #gone: WireFailure | undefined;
  #closing = false;

  constructor(deps: Parameters<typeof createStdioWire>[0], server: string) {
    this.#clock = deps.clock;
    this.#logger = deps.logger;
    this.#child = deps.child;
    this.#events = deps.events;
    this.#server = server;
    const reader = createLineReader((line) => this.#receive(line.toString('utf8')), maxMessageBytes);
    deps.child.stdout.on('data', (chunk: Buffer) => {
      if (!reader.push(chunk)) this.#fail(`a message over ${maxMessageBytes} bytes`);
    });
    // A broken pipe is the child's exit seen from the other side; `exited` tells the story.
    deps.child.stdin.on('error', () => {});
    deps.child.stdout.on('error', () => {});
    void deps.child.exited.then((exit) => {
      const how = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
      const tail = exit.stderrTail.trim().split('\n').at(-1);
      this.#fail(`its process ${how}${tail ? ` (${tail.slice(0, 300)})` : ''}`);
    });
  }

  request(request: WireRequest): WireCall {
    if (this.#gone !== undefined) return { reply: Promise.resolve({ ...this.#gone, sent: false }), cancel() {} };
    const queued = this.#child.stdin.writableLength + this.#outgoing.length;
    if (queued > maxQueuedBytes) {
      return { reply: Promise.resolve(queueFull(this.#server, queued)), cancel() {} };
    }
    const id = this.#nextId++;
    const reply = new Promise<WireReply>((settle) => {
      const patience = createPatience(this.#clock, request.timeoutMs, request.maxMs, () => this.#giveUp(id, undefined));
      this.#pending.set(id, { request, patience, settle });
    });
    this.#write(requestText(id, request, this.#envelope));
    return { reply, cancel: (error) => this.#giveUp(id, error) };
  }

  notify(method: string, params?: unknown): void {
    if (this.#gone === undefined) this.#write(notification(method, params));
  }

  speak(envelope: Envelope): void {
    this.#envelope = envelope;
  }

  openChangeStream(): void {}

  async close(): Promise<void> {
    this.#closing = true;
    await this.#child.stop();
  }

  #write(text: string): void {
    if (this.#outgoing === '') process.nextTick(() => this.#flush());
    this.#outgoing += `${text}\n`;
  }

  #flush(): void {
    const text = this.#outgoing;
    this.#outgoing = '';
    if (this.#gone === undefined) this.#child.stdin.write(text);
  }

  #receive(line: string): void {
    const message = readUpstreamMessage(line);
    switch (message.kind) {
      case 'result':
      case 'error': {
        const pending = this.#pending.get(message.id as number); // a foreign id finds nothing
        if (pending === undefined) return;
        this.#pending.delete(message.id as number); // it was found under this key
        pending.patience.end();
        pending.settle(message);
        return;
      }
      case 'notification':
        if (message.method === 'notifications/progress') this.#progress(message.params);
        else this.#events.onNotification(message.method, message.params);
        return;
      case 'request':
        this.#write(answerToServer(message.id, message.method));
        return;
      case 'garbage':
        if (this.#garbage++ < maxGarbageReports) {
          this.#logger.warn('upstream_garbage', { server: this.#server, reason: message.reason });
        }
    }
  }

  #progress(params: Readonly<Record<string, unknown>>): void {
    const pending = this.#pending.get(params.progressToken as number); // a foreign token finds nothing
    if (pending === undefined) return;
    pending.patience.renew();
    pending.request.onProgress?.(params);
  }

  /** Timeout, or cancelled by the caller when `error` is given. */
  #giveUp(id: number, error: HubError | undefined): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    pending.patience.end();
    const { method, timeoutMs } = pending.request;
    // Nobody may cancel initialize; a late answer to anything else is dropped by its id.
    if (method !== 'initialize') {
      this.notify('notifications/cancelled', { requestId: id, reason: error?.message ?? 'timeout' });
    }
    pending.settle(error === undefined ? timedOut(this.#server, method, timeoutMs) : cancelled(error, true));
  }

  #fail(what: string): void {
    if (this.#gone !== undefined) return;
    const failure = lostConnection(this.#server, what, true);
    this.#gone = lostConnection(this.#server, what, false);
    for (const pending of this.#pending.values()) {
      pending.patience.end();
      pending.settle(failure);
    }
    this.#pending.clear();
    this.#child.kill();
    if (!this.#closing) this.#events.onLost(this.#gone.error);
  }
}

/**
 * A shared connection cannot tell for whom a server asks, so nothing is offered that a server might
 * ask for. An answer is still owed: a server that waits for one would hang.
 */
export function answerToServer(id: string | number, method: string): string {
  const idText = JSON.stringify(id);
  if (method === 'ping') return `{"jsonrpc":"2.0","id":${idText},"result":{}}`;
  return `{"jsonrpc":"2.0","id":${idText},"error":{"code":-32601,"message":"Not offered by this client"}}`;
}
