import { isAscii } from 'node:buffer';
import { type Clock, defectFields, type Logger, sleep } from '../../base/index.ts';
import { createLineReader, notification } from '../../mcp/index.ts';
import { lastWords, type Peer, type PeerExit } from '../children/index.ts';
import { Deadlines } from '../deadlines.ts';
import { cancelled, defectReason, lostConnection, maxQuoted, queueFull, timedOut } from '../failures.ts';
import {
  type Envelope,
  legacyEnvelope,
  requestText,
  type Wire,
  type WireCall,
  type WireEvents,
  type WireFailure,
  type WireRequest,
} from '../wire.ts';
import { Inbox, type SharedStreamOptions } from './inbox.ts';
import { type GiveUp, Pending, PendingRequests } from './pending.ts';

/** JSON-RPC over a pair of pipes: one write per turn of the loop, whatever number of calls it carries. */
export function createStdioWire(deps: StdioWireDeps, options: StdioWireOptions): Wire {
  return new StdioWire(deps, options);
}

export interface StdioWireDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly child: Peer;
  readonly events: WireEvents;
  /** Takes secrets out of what the child said about its end. */
  readonly redact: (text: string) => string;
}

export interface StdioWireOptions extends SharedStreamOptions {
  /** What runs at the other end. */
  readonly transport?: 'stdio' | 'builtin';
}

/** A child that reads nothing may not make the hub hold more than this for it. */
const maxQueuedBytes = 16 * 1024 * 1024;
const maxMessageBytes = 64 * 1024 * 1024;
/** What is as long as this does not wait for company: Node encodes shorter texts without asking for memory. */
const largeWrite = 8 * 1024;
/** How long the rest of a dying child's output, or the exit after its output closed, may take to arrive. */
const lastWordsMs = 500;

class StdioWire implements Wire {
  readonly transport: 'stdio' | 'builtin';
  readonly sessionId = null;
  proven = false;
  readonly #clock: Clock;
  readonly #child: Peer;
  readonly #events: WireEvents;
  readonly #redact: StdioWireDeps['redact'];
  readonly #server: string;
  readonly #pending = new PendingRequests();
  readonly #deadlines: Deadlines;
  #envelope: Envelope = legacyEnvelope('');
  #outgoing = '';
  #gone: WireFailure | undefined;
  #closing = false;

  constructor(deps: StdioWireDeps, options: StdioWireOptions) {
    const { server, transport = 'stdio' } = options;
    this.transport = transport;
    this.#clock = deps.clock;
    this.#child = deps.child;
    this.#events = deps.events;
    this.#redact = deps.redact;
    this.#server = server;
    this.#deadlines = new Deadlines(deps.clock);
    const inbox = new Inbox(server, {
      ...deps,
      pending: this.#pending,
      onAnswer: (pending, answer) => {
        this.#pending.delete(pending);
        pending.patience.end();
        if (pending.request.name !== undefined && answer.kind !== 'failed') this.proven = true;
        pending.settle(answer);
      },
      send: (message) => {
        // A child that asks without end and never reads is not owed an answer.
        if (this.#gone === undefined && this.queuedBytes <= maxQueuedBytes) this.#write(message);
      },
      exclusive: options.exclusive,
    });
    /** The chunk that the reader is at, when it is plain ASCII; most are, and need no decoding. */
    let plain: Buffer | undefined;
    const reader = createLineReader((bytes, start, end) => {
      inbox.receive(bytes.toString(bytes === plain ? 'latin1' : 'utf8', start, end));
    }, maxMessageBytes);
    deps.child.stdout.on('data', (chunk: Buffer) => {
      plain = isAscii(chunk) ? chunk : undefined;
      try {
        if (!reader.push(chunk)) this.#fail(`a message over ${maxMessageBytes} bytes`);
      } catch (error) {
        deps.logger.error('upstream_defect', { server, ...defectFields(error) });
        this.#fail(defectReason);
      }
      plain = undefined;
    });
    // A broken pipe is the child's exit seen from the other side; `exited` tells the story.
    deps.child.stdin.on('error', () => {});
    deps.child.stdout.on('error', () => {});
    void this.#watch();
  }

  request(request: WireRequest): WireCall {
    if (this.#gone !== undefined) return { reply: Promise.resolve({ ...this.#gone, sent: false }), cancel() {} };
    const queued = this.queuedBytes;
    if (queued > maxQueuedBytes) return { reply: Promise.resolve(queueFull(this.#server, queued)), cancel() {} };
    const id = this.#pending.nextId();
    const pending = new Pending(id, request, this.#deadlines, this.#giveUp);
    this.#pending.add(pending);
    this.#write(requestText(id, request, this.#envelope));
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

  /** Its last words may still be in the pipe when it exits, and an exit tells more than a closed output. */
  async #watch(): Promise<void> {
    const { stdout, exited } = this.#child;
    let exit: PeerExit | undefined;
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

  #describe(exit: PeerExit): string {
    if (exit.code === null && exit.signal === null) return 'it was closed';
    const how = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
    const said = lastWords(this.#redact(exit.stderrTail)).slice(0, maxQuoted);
    return `its process ${how}${said === '' ? '' : ` (${said})`}`;
  }

  get queuedBytes(): number {
    return this.#child.stdin.writableLength + this.#outgoing.length;
  }

  #write(text: string): void {
    if (this.#outgoing === '') process.nextTick(this.#flush);
    this.#outgoing += `${text}\n`;
    if (this.#outgoing.length >= largeWrite) this.#flush();
  }

  readonly #flush = (): void => {
    const text = this.#outgoing;
    this.#outgoing = '';
    if (text !== '' && this.#gone === undefined) this.#child.stdin.write(text);
  };

  readonly #giveUp: GiveUp = (pending, why) => {
    const { id, request } = pending;
    if (!this.#pending.delete(pending)) return;
    pending.patience.end();
    const timeout = typeof why === 'number';
    // Nobody may cancel initialize; a late answer to anything else is dropped by its id.
    if (request.method !== 'initialize') {
      this.notify('notifications/cancelled', { requestId: id, reason: timeout ? 'timeout' : why.message });
    }
    pending.settle(timeout ? timedOut(this.#server, request.method, why) : cancelled(why, true));
  };

  #fail(what: string): void {
    if (this.#gone !== undefined) return;
    const failure = lostConnection(this.#server, what, true);
    this.#gone = lostConnection(this.#server, what, false);
    this.#deadlines.close();
    for (const pending of this.#pending.all()) {
      this.#pending.delete(pending);
      pending.settle(failure);
    }
    this.#child.kill();
    if (!this.#closing) this.#events.onLost(this.#gone.error);
  }
}
