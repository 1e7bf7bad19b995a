import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/index.ts';
import { sseEvent, ssePriming } from '../../mcp/index.ts';
import type { KeptBytes } from './client-sessions.ts';
import { type EventStream, openEventStream } from './response.ts';

/** How long a stream waits for a reader to come back, and an answer for one that missed it. */
const absenceMs = 60_000;
const maxEvents = 64;
const maxBytes = 1024 * 1024;
/** How long a client whose connection broke is asked to wait. */
const retryMs = 1000;

export interface EventLogDeps {
  readonly clock: Clock;
  /** The client knows events without data; older ones take them for broken messages. */
  readonly primed: boolean;
  /** Of all streams of the same owner. */
  readonly kept: KeptBytes;
  /** Nobody can come back to it any more. */
  onOver(log: EventLog): void;
}

/** One event stream, whatever connections it goes over. Its last events are kept for a reader that comes back. */
export class EventLog implements EventStream {
  readonly name: string;
  readonly #deps: EventLogDeps;
  /** The events up to the last one. */
  readonly #kept: string[] = [];
  #keptBytes = 0;
  #last = 0;
  #reader: EventStream | undefined;
  #absentSince: number;
  #state: 'open' | 'ended' | 'over' = 'open';
  #lasting: boolean;
  #goneListeners: (() => void)[] | undefined;

  /** One that does not last is over as soon as its reader leaves. */
  constructor(deps: EventLogDeps, name: string, lasting: boolean) {
    this.#deps = deps;
    this.name = name;
    this.#lasting = lasting;
    this.#absentSince = deps.clock.monotonic();
  }

  /** There is one reader; this one gets what comes, and what came after that event as far as it was kept. */
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
    // Also for who comes back: a connection that breaks again before the next event must not lose its place.
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

  /** Tells when nobody reads any more nor can come back, and the stream has not ended. */
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

  /** What it keeps. */
  get bytes(): number {
    return this.#keptBytes;
  }

  /** Is over if nobody came back in time. */
  sweep(now: number): void {
    const absent = this.#reader === undefined || this.#state === 'ended';
    if (absent && now - this.#absentSince >= absenceMs) this.#over();
  }

  /** Whoever reads it may do so to its end, but not come back. */
  release(): void {
    this.#lasting = false;
    if (this.#reader === undefined || this.#state === 'ended') this.#over();
  }

  #idOf(event: number): string {
    return `${this.name}-${event}`;
  }

  #keep(event: string): void {
    this.#kept.push(event);
    this.#count(event.length);
    while (this.#kept.length > 1 && (this.#kept.length > maxEvents || this.#keptBytes > maxBytes)) {
      this.#count(-(this.#kept.shift()?.length ?? 0));
    }
  }

  #count(bytes: number): void {
    this.#keptBytes += bytes;
    this.#deps.kept.total += bytes;
  }

  /** An answer too large to be kept for long is kept until it has left. */
  #taken(): void {
    if (this.#state === 'ended' && this.#keptBytes > maxBytes) this.#over();
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
    this.#kept.length = 0;
    this.#count(-this.#keptBytes);
    this.#deps.onOver(this);
    if (unfinished) for (const listener of this.#goneListeners ?? []) listener();
  }
}
