import { isAscii } from 'node:buffer';
import { type AgentAccount, type ByteBudget, type Clock, defectFields, type Logger, sleep } from '../../base/index.ts';
import { createLineReader, decodeMessage, type LineReader, notification, oneLine } from '../../mcp/index.ts';
import { type ChildExit, type ChildStreams, lastStderrLine } from '../children/index.ts';
import { Deadlines } from '../connecting/deadlines.ts';
import { cancelled, defectReason, lostConnection, maxQuoted, timedOut } from '../failures.ts';
import {
  type Envelope,
  type FailedReply,
  legacyEnvelope,
  type PendingRequest,
  requestText,
  type Transport,
  type TransportEvents,
  type UpstreamRequest,
} from '../transport.ts';
import { Inbox, type SharedStreamOptions } from './inbox.ts';
import { InputQueue, maxQueuedBytes } from './input-queue.ts';
import { hardMessageBytes, maxMessageBytes } from './message-limit.ts';
import { PacedReading, workOf } from './paced-reading.ts';
import { type GiveUp, Pending, PendingRequests } from './pending.ts';

/** JSON-RPC over a pair of pipes. All calls of one turn of the event loop share one write. */
export function createStdioTransport(deps: StdioTransportDeps, options: StdioTransportOptions): Transport {
  return new StdioTransport(deps, options);
}

export interface StdioTransportDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly child: ChildStreams;
  readonly events: TransportEvents;
  /** Redacts the child's stderr output. */
  readonly redact: (text: string) => string;
  /** Where a long line that has not ended counts. */
  readonly lines?: ByteBudget | undefined;
}

export interface StdioTransportOptions extends SharedStreamOptions {
  /** The child at the other end. */
  readonly transport?: 'stdio' | 'builtin';
}

/** Texts of this length are written at once. Node encodes shorter ones without allocating. */
const largeWrite = 8 * 1024;
/** How long the rest of a dying child's output, or the exit after its output closed, may take to arrive. */
const lastWordsMs = 500;

class StdioTransport implements Transport {
  readonly kind: 'stdio' | 'builtin';
  readonly sessionId = null;
  proven = false;
  readonly #clock: Clock;
  readonly #child: ChildStreams;
  readonly #events: TransportEvents;
  readonly #redact: StdioTransportDeps['redact'];
  readonly #server: string;
  readonly #pending = new PendingRequests();
  readonly #deadlines: Deadlines;
  readonly #reader: LineReader;
  readonly #paced: PacedReading<string>;
  readonly #queue: InputQueue;
  #envelope: Envelope = legacyEnvelope('');
  #outgoing = '';
  #gone: FailedReply | undefined;
  #closing = false;

