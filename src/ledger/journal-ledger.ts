import { HubError, type Timer } from '../base/index.ts';
import { runIdPattern } from '../domain/index.ts';
import type { Journal, JournalFile } from './journal/journal.ts';
import { gapRecord, type PendingRecord, recordText } from './journal/pending-record.ts';
import { createWriteTurn, type WriteTurn } from './journal/write-turn.ts';
import type { Ledger, LedgerHealth, OpenCall } from './ledger.ts';
import type { LedgerDeps } from './ledger-deps.ts';
import { lastRetryMs, ledgerClosed, reasonOf, recordNotWritten } from './ledger-errors.ts';
import { type AdminEvent, adminRecord } from './records/admin-text.ts';
import {
  type ConnectionRecord,
  cachedAnswer,
  type LedgerConnection,
  type LedgerSubject,
  noConnection,
  runLine,
} from './records/call-text.ts';
import { longestArguments, longestRefusedArguments } from './records/cut-text.ts';
import type { CallEnd } from './records/end-text.ts';
import { recordArguments } from './records/record-arguments.ts';
import { redactedConnection, redactedSubject } from './records/redacted-facts.ts';
import { TimeStamps } from './records/time-stamps.ts';
import type { RunFollower } from './runs/run-follower.ts';

export class JournalLedger implements Ledger {
  readonly #deps: LedgerDeps;
  readonly #boot: string;
  readonly #journal: Journal;
  readonly #follower: RunFollower;
  readonly #stamps = new TimeStamps();
  #sequence = 0;
  #inFlight = 0;
  #pending: PendingRecord[] = [];
  /** Records that are not about a call. */
  #notes: string[] = [];
  /** The size of the records waiting for the disk to recover. */
  #keptCharacters = 0;
  #turn: WriteTurn | undefined;
  #timer: Timer | undefined;
  #failure: { readonly since: number; readonly reason: string; readonly error: HubError } | undefined;
  #retryTimer: Timer | undefined;
  #retryDelay = firstRetryMs;
  #lookTimer: Timer | undefined;
  #mending: Promise<void> | undefined;
  #dropped = 0;
  #closing: Promise<void> | undefined;
  #closed = false;
  /** The last valid run id, because most calls repeat it. */
  #goodRun: string | undefined;

  constructor(deps: LedgerDeps, boot: string, journal: Journal, follower: RunFollower) {
    this.#deps = deps;
    this.#boot = boot;
    this.#journal = journal;
    this.#follower = follower;
    this.#lookLater();
  }

  get health(): LedgerHealth {
    return this.#failure === undefined ? 'good' : { since: this.#failure.since, reason: this.#failure.reason };
  }

  get runFilesBehind(): string | undefined {
    return this.#follower.behind;
  }

