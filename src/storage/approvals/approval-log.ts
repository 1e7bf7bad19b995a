import type { StoredEntry } from '../../approvals/index.ts';
import { createId, HubError, type Logger, type RandomBytes, toHubError } from '../../base/index.ts';
import type { TextSeal } from '../../vault/index.ts';
import type { LogRecord } from './approval-document.ts';
import type { ApprovalLogFile } from './approval-log-file.ts';
import { type LogHeader, logHeaderText, type ReadLog, readLog, recordLine } from './approval-log-text.ts';

export interface ApprovalLogDeps {
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly seal: TextSeal;
  readonly file: ApprovalLogFile;
}

interface Order {
  readonly records: readonly LogRecord[];
  resolve(stored: boolean): void;
  reject(error: HubError): void;
}

/**
 * One append log with a single writer, the hub. Orders that come while the disk is busy share one write and one fsync.
 * From time to time the log is written anew, with the newest version of each entry alone.
 */
export class ApprovalLog {
  readonly #deps: ApprovalLogDeps;
  readonly #entries = new Map<string, StoredEntry>();
  #orders: Order[] = [];
  #writing: Promise<void> | undefined;
  #header: LogHeader | undefined;
  /** Lines and bytes after the last write that succeeded; undefined if the file must be written anew. */
  #end: { n: number; size: number } | undefined;
  /** The size of the file when it was written anew. */
  #snapshotSize = 0;

  constructor(deps: ApprovalLogDeps) {
    this.#deps = deps;
  }

  async load() {
    const { file, seal } = this.#deps;
    await this.#writing;
    const bytes = await file.read();
    const epochs = await file.epochs();
    const log = bytes === undefined ? undefined : this.#readOrLose(() => readLog(seal, bytes));
    this.#entries.clear();
    for (const record of log?.records ?? []) this.#apply(record);
    this.#header = log?.header;
    this.#end = log !== undefined && log.size === bytes?.length ? { n: log.records.length, size: log.size } : undefined;
    this.#snapshotSize = log?.size ?? 0;
    return { entries: [...this.#entries.values()], isCurrent: log === undefined || epochs.includes(log.header.epoch) };
  }

  /** If it is damaged, nothing that was approved counts any more, and everybody is asked again. */
  #readOrLose(read: () => ReadLog): ReadLog | undefined {
    const { file, logger } = this.#deps;
    try {
      return read();
    } catch (error) {
      logger.error('approvals.store-lost', { file: file.path, error: toHubError(error).message });
      file.putAside();
      return undefined;
    }
  }

  put(entry: StoredEntry): Promise<boolean> {
    return this.#order([entry]);
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#order(ids.map((id) => ({ kind: 'removed', id })));
  }

  async begin(): Promise<void> {
    if (this.#header !== undefined) await this.#renew().catch((error: unknown) => Promise.reject(unavailable(error)));
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  #order(records: readonly LogRecord[]): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#orders.push({ records, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    // Orders of this turn of the loop go together.
    await Promise.resolve();
    while (this.#orders.length > 0) {
      const orders = this.#orders;
      this.#orders = [];
      const staged = new Map<string, LogRecord>();
      const stored = orders.map(({ records }) => records.every((record) => this.#stage(staged, record)));
      try {
        if (staged.size > 0) await this.#write([...staged.values()]);
        for (const [index, order] of orders.entries()) order.resolve(stored[index] === true);
      } catch (error) {
        this.#end = undefined;
        for (const order of orders) order.reject(unavailable(error));
      }
    }
    // In the same turn as the last look at the orders: the next one starts another write.
    this.#writing = undefined;
  }

  /** Takes the record into the batch if its version is the next one. */
  #stage(staged: Map<string, LogRecord>, record: LogRecord): boolean {
    if (record.kind === 'removed') {
      staged.set(record.id, record);
      return true;
    }
    const { id, version } = record.value;
    const before = staged.get(id) ?? this.#entries.get(id);
    const known = before === undefined || before.kind === 'removed' ? 0 : before.value.version;
    if (known !== version - 1) return false;
    staged.set(id, record);
    return true;
  }

  async #write(records: readonly LogRecord[]): Promise<void> {
    const { file, seal } = this.#deps;
    const [header, end] = [this.#header, this.#end];
    if (header === undefined || end === undefined || end.size > Math.max(smallestLog, 4 * this.#snapshotSize)) {
      await this.#writeAnew(records);
      return;
    }
    const text = records.map((record, index) => recordLine(seal, header, end.n + index + 1, record)).join('');
    // Somebody deleted or changed the file: what the hub knows is put in its place.
    if (!(await file.append(end.size, text))) {
      await this.#writeAnew(records);
      return;
    }
    this.#end = { n: end.n + records.length, size: end.size + Buffer.byteLength(text) };
    for (const record of records) this.#apply(record);
  }

  async #writeAnew(records: readonly LogRecord[]): Promise<void> {
    const { file, seal } = this.#deps;
    if (this.#header === undefined) {
      await this.#renew(records);
      return;
    }
    const header = { ...this.#header, generation: this.#header.generation + 1 };
    const all = new Map<string, StoredEntry>(this.#entries);
    for (const record of records) applyTo(all, record);
    const lines = [...all.values()].map((entry, index) => recordLine(seal, header, index + 1, entry));
    const text = logHeaderText(header) + lines.join('');
    await file.replace(text);
    for (const record of records) this.#apply(record);
    this.#header = header;
    this.#end = { n: lines.length, size: Buffer.byteLength(text) };
    this.#snapshotSize = this.#end.size;
  }

  /** A new epoch. Between the two files, both epochs count, so that no crash makes approvals void. */
  async #renew(records: readonly LogRecord[] = []): Promise<void> {
    const { file, random } = this.#deps;
    const before = this.#header;
    const epoch = createId(random, epochLength);
    await file.keepEpochs(before === undefined ? [epoch] : [epoch, before.epoch]);
    this.#header = { epoch, generation: before?.generation ?? 0 };
    try {
      await this.#writeAnew(records);
      await file.keepEpochs([epoch]);
    } catch (error) {
      this.#header = before;
      throw error;
    }
  }

  #apply(record: LogRecord): void {
    applyTo(this.#entries, record);
  }
}

function applyTo(entries: Map<string, StoredEntry>, record: LogRecord): void {
  if (record.kind === 'removed') entries.delete(record.id);
  else entries.set(record.value.id, record);
}

const epochLength = 16;
const smallestLog = 1024 * 1024;

function unavailable(error: unknown): HubError {
  const { message, hint } = toHubError(error);
  return new HubError('APPROVAL_UNAVAILABLE', `The approval could not be stored: ${message}`, {
    hint: hint ?? 'Nothing was sent. Look at the disk of the state folder.',
    cause: error,
  });
}
