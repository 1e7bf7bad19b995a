import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../base/index.ts';
import { sseEvent, ssePriming } from '../../../mcp/index.ts';
import { type EventStream, openEventStream } from '../response.ts';
import type { BufferedBytes } from './client-sessions.ts';

/** How long a stream or an answer waits for its client to reconnect. */
const absenceMs = 60_000;
const maxEvents = 64;
const maxBytes = 1024 * 1024;
/** For all sessions of one token; a stream that is opened beyond this limit cannot be resumed. */
export const maxKeptPerOwner = 32 * 1024 * 1024;
/** The last part of it is for short messages, such as the error that stands for an answer without room. */
const keptForShort = 4 * 1024 * 1024;
const shortBytes = 4 * 1024;
/** How long a client should wait before it reconnects. */
const retryMs = 1000;

export interface EventLogDeps {
  readonly clock: Clock;
  /** The client understands events without data; older clients take them for broken messages. */
  readonly primed: boolean;
  /** The bytes buffered for all streams of the same owner. */
  readonly kept: BufferedBytes;
  /** The stream can no longer be resumed. */
  onOver(log: EventLog): void;
}

/** One event stream over any number of connections. Its last events are buffered for a client that reconnects. */
export class EventLog implements EventStream {
  readonly name: string;
  readonly #deps: EventLogDeps;
  /** The events up to the last one. */
  readonly #kept: string[] = [];
  #bufferedBytes = 0;
  #last = 0;
  #reader: EventStream | undefined;
  #absentSince: number;
  #state: 'open' | 'ended' | 'over' = 'open';
  #lasting: boolean;
  #goneListeners: (() => void)[] | undefined;

  /** A stream that is not lasting is over as soon as its client disconnects. */
  constructor(deps: EventLogDeps, name: string, lasting: boolean) {
    this.#deps = deps;
    this.name = name;
    this.#lasting = lasting;
    this.#absentSince = deps.clock.monotonic();
  }

  /** The response becomes the only reader. It gets buffered events after `after`, then new ones. */
  attach(response: ServerResponse, after = this.#last): void {
    if (response.destroyed) return;
    const before = this.#reader;
    const reader = openEventStream(response);
    this.#reader = reader;
    before?.end();
    response.once('finish', () => {
      if (this.#reader === reader) this.#taken();
    });
    response.once('close', () => {
      if (this.#reader === reader) this.#left();
    });
    // Also after a reconnect: a connection that breaks again before the next event must not lose its place.
    if (this.#deps.primed) reader.write(ssePriming(this.#idOf(after), retryMs));
    const missed = Math.min(Math.max(this.#last - after, 0), this.#kept.length);
    for (const event of this.#kept.slice(this.#kept.length - missed)) reader.write(event);
    if (this.#state !== 'open') reader.end();
  }

  send(message: string): void {
    if (this.#state !== 'open') return;
    const event = sseEvent(message, this.#idOf(++this.#last));
    this.#keep(event);
    this.#reader?.write(event);
  }

  write(text: string): void {
    this.#reader?.write(text);
  }

  end(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ended';
    this.#absentSince = this.#deps.clock.monotonic();
    this.#reader?.end();
    if (!this.#lasting) this.#over();
  }

  /** Calls back when the client is gone for good before the stream has ended. */
  onGone(listener: () => void): void {
    if (this.#state === 'over') listener();
    else if (this.#state === 'open') {
      this.#goneListeners ??= [];
      this.#goneListeners.push(listener);
    }
  }

  get ended(): boolean {
    return this.#state !== 'open';
  }

  /** Whether a message of that size can be sent to a reader, or buffered for one that reconnects. */
  keeps(bytes: number): boolean {
    return this.#reader !== undefined || this.#hasRoom(bytes);
  }

  /** The bytes it buffers. */
  get bytes(): number {
    return this.#bufferedBytes;
  }

  /** Ends the stream if its client did not reconnect in time. */
  sweep(now: number): void {
    const absent = this.#reader === undefined || this.#state === 'ended';
    if (absent && now - this.#absentSince >= absenceMs) this.#over();
  }

  /** Its reader may read to the end, but not reconnect. */
  release(): void {
    this.#lasting = false;
    if (this.#reader === undefined || this.#state === 'ended') this.#over();
  }

  #idOf(event: number): string {
    return `${this.name}-${event}`;
  }

  /** Its own earlier events make room. */
  #hasRoom(bytes: number): boolean {
    const others = this.#deps.kept.total - this.#bufferedBytes;
    const limit = bytes <= shortBytes ? maxKeptPerOwner : maxKeptPerOwner - keptForShort;
    return others === 0 || others + bytes <= limit;
  }

  #keep(event: string): void {
    // Its reader may still get it, but cannot resume.
    if (!this.#hasRoom(event.length)) {
      this.#lasting = false;
      this.#forget();
      return;
    }
    this.#kept.push(event);
    this.#count(event.length);
    while (this.#kept.length > 1 && this.#isOverLimit()) {
      this.#count(-(this.#kept.shift()?.length ?? 0));
    }
  }

  #isOverLimit(): boolean {
    const isFull = this.#kept.length > maxEvents || this.#bufferedBytes > maxBytes;
    return isFull || this.#deps.kept.total > maxKeptPerOwner;
  }

  #forget(): void {
    this.#kept.length = 0;
    this.#count(-this.#bufferedBytes);
  }

  #count(bytes: number): void {
    this.#bufferedBytes += bytes;
    this.#deps.kept.total += bytes;
  }

  /** An answer over the buffer limit is kept only until it has been sent. */
  #taken(): void {
    if (this.#state === 'ended' && this.#bufferedBytes > maxBytes) this.#over();
  }

  #left(): void {
    this.#reader = undefined;
    if (this.#state === 'open') this.#absentSince = this.#deps.clock.monotonic();
    if (!this.#lasting) this.#over();
  }

  #over(): void {
    if (this.#state === 'over') return;
    const unfinished = this.#state === 'open';
    this.#state = 'over';
    this.#forget();
    this.#deps.onOver(this);
    if (unfinished) for (const listener of this.#goneListeners ?? []) listener();
  }
}
