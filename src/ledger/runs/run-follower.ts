import { type Clock, type GuardedFolder, HubError, type Logger, type Timer } from '../../base/index.ts';
import type { LedgerFiles } from '../journal/file-operations.ts';
import type { Journal, JournalFile } from '../journal/journal.ts';
import { pairCalls } from '../journal/journal-reader.ts';
import { createMissingLines } from '../journal/missing-lines.ts';
import { Utf8Buffer } from '../journal/utf8-buffer.ts';
import { reasonOf, wayOut } from '../ledger-errors.ts';
import { runFile } from '../places.ts';
import { runLine } from '../records/call-text.ts';
import { appendRunLines, openRunsFolder } from './run-file.ts';

export interface RunFollowerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: LedgerFiles;
}

/** The number of a run's lines that need each journal file. */
type References = Map<JournalFile, number>;

interface RunQueue {
  readonly run: string;
  /** Lines that are not in the run file yet. */
  readonly lines: Utf8Buffer;
  references: References;
  /** Lines that are only in the journal because a write failed. Until they are written, no lines are kept in memory. */
  owed: References | undefined;
}

/**
 * Writes `.runs/agents/<RUN_ID>/mcp_calls.jsonl` from memory, in batches. If a run file cannot be written, it drops the
 * lines and rebuilds them from the journal later. The journal's files stay until then.
 */
export class RunFollower {
  readonly #deps: RunFollowerDeps;
  readonly #workspace: string;
  readonly #journal: Journal;
  readonly #queues = new Map<string, RunQueue>();
  #timer: Timer | undefined;
  #catchUpTimer: Timer | undefined;
  #catchUpDelay = firstCatchUpMs;
  #catchingUp: Promise<void> | undefined;
  #lastError: unknown;
  #warned = false;
  #closed = false;

  constructor(deps: RunFollowerDeps, workspace: string, journal: Journal) {
    this.#deps = deps;
    this.#workspace = workspace;
    this.#journal = journal;
  }

  /** Adds a line. The journal files contain its records: the call's own, and the one with its end. */
  feed(run: string, line: string, callFile: JournalFile, endFile: JournalFile): void {
    const queue = this.#queue(run);
    const references = queue.owed ?? queue.references;
    refer(references, callFile, 1);
    if (endFile !== callFile) refer(references, endFile, 1);
    if (queue.owed !== undefined) return;
    queue.lines.add(line);
    if (queue.lines.size >= batchBytes) this.#write([queue]);
    else this.#timer ??= this.#deps.clock.setTimer(batchMs, () => this.#writeAll());
  }

