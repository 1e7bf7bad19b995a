import type { ServerResponse } from 'node:http';
import { type Clock, LinkedList } from '../../../base/index.ts';
import type { Exchange } from '../exchange.ts';
import type { BufferedBytes } from './client-sessions.ts';
import { EventLog, type EventLogDeps, maxKeptPerOwner } from './event-log.ts';
import { resumableAnswer } from './resumable-answer.ts';

/** Limits for answers that are kept after their end: their number and total size. */
const maxEnded = 64;
const maxEndedBytes = 4 * 1024 * 1024;
/** A slower answer becomes a stream, which can be kept alive and resumed. */
const silentMs = 5000;
/** The first protocol version with events without data. */
const primedSince = '2025-11-25';

/** The event streams of one client session that can be resumed. Sessions without any pay for nothing. */
export class SessionStreams implements EventLogDeps {
  readonly clock: Clock;
  readonly primed: boolean;
  readonly kept: BufferedBytes;
  #logs: Map<string, EventLog> | undefined;
  #opened = 0;
  #announcements: EventLog | undefined;
  #waiting: LinkedList<Exchange> | undefined;
  #closed = false;

  constructor(clock: Clock, protocolVersion: string, kept: BufferedBytes = { total: 0 }) {
    this.clock = clock;
    this.kept = kept;
    this.primed = protocolVersion >= primedSince;
  }

  open(): EventLog {
    const lasting = !this.#closed && this.kept.total < maxKeptPerOwner;
    const log = new EventLog(this, String(++this.#opened), lasting);
    this.#logs ??= new Map();
    if (this.#logs.size >= maxEnded) this.#prune(this.#logs);
    this.#logs.set(log.name, log);
    return log;
  }

  /** The stream of an event and the event's place in it. */
  find(eventId: string | undefined): FoundStream | undefined {
    const [, name, place] = eventIdPattern.exec(eventId ?? '') ?? [];
    const log = name === undefined ? undefined : this.#logs?.get(name);
    return log && { log, after: Number(place), isAnswer: log !== this.#announcements };
  }

  /** Announcements go to this response from now on. */
  listen(response: ServerResponse, after: number | undefined): EventLog {
    this.#announcements ??= this.open();
    this.#announcements.attach(response, after);
    return this.#announcements;
  }

  /** Buffered if the client has just disconnected. */
  announce(message: string): void {
    this.#announcements?.send(message);
  }

  /** The request is not answered yet. */
  await(exchange: Exchange, now: number): void {
    exchange.since = now;
    this.#waiting ??= new LinkedList();
    this.#waiting.add(exchange);
  }

  answered(exchange: Exchange): void {
    this.#waiting?.delete(exchange);
  }

  /** Turns slow answers into streams, and drops streams whose client did not reconnect. */
  sweep(now: number): void {
    this.#growOld(now);
    if (this.#logs === undefined || this.#logs.size === 0) return;
    for (const log of this.#logs.values()) log.sweep(now);
    this.#prune(this.#logs);
  }

  /** Writes to all open streams. */
  write(text: string): void {
    for (const log of this.#logs?.values() ?? []) if (!log.ended) log.write(text);
  }

  onOver(log: EventLog): void {
    this.#logs?.delete(log.name);
    if (this.#announcements === log) this.#announcements = undefined;
  }

  close(): void {
    this.#closed = true;
    this.#announcements?.end();
    for (const log of this.#logs?.values() ?? []) log.release();
  }

  #growOld(now: number): void {
    for (const exchange of this.#waiting ?? []) {
      const { response } = exchange;
      if (response.destroyed || response.writableEnded) this.#waiting?.delete(exchange);
      else if (now - exchange.since >= silentMs) {
        exchange.growing ??= resumableAnswer(response, this);
        exchange.growing.grow();
      }
    }
  }

  /** Keeps the newest ended answers, at least one. */
  #prune(logs: ReadonlyMap<string, EventLog>): void {
    let [count, bytes] = [0, 0];
    for (const log of [...logs.values()].toReversed()) {
      if (!log.ended) continue;
      count++;
      bytes += log.bytes;
      if (count > maxEnded || (count > 1 && bytes > maxEndedBytes)) log.release();
    }
  }
}

export interface FoundStream {
  readonly log: EventLog;
  readonly after: number;
  readonly isAnswer: boolean;
}

const eventIdPattern = /^(\d{1,9})-(\d{1,9})$/;
