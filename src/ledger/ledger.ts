import { type Clock, HubError, type Logger, type Timer } from '../base/index.ts';
import { runIdPattern } from '../domain/index.ts';
import {
  type CallParts,
  cachedRecord,
  doneRecord,
  type EndParts,
  keptAnswer,
  type LedgerConnection,
  type LedgerSubject,
  noConnection,
  refusedRecord,
  runLine,
  sentRecord,
} from './call-text.ts';
import { compactJson } from './compact-json.ts';
import { cutArguments, longestArguments, longestRefusedArguments, shortName } from './cut-text.ts';
import { type CallEnd, endParts } from './end-text.ts';
import type { Journal, JournalFile } from './journal.ts';
import { lastRetryMs, ledgerClosed, reasonOf, recordNotWritten } from './ledger-errors.ts';
import type { Redact } from './redact.ts';
import type { RunFollower } from './run-follower.ts';
import { TimeStamps } from './time-stamps.ts';
import { createWriteTurn, type WriteTurn } from './write-turn.ts';

/** One call on its way through the ledger. Only the ledger changes it. */
export interface OpenCall extends CallParts {
  stage: 'open' | 'sent' | 'ended';
  args: string;
  connection: LedgerConnection;
  isCut: boolean;
  /** The journal file that has its `sent` record. */
  file: JournalFile | undefined;
}

export type LedgerHealth = 'good' | { readonly since: number; readonly reason: string };

export interface Ledger {
  /** Gives the call its id and start time; writes nothing. `argumentsText` is valid JSON. */
  open(subject: LedgerSubject, run: string, argumentsText: string): OpenCall;
  /** Resolves when the record is with the operating system; one write for all calls of this turn of the loop. */
  sent(call: OpenCall, connection: LedgerConnection): Promise<void>;
  done(call: OpenCall, end: CallEnd): void;
  /** For a call that was answered by what was kept; resolves as `sent` does. Until then it is open. */
  cached(call: OpenCall, end: CallEnd): Promise<void>;
  /** For a call that was never sent and gets no record: whoever drops it counts it. */
  drop(call: OpenCall): void;
  /** For a call that was never sent. */
  refused(call: OpenCall, end: CallEnd): void;
  readonly health: LedgerHealth;
  /** Why run files lack lines that the journal has; undefined while they lack none. */
  readonly runFilesBehind: string | undefined;
  /** Journal and run files are up to date; rejects when they cannot be. */
  flush(): Promise<void>;
  /** Flushes, then takes nothing more. */
  close(): Promise<void>;
}

export interface LedgerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  /** Makes the folder above the journal anew when it was deleted. */
  readonly restoreFolder?: (() => Promise<void>) | undefined;
}

/** A record that is not with the operating system yet. Its text is made when it is written, together with the others. */
interface Pending {
  readonly call: OpenCall;
  /** Absent for `sent`. */
  readonly end: CallEnd | undefined;
  /** When a call ended that was sent. */
  endedAt: number | undefined;
  parts: EndParts | undefined;
}