  constructor(deps: StdioTransportDeps, options: StdioTransportOptions) {
    const { server, transport = 'stdio' } = options;
    this.kind = transport;
    this.#clock = deps.clock;
    this.#child = deps.child;
    this.#events = deps.events;
    this.#redact = deps.redact;
    this.#server = server;
    this.#deadlines = new Deadlines(deps.clock);
    this.#queue = new InputQueue(server);
    const inbox = new Inbox(server, {
      ...deps,
      pending: this.#pending,
      onAnswer: (pending, answer) => {
        this.#pending.delete(pending);
        pending.deadline.end();
        if (pending.request.name !== undefined && answer.kind !== 'failed') this.proven = true;
        pending.settle(answer);
      },
      send: (message) => {
        // A child that keeps asking and never reads gets no answer.
        if (this.#gone === undefined && this.queuedBytes <= maxQueuedBytes) this.#write(message);
      },
      onUnreadable: (what) => this.#fail(what),
      exclusive: options.exclusive,
    });
    const orFail = (work: () => void): void => this.#orFail(deps.logger, work);
    const paced = new PacedReading(deps.child.stdout, (text) => orFail(() => inbox.receive(text)), workOf);
    this.#paced = paced;
    /** The current chunk, if it is ASCII. Most chunks are, and need no decoding. */
    let plain: Buffer | undefined;
    const onLine = (bytes: Buffer, start: number, end: number): void =>
      paced.receive(bytes === plain ? bytes.toString('latin1', start, end) : decodeMessage(bytes, start, end));
    const reader = createLineReader(onLine, maxMessageBytes, {
      onSkipped: ({ answeredId, size }) => {
        if (size > maxMessageBytes) inbox.skipped(answeredId, `over ${maxMessageBytes} bytes`);
        else inbox.dropped(answeredId, size);
      },
      maxSkippedBytes: hardMessageBytes,
      budget: deps.lines,
    });
    this.#reader = reader;
    deps.child.stdout.on('data', (chunk: Buffer) => {
      plain = isAscii(chunk) ? chunk : undefined;
      orFail(() => {
        if (!reader.push(chunk)) this.#fail(`a message over ${hardMessageBytes} bytes`);
      });
      plain = undefined;
    });
    // A broken pipe means that the child exited. `exited` has the reason.
    deps.child.stdin.on('error', () => {});
    deps.child.stdout.on('error', () => {});
    void this.#watch();
  }

  request(request: UpstreamRequest): PendingRequest {
    if (this.#gone !== undefined) return { reply: Promise.resolve({ ...this.#gone, sent: false }), cancel() {} };
    const queued = this.queuedBytes;
    const id = this.#pending.nextId();
    const text = requestText(id, request, this.#envelope);
    const refusal = this.#queue.refusal(queued, text.length, request.account);
    if (refusal !== undefined) return { reply: Promise.resolve(refusal), cancel() {} };
    const pending = new Pending(id, request, this.#deadlines, this.#giveUp);
    this.#pending.add(pending);
    if (this.#queue.add(queued, text.length, request.account)) this.#writeCounted(text, request.account);
    else this.#write(text);
    return pending;
  }

  notify(method: string, params?: unknown): undefined {
    if (this.#gone === undefined && this.queuedBytes <= maxQueuedBytes) this.#write(notification(method, params));
  }

  speak(envelope: Envelope): void {
    this.#envelope = envelope;
  }

  openChangeStream(): undefined {}

  async close(): Promise<void> {
    this.#closing = true;
    await this.#child.stop();
  }

  /** Output may still be in the pipe when the child exits, and an exit says more than a closed pipe. */
  async #watch(): Promise<void> {
    const { stdout, exited } = this.#child;
    let exit: ChildExit | undefined;
    const ends = [
      exited.then((how) => {
        exit = how;
      }),
      new Promise<void>((resolve) => {
        stdout.once('close', resolve);
      }),
    ];
    await Promise.race(ends);
    const both = new AbortController();
    void Promise.all(ends).then(() => both.abort());
    await sleep(this.#clock, lastWordsMs, both.signal);
    this.#fail(exit === undefined ? 'it closed its output' : this.#describe(exit));
  }

  #describe(exit: ChildExit): string {
    if (exit.code === null && exit.signal === null) return 'it was closed';
    const how = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
    const said = lastStderrLine(this.#redact(exit.stderrTail)).slice(0, maxQuoted);
    return `its process ${how}${said === '' ? '' : ` (${said})`}`;
  }

  get queuedBytes(): number {
    return this.#child.stdin.writableLength + this.#outgoing.length;
  }

  /** One message is one line, whatever it is made of: a line break would let its author send another message. */
  #write(text: string): void {
    if (this.#outgoing === '') process.nextTick(this.#flush);
    this.#outgoing += `${oneLine(text)}\n`;
    if (this.#outgoing.length >= largeWrite) this.#flush();
  }

  /** By itself, to learn when it leaves the queue. */
  #writeCounted(text: string, account: AgentAccount): void {
    this.#flush();
    this.#child.stdin.write(`${oneLine(text)}\n`, () => this.#queue.remove(text.length, account));
  }

  readonly #flush = (): void => {
    const text = this.#outgoing;
    this.#outgoing = '';
    if (text !== '' && this.#gone === undefined) this.#child.stdin.write(text);
  };

  readonly #giveUp: GiveUp = (pending, why) => {
    const { id, request } = pending;
    if (!this.#pending.delete(pending)) return;
    pending.deadline.end();
    const timeout = typeof why === 'number';
    // The protocol forbids cancelling `initialize`. Late answers are dropped by their id.
    if (request.method !== 'initialize') {
      this.notify('notifications/cancelled', { requestId: id, reason: timeout ? 'timeout' : why.message });
    }
    pending.settle(timeout ? timedOut(this.#server, request.method, why) : cancelled(why, true));
  };

  #orFail(logger: Logger, work: () => void): void {
    try {
      work();
    } catch (error) {
      logger.error('upstream.defect-contained', { server: this.#server, ...defectFields(error) });
      this.#fail(defectReason);
    }
  }

  #fail(what: string): void {
    if (this.#gone !== undefined) return;
    const failure = lostConnection(this.#server, what, true);
    this.#gone = lostConnection(this.#server, what, false);
    this.#deadlines.close();
    this.#reader.close();
    this.#paced.close();
    for (const pending of this.#pending.all()) {
      this.#pending.delete(pending);
      pending.settle(failure);
    }
    this.#child.kill();
    if (!this.#closing) this.#events.onLost(this.#gone.error);
  }
}