  open(subject: LedgerSubject, run: string, argumentsText: string): OpenCall {
    if (run !== this.#goodRun) this.#goodRun = expectRunId(run);
    this.#sequence++;
    return {
      id: `${this.#boot}-${this.#sequence}`,
      ts: this.#stamps.text(this.#deps.clock.now()),
      run,
      subject: redactedSubject(subject, this.#deps.redact),
      args: '',
      raw: argumentsText,
      stage: 'open',
      connection: noConnection,
      file: undefined,
    };
  }

  amend(call: OpenCall, argumentsText: string): void {
    if (call.stage === 'open') call.raw = argumentsText;
  }

  connection(facts: ConnectionRecord): LedgerConnection {
    return redactedConnection(facts, this.#deps.redact);
  }

  held(call: OpenCall): Promise<void> {
    if (this.#closed) return Promise.reject(ledgerClosed());
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    call.stage = 'held';
    this.#pending.push({ kind: 'held', call, end: undefined, endedAt: undefined, parts: undefined });
    return this.#written();
  }

  sent(call: OpenCall, connection: LedgerConnection): Promise<void> {
    if (this.#closed) return Promise.reject(ledgerClosed());
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (call.stage === 'sent') {
      this.#pending.push({
        kind: 'sent-again',
        call,
        connection,
        end: undefined,
        endedAt: undefined,
        parts: undefined,
      });
      return this.#written();
    }
    call.stage = 'sent';
    call.connection = connection;
    recordArguments(this.#deps, call, longestArguments);
    this.#pending.push({ kind: 'sent', call, end: undefined, endedAt: undefined, parts: undefined });
    // A lone call has no other call to share a write with, so it does not wait for the turn to end.
    return this.#inFlight++ === 0 && this.#turn === undefined ? this.#writtenNow() : this.#written();
  }

  cached(call: OpenCall, end: CallEnd): Promise<void> {
    if (this.#closed) return Promise.reject(ledgerClosed());
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    call.stage = 'ended';
    call.connection = cachedAnswer;
    recordArguments(this.#deps, call, longestArguments);
    this.#pending.push({ kind: 'end', call, end, endedAt: undefined, parts: undefined });
    return this.#written();
  }

  #writtenNow(): Promise<void> {
    this.#write();
    return this.#failure === undefined ? written : Promise.reject(this.#failure.error);
  }

  /** Resolves when the operating system has the last pushed record. */
  #written(): Promise<void> {
    if (this.#turn === undefined) {
      this.#turn = createWriteTurn();
      setImmediate(() => this.#write());
    }
    return this.#turn.promise;
  }

  admin(event: AdminEvent): Promise<void> {
    return this.note(adminRecord(event, this.#stamps.text(this.#deps.clock.now()), this.#deps.redact));
  }

  /** Resolves when the operating system has the record. */
  note(record: string): Promise<void> {
    if (this.#closed) return Promise.reject(ledgerClosed());
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    this.#notes.push(record);
    return this.#written();
  }

  done(call: OpenCall, end: CallEnd): void {
    if (call.stage !== 'sent') {
      this.refused(call, end);
      return;
    }
    call.stage = 'ended';
    call.raw = undefined;
    this.#inFlight--;
    this.#pushEnd({ kind: 'end', call, end, endedAt: this.#deps.clock.now(), parts: undefined });
  }

  refused(call: OpenCall, end: CallEnd): void {
    if (call.stage === 'ended') return;
    call.stage = 'ended';
    recordArguments(this.#deps, call, longestRefusedArguments);
    call.raw = undefined;
    this.#pushEnd({ kind: 'end', call, end, endedAt: undefined, parts: undefined });
  }

  drop(call: OpenCall): void {
    if (call.stage === 'open') call.stage = 'ended';
  }

  async flush(): Promise<void> {
    this.#write();
    await this.#mend();
    if (this.#failure !== undefined) throw this.#failure.error;
    await this.#follower.drain();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#deps.closing.abort();
    this.#write();
    await this.#mend();
    this.#closed = true;
    this.#timer?.cancel();
    this.#lookTimer?.cancel();
    this.#retryTimer?.cancel();
    const lost = this.#pending.length + this.#dropped;
    if (lost > 0) this.#deps.logger.error('ledger.records-lost', { count: lost, file: this.#journal.path });
    await this.#follower.close();
    this.#journal.close();
  }

  #pushEnd(entry: PendingRecord): void {
    if (this.#closed) {
      this.#deps.logger.error('ledger.end-ignored', { call: entry.call.id });
      return;
    }
    if (this.#failure !== undefined) {
      this.#keep(entry);
      return;
    }
    this.#pending.push(entry);
    // Not cancelled when a flush comes first: setting and clearing a timer every turn costs more.
    if (this.#turn === undefined) this.#timer ??= this.#deps.clock.setTimer(endDelayMs, () => this.#endTimer());
  }

  #endTimer(): void {
    this.#timer = undefined;
    this.#write();
  }

  /** Writes all pending records at once, then lets the waiting calls go out. */
  #write(): void {
    const batch = this.#pending;
    const notes = this.#notes;
    if (batch.length + notes.length === 0 || this.#failure !== undefined) return;
    const turn = this.#turn;
    for (const note of notes) this.#journal.add(note);
    for (const entry of batch) this.#journal.add(this.#record(entry));
    let file: JournalFile;
    try {
      file = this.#journal.write();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#turn = undefined;
    this.#pending = [];
    if (notes.length > 0) this.#notes = [];
    turn?.resolve();
    this.#follow(batch, file);
  }

  /** Restores a journal that disappeared while idle, before the next call needs it. */
  #look(): void {
    if (this.#failure === undefined) {
      try {
        this.#journal.expectInPlace();
      } catch (error) {
        this.#fail(error);
      }
    }
    this.#lookLater();
  }

  #lookLater(): void {
    if (this.#closing !== undefined) return;
    this.#lookTimer = this.#deps.clock.setTimer(lookMs, () => this.#look());
    this.#lookTimer.unref?.();
  }

  /** The records are safe, so the ended calls can go to the run files. */
  #follow(batch: readonly PendingRecord[], file: JournalFile): void {
    for (const { call, parts, connection } of batch) {
      if (call.stage !== 'held') call.raw = undefined;
      if (parts === undefined) {
        if (connection !== undefined) call.connection = connection;
        this.#keepFile(call, file);
        continue;
      }
      if (call.file !== file) file.references++;
      this.#follower.feed(call.run, runLine(call, call.connection, parts), call.file ?? file, file);
    }
  }

  /** A later record of the call says all that an earlier one did. */
  #keepFile(call: OpenCall, file: JournalFile): void {
    const earlier = call.file;
    if (earlier === file) return;
    call.file = file;
    file.references++;
    if (earlier !== undefined) this.#journal.release(earlier, 1);
  }

  /** Rejects the calls of this batch, which were not sent. Ends stay in memory until the disk recovers. */
  #fail(error: unknown): void {
    const [batch, turn] = [this.#pending, this.#turn];
    [this.#pending, this.#notes, this.#turn] = [[], [], undefined];
    const { clock, logger } = this.#deps;
    const { isGone, path } = this.#journal;
    logger.error(isGone ? 'ledger.journal-gone' : 'ledger.write-failed', { file: path, error });
    this.#failFor(error, clock.now());
    const unsent = new Set<OpenCall>();
    for (const entry of batch) {
      const { call, kind } = entry;
      if (kind === 'sent') unsent.add(call);
      if (kind !== 'end' || call.connection === cachedAnswer) {
        this.#takeBack(entry);
        continue;
      }
      // The call ended in the turn that should have sent it, so its `sent` record is not on disk.
      if (unsent.has(call)) entry.endedAt = undefined;
      this.#keep(entry);
    }
    this.#retryDelay = firstRetryMs;
    this.#retryTimer = clock.setTimer(this.#retryDelay, () => void this.#mend());
    if (this.#failure !== undefined) turn?.reject(this.#failure.error);
  }

  /** The record was not written, so the call is where it was before. */
  #takeBack({ kind, call }: PendingRecord): void {
    if (kind === 'sent-again') return;
    if (kind === 'sent' && call.stage === 'sent') this.#inFlight--;
    // If the call ended in the same turn, its end comes later in the batch.
    const hasEnd = kind !== 'end' && call.stage === 'ended';
    if (!hasEnd) call.stage = call.file === undefined ? 'open' : 'held';
    call.connection = noConnection;
  }

  #failFor(error: unknown, since: number): void {
    this.#failure = { since, reason: reasonOf(error), error: recordNotWritten(error) };
  }

  /** Tries to recover, one attempt at a time. Never rejects. */
  #mend(): Promise<void> {
    this.#mending ??= this.#mendOnce().finally(() => {
      this.#mending = undefined;
    });
    return this.#mending;
  }

  async #mendOnce(): Promise<void> {
    if (this.#journal.isGone) {
      await this.#deps.restoreFolder?.().catch((error: unknown) => {
        this.#deps.logger.error('ledger.folder-not-restored', { error });
      });
    }
    if (!this.#closed) this.#retry();
  }

  #retry(): void {
    const failure = this.#failure;
    if (failure === undefined) return;
    this.#retryTimer?.cancel();
    const batch = this.#pending;
    const since = new Date(failure.since).toISOString();
    let file: JournalFile;
    this.#journal.add(gapRecord(this.#stamps.text(this.#deps.clock.now()), since, this.#dropped));
    for (const entry of batch) this.#journal.add(this.#record(entry));
    try {
      file = this.#journal.write();
    } catch (error) {
      // The reason may differ by now, and the hint with it.
      this.#failFor(error, failure.since);
      this.#retryDelay = Math.min(this.#retryDelay * 2, lastRetryMs);
      this.#retryTimer = this.#deps.clock.setTimer(this.#retryDelay, () => void this.#mend());
      return;
    }
    this.#deps.logger.info('ledger.write-recovered', { since, kept: batch.length, dropped: this.#dropped });
    this.#pending = [];
    this.#keptCharacters = 0;
    this.#dropped = 0;
    this.#failure = undefined;
    this.#follow(batch, file);
  }

  /** Keeps the record until the disk recovers, as long as there is room. */
  #keep(entry: PendingRecord): void {
    const characters = this.#record(entry).length;
    if (this.#keptCharacters + characters > mostKeptCharacters) {
      if (this.#dropped === 0) this.#deps.logger.error('ledger.records-dropped', { kept: this.#pending.length });
      this.#dropped++;
      return;
    }
    this.#pending.push(entry);
    this.#keptCharacters += characters;
  }

  #record(entry: PendingRecord): string {
    return recordText(entry, this.#deps.redact, this.#stamps);
  }
}

function expectRunId(run: string): string {
  if (runIdPattern.test(run)) return run;
  throw new HubError('INTERNAL', 'A call came to the ledger without a valid run id.');
}

const written = Promise.resolve();
const endDelayMs = 10;
const firstRetryMs = 250;
/** How often to check that the journal is in place. Writes check it too, see `trustedMs` of the journal. */
const lookMs = 1000;
const mostKeptCharacters = 16 * 1024 * 1024;