  /** Resolves when everything fed so far is in its run file; rejects if that fails. */
  async drain(): Promise<void> {
    await this.#catchingUp;
    this.#writeAll();
    if (this.#behind().length > 0) await this.#catchUp();
    this.#writeAll();
    if (this.#behind().length === 0) return;
    throw new HubError(
      'LEDGER_UNAVAILABLE',
      `Run files under ${this.#workspace} cannot be written: ${reasonOf(this.#lastError)}.`,
      {
        hint: `${wayOut(this.#lastError)} The missing lines are in the journal and are added automatically.`,
        cause: this.#lastError,
      },
    );
  }

  /** Why some lines are only in the journal; undefined if none are. */
  get behind(): string | undefined {
    const [first] = this.#behind();
    if (first === undefined) return undefined;
    return `${runFile(this.#workspace, first.run)}: ${reasonOf(this.#lastError)}`;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#catchUpTimer?.cancel();
    await this.drain().catch((error: unknown) => this.#deps.logger.warn('ledger.run-files-delayed', { error }));
    this.#timer?.cancel();
  }

  #queue(run: string): RunQueue {
    let queue = this.#queues.get(run);
    if (queue === undefined) {
      queue = { run, lines: new Utf8Buffer(fewBytes), references: new Map(), owed: undefined };
      this.#queues.set(run, queue);
    }
    return queue;
  }

  #behind(): RunQueue[] {
    return [...this.#queues.values()].filter((queue) => queue.owed !== undefined);
  }

  #writeAll(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const full: RunQueue[] = [];
    for (const queue of this.#queues.values()) {
      if (queue.lines.size > 0) full.push(queue);
      else if (queue.owed === undefined) this.#queues.delete(queue.run);
    }
    if (full.length > 0) this.#write(full);
  }

  /** Checks the path to the runs once for all queues. */
  #write(queues: readonly RunQueue[]): void {
    let runs: GuardedFolder;
    try {
      runs = openRunsFolder(this.#workspace);
    } catch (error) {
      for (const queue of queues) this.#fallBehind(queue, error);
      return;
    }
    for (const queue of queues) this.#writeOne(runs, queue);
    runs.close();
  }

  #writeOne(runs: GuardedFolder, queue: RunQueue): void {
    try {
      appendRunLines(this.#deps.files, runs, queue.run, queue.lines.take());
    } catch (error) {
      this.#fallBehind(queue, error);
      return;
    }
    this.#release(queue.references);
    queue.references = new Map();
  }

  #fallBehind(queue: RunQueue, error: unknown): void {
    queue.owed = add(queue.owed, queue.references);
    queue.references = new Map();
    queue.lines.clear();
    this.#lastError = error;
    if (!this.#warned) {
      this.#deps.logger.warn('ledger.run-file-failed', { file: runFile(this.#workspace, queue.run), error });
    }
    this.#warned = true;
    if (this.#closed) return;
    this.#catchUpTimer ??= this.#deps.clock.setTimer(this.#catchUpDelay, () => void this.#catchUp());
  }

  /** One at a time: a second request waits for the first. */
  #catchUp(): Promise<void> {
    this.#catchUpTimer?.cancel();
    this.#catchUpTimer = undefined;
    this.#catchingUp ??= this.#catchUpOnce().finally(() => {
      this.#catchingUp = undefined;
    });
    return this.#catchingUp;
  }

  /**
   * From here on new lines are queued as usual, and the journal up to here has all the
   * others, so the two never overlap.
   */
  async #catchUpOnce(): Promise<void> {
    const late = new Map<string, References>();
    for (const queue of this.#behind()) {
      late.set(queue.run, queue.owed ?? new Map());
      queue.owed = undefined;
    }
    const failed = await this.#deriveAgain(late);
    this.#catchUpDelay = failed.size === 0 ? firstCatchUpMs : Math.min(this.#catchUpDelay * 2, lastCatchUpMs);
    for (const [run, owed] of late) {
      if (!failed.has(run)) {
        this.#release(owed);
        continue;
      }
      const queue = this.#queue(run);
      queue.owed = add(queue.owed, owed);
      this.#fallBehind(queue, failed.get(run));
    }
    if (failed.size > 0 || late.size === 0) return;
    this.#warned = false;
    this.#deps.logger.info('ledger.run-files-caught-up', { runs: late.size });
  }

  async #deriveAgain(runs: ReadonlyMap<string, unknown>): Promise<ReadonlyMap<string, unknown>> {
    const sources = this.#journal.sources();
    const { restored } = this.#journal;
    const missing = createMissingLines(this.#deps, this.#workspace);
    try {
      await pairCalls(sources, ({ parts, connection }, end) =>
        runs.has(parts.run) ? missing.add(parts.run, parts.id, runLine(parts, connection, end)) : undefined,
      );
      // If the journal was replaced during the read, the lines may be incomplete.
      if (restored !== this.#journal.restored) throw new Error('the journal was replaced meanwhile');
      this.#journal.expectInPlace();
      return await missing.finish();
    } catch (error) {
      return new Map([...runs.keys()].map((run) => [run, error]));
    }
  }

  #release(references: References): void {
    for (const [file, count] of references) this.#journal.release(file, count);
  }
}

const batchMs = 50;
const batchBytes = 256 * 1024;
const fewBytes = 8 * 1024;
const firstCatchUpMs = 1000;
const lastCatchUpMs = 30_000;

function refer(references: References, file: JournalFile, count: number): void {
  references.set(file, (references.get(file) ?? 0) + count);
}

function add(owed: References | undefined, more: References): References {
  const all: References = new Map(owed);
  for (const [file, count] of more) refer(all, file, count);
  return all;
}
