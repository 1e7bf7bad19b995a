import { type Clock, type GuardedFolder, HubError, type Logger, type Timer } from '../base/index.ts';
import { runLine } from './call-text.ts';
import type { Journal, JournalFile } from './journal.ts';
import { pairCalls } from './journal-reader.ts';
import { reasonOf, wayOut } from './ledger-errors.ts';
import type { LedgerFiles } from './ledger-files.ts';
import { createMissingLines } from './missing-lines.ts';
import { runFile } from './places.ts';
import { appendRunLines, openRunsFolder } from './run-file.ts';
import { Utf8Buffer } from './utf8-buffer.ts';

export interface RunFollowerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: LedgerFiles;
}

/** How many lines of a run need which journal file. */
type Holds = Map<JournalFile, number>;

interface RunQueue {
  readonly run: string;
  /** Lines that no file has yet. */
  readonly lines: Utf8Buffer;
  holds: Holds;
  /** Lines that are only in the journal, because a write failed. While there are any, nothing is kept in memory. */
  owed: Holds | undefined;
}

/**
 * Writes `.runs/agents/<RUN_ID>/mcp_calls.jsonl` from memory, in batches. When a run file cannot be written it lets
 * go of the lines and derives them from the journal later; the journal's files stay until then.
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

  /** A line whose records are in these journal files: the call's own, and the one with its end. */
  feed(run: string, line: string, callFile: JournalFile, endFile: JournalFile): void {
    const queue = this.#queue(run);
    const holds = queue.owed ?? queue.holds;
    hold(holds, callFile, 1);
    if (endFile !== callFile) hold(holds, endFile, 1);
    if (queue.owed !== undefined) return;
    queue.lines.add(line);
    if (queue.lines.size >= batchBytes) this.#write([queue]);
    else this.#timer ??= this.#deps.clock.setTimer(batchMs, () => this.#writeAll());
  }

  /** Everything fed so far is in its run file; rejects when that cannot be. */
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
        hint: `${wayOut(this.#lastError)} What is missing is in the journal and follows by itself.`,
        cause: this.#lastError,
      },
    );
  }

  /** Why lines are in the journal alone; undefined while none are. */
  get behind(): string | undefined {
    const [first] = this.#behind();
    if (first === undefined) return undefined;
    return `${runFile(this.#workspace, first.run)}: ${reasonOf(this.#lastError)}`;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#catchUpTimer?.cancel();
    await this.drain().catch((error: unknown) => this.#deps.logger.warn('ledger.run-files-behind', { error }));
    this.#timer?.cancel();
  }

  #queue(run: string): RunQueue {
    let queue = this.#queues.get(run);
    if (queue === undefined) {
      queue = { run, lines: new Utf8Buffer(fewBytes), holds: new Map(), owed: undefined };
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

  /** The way to the runs is checked once for all of them. */
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
    this.#release(queue.holds);
    queue.holds = new Map();
  }

  #fallBehind(queue: RunQueue, error: unknown): void {
    queue.owed = add(queue.owed, queue.holds);
    queue.holds = new Map();
    queue.lines.clear();
    this.#lastError = error;
    if (!this.#warned) {
      this.#deps.logger.warn('ledger.run-file-failed', { file: runFile(this.#workspace, queue.run), error });
    }
    this.#warned = true;
    if (this.#closed) return;
    this.#catchUpTimer ??= this.#deps.clock.setTimer(this.#catchUpDelay, () => void this.#catchUp());
  }

  /** One at a time; a second request waits for the first. */
  #catchUp(): Promise<void> {
    this.#catchUpTimer?.cancel();
    this.#catchUpTimer = undefined;
    this.#catchingUp ??= this.#catchUpOnce().finally(() => {
      this.#catchingUp = undefined;
    });
    return this.#catchingUp;
  }

  /**
   * From this moment new lines go the usual way again, and the journal up to this moment has all the others; so the
   * two never overlap.
   */
  async #catchUpOnce(): Promise<void> {
    const late = new Map<string, Holds>();
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
      // What was read of a journal that went meanwhile may be less than all.
      if (restored !== this.#journal.restored) throw new Error('the journal was replaced meanwhile');
      this.#journal.expectInPlace();
      return await missing.finish();
    } catch (error) {
      return new Map([...runs.keys()].map((run) => [run, error]));
    }
  }

  #release(holds: Holds): void {
    for (const [file, count] of holds) this.#journal.release(file, count);
  }
}

const batchMs = 50;
const batchBytes = 256 * 1024;
const fewBytes = 8 * 1024;
const firstCatchUpMs = 1000;
const lastCatchUpMs = 30_000;

function hold(holds: Holds, file: JournalFile, count: number): void {
  holds.set(file, (holds.get(file) ?? 0) + count);
}

function add(owed: Holds | undefined, more: Holds): Holds {
  const all: Holds = new Map(owed);
  for (const [file, count] of more) hold(all, file, count);
  return all;
}