export class JournalLedger implements Ledger {
  readonly #deps: LedgerDeps;
  readonly #boot: string;
  readonly #journal: Journal;
  readonly #follower: RunFollower;
  readonly #stamps = new TimeStamps();
  #sequence = 0;
  /** Sent and not ended. */
  #underWay = 0;
  #pending: Pending[] = [];
  /** Of what waits for the disk to be well again. */
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
  /** The last run that was looked at: most calls come with the same one. */
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
    if (run !== this.#goodRun) this.#checkRun(run);
    this.#sequence++;
    return {
      id: `${this.#boot}-${this.#sequence}`,
      ts: this.#stamp(),
      run,
      subject: subject.known ? subject : this.#withoutSecrets(subject),
      args: compactJson(this.#deps.redact.json(argumentsText)),
      stage: 'open',
      connection: noConnection,
      isCut: false,
      file: undefined,
    };
  }

  sent(call: OpenCall, connection: LedgerConnection): Promise<void> {
    if (this.#closed) return Promise.reject(ledgerClosed());
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    call.stage = 'sent';
    call.connection = connection;
    if (call.args.length > longestArguments) cutArguments(call, longestArguments);
    this.#pending.push({ call, end: undefined, endedAt: undefined, parts: undefined });
    // A lone call has nobody to share a write with, so it does not wait for the turn to end.
    return this.#underWay++ === 0 && this.#turn === undefined ? this.#writtenNow() : this.#written();
  }

  cached(call: OpenCall, end: CallEnd): Promise<void> {
    if (this.#closed) return Promise.reject(ledgerClosed());
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    call.stage = 'ended';
    call.connection = keptAnswer;
    if (call.args.length > longestArguments) cutArguments(call, longestArguments);
    this.#pending.push({ call, end, endedAt: undefined, parts: undefined });
    return this.#written();
  }

  #writtenNow(): Promise<void> {
    this.#write();
    return this.#failure === undefined ? written : Promise.reject(this.#failure.error);
  }

  /** When what was pushed last is with the operating system. */
  #written(): Promise<void> {
    if (this.#turn === undefined) {
      this.#turn = createWriteTurn();
      setImmediate(() => this.#write());
    }
    return this.#turn.promise;
  }

  done(call: OpenCall, end: CallEnd): void {
    if (call.stage !== 'sent') {
      this.refused(call, end);
      return;
    }
    call.stage = 'ended';
    this.#underWay--;
    this.#pushEnd({ call, end, endedAt: this.#deps.clock.now(), parts: undefined });
  }

  refused(call: OpenCall, end: CallEnd): void {
    if (call.stage === 'ended') return;
    call.stage = 'ended';
    if (call.args.length > longestRefusedArguments) cutArguments(call, longestRefusedArguments);
    this.#pushEnd({ call, end, endedAt: undefined, parts: undefined });
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

  #pushEnd(entry: Pending): void {
    if (this.#closed) {
      this.#deps.logger.error('ledger.end-after-close', { call: entry.call.id });
      return;
    }
    if (this.#failure !== undefined) {
      this.#keep(entry);
      return;
    }
    this.#pending.push(entry);
    // Left to fire even when a flush comes before it: setting and clearing one per turn costs more.
    if (this.#turn === undefined) this.#timer ??= this.#deps.clock.setTimer(endDelayMs, () => this.#endTimer());
  }

  #endTimer(): void {
    this.#timer = undefined;
    this.#write();
  }

  /** One write for everything that waits, then the calls that were waiting for it go out. */
  #write(): void {
    const batch = this.#pending;
    if (batch.length === 0 || this.#failure !== undefined) return;
    const turn = this.#turn;
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
    turn?.resolve();
    this.#follow(batch, file);
  }

  /** A journal that went while nobody called is put back before somebody does. */
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

  /** The records are safe; now the run files may have the calls that ended. */
  #follow(batch: readonly Pending[], file: JournalFile): void {
    for (const { call, parts } of batch) {
      if (parts === undefined) {
        call.file = file;
        file.held++;
        continue;
      }
      if (call.file !== file) file.held++;
      this.#follower.feed(call.run, runLine(call, call.connection, parts), call.file ?? file, file);
    }
  }

  /** Calls of this batch were not sent and are told so; what ended stays in memory until the disk is well again. */
  #fail(error: unknown): void {
    const [batch, turn] = [this.#pending, this.#turn];
    [this.#pending, this.#turn] = [[], undefined];
    const { clock, logger } = this.#deps;
    const path = this.#journal.path;
    logger.error(this.#journal.isGone ? 'ledger.journal-gone' : 'ledger.write-failed', { file: path, error });
    this.#failFor(error, clock.now());
    for (const entry of batch) {
      const { call, end } = entry;
      if (end === undefined || call.connection === keptAnswer) {
        if (call.stage === 'sent') this.#underWay--;
        // One that ended in the same turn has its end further on in the batch.
        if (call.stage === 'sent' || end !== undefined) call.stage = 'open';
        call.connection = noConnection;
        continue;
      }
      // Ended in the same turn in which it should have been sent: its other half is not on disk.
      if (call.file === undefined) entry.endedAt = undefined;
      this.#keep(entry);
    }
    this.#retryDelay = firstRetryMs;
    this.#retryTimer = clock.setTimer(this.#retryDelay, () => void this.#mend());
    if (this.#failure !== undefined) turn?.reject(this.#failure.error);
  }

  #failFor(error: unknown, since: number): void {
    const reason = reasonOf(error);
    this.#failure = { since, reason, error: recordNotWritten(this.#journal.path, reason, error) };
  }

  /** One attempt at a time to be well again. Never rejects. */
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
    const gap = `{"k":"gap","ts":"${this.#stamp()}","since":"${since}","dropped":${this.#dropped}}\n`;
    let file: JournalFile;
    this.#journal.add(gap);
    for (const entry of batch) this.#journal.add(this.#record(entry));
    try {
      file = this.#journal.write();
    } catch (error) {
      // It may be another reason by now, with another way out.
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

  /** Until the disk is well again, as far as there is room. */
  #keep(entry: Pending): void {
    const characters = this.#record(entry).length;
    if (this.#keptCharacters + characters > mostKeptCharacters) {
      if (this.#dropped === 0) this.#deps.logger.error('ledger.records-dropped', { kept: this.#pending.length });
      this.#dropped++;
      return;
    }
    this.#pending.push(entry);
    this.#keptCharacters += characters;
  }

  #record(entry: Pending): string {
    const { call, end, endedAt } = entry;
    if (end === undefined) return sentRecord(call, call.connection);
    entry.parts ??= endParts(end, this.#deps.redact);
    if (endedAt !== undefined) return doneRecord(call, entry.parts, this.#stamps.text(endedAt));
    return call.connection === keptAnswer ? cachedRecord(call, entry.parts) : refusedRecord(call, entry.parts);
  }

  /** A name that no server has is the caller's own text. */
  #withoutSecrets(subject: LedgerSubject): LedgerSubject {
    const what = shortName(this.#deps.redact.json(`{${subject.what}}`)).slice(1, -1);
    return { ...subject, what, text: `${what},${subject.who},${subject.decision}`, frame: undefined };
  }

  #checkRun(run: string): void {
    if (!runIdPattern.test(run)) throw new HubError('INTERNAL', 'A call came to the ledger without a valid run id.');
    this.#goodRun = run;
  }

  #stamp(): string {
    return this.#stamps.text(this.#deps.clock.now());
  }
}

const written = Promise.resolve();
const endDelayMs = 10;
const firstRetryMs = 250;
/** How often somebody looks whether the journal is still in place, besides the look before each write. */
const lookMs = 1000;
const mostKeptCharacters = 16 * 1024 * 1024;
