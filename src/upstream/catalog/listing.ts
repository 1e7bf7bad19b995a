import { type Clock, defectFields, type HubError, type Logger } from '../../base/index.ts';
import type { Catalog } from '../../domain/index.ts';
import type { Connection } from '../connecting/connection.ts';
import { defectReason, unlisted } from '../failures.ts';
import { createWarningLog } from './bounded-warnings.ts';
import { relistMs } from './discovery.ts';
import { EarliestTimer } from './earliest-timer.ts';
import { createLogPace } from './log-pace.ts';
import { createRelistPace } from './relist-pace.ts';
import { type RememberedServer, rememberedCatalog } from './remembered.ts';
import { createServerRecord, type ServerRecord, type ServerRecordDeps } from './server-record.ts';
import { createToolChangeLog, type ToolChangeLog } from './tool-change-log.ts';

/** The lists of one server: remembered from earlier runs, read one at a time, and read again on change. */
export interface Listing {
  readonly catalog: Catalog | undefined;
  readonly remembered: RememberedServer | undefined;
  /** Why the lists could not be read although the server is connected. */
  readonly error: HubError | undefined;
  /** Reads the lists, or joins a read that is in progress on this connection. */
  refresh(connection: Connection): Promise<void>;
  /** The server says that one of its lists changed. */
  changed(): void;
  /** Reads no more and ignores pending answers: another server may have the name by now. */
  stop(): void;
}

export interface ListingDeps extends ServerRecordDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: (text: string) => string;
  /** The current connection. */
  readonly connection: () => Connection | undefined;
  readonly onServerChange: (server: string) => void;
}

export interface ListingOptions {
  readonly server: string;
  readonly connectionKey: string;
}

export function createListing(deps: ListingDeps, options: ListingOptions): Listing {
  return new ServerListing(deps, options);
}

class ServerListing implements Listing {
  readonly #deps: ListingDeps;
  readonly #server: string;
  readonly #record: ServerRecord;
  /** Every question of an agent may cause a failure. */
  readonly #failurePace: ReturnType<typeof createLogPace>;
  readonly #defectPace: ReturnType<typeof createLogPace>;
  readonly #warn: ReturnType<typeof createWarningLog>;
  readonly #changeLog: ToolChangeLog;
  /** How long to wait after an announced change. */
  readonly #pace: () => number;
  readonly #timer: EarliestTimer;
  #catalog: Catalog | undefined;
  #error: HubError | undefined;
  #running: { readonly connection: Connection; readonly done: Promise<void> } | undefined;
  #stopped = false;

  constructor(deps: ListingDeps, options: ListingOptions) {
    this.#deps = deps;
    this.#server = options.server;
    this.#record = createServerRecord(deps, options);
    this.#failurePace = createLogPace(deps);
    this.#defectPace = createLogPace(deps);
    this.#warn = createWarningLog(deps, options.server);
    this.#changeLog = createToolChangeLog(deps, options.server);
    this.#pace = createRelistPace(deps);
    this.#timer = new EarliestTimer(deps.clock, () => void this.#readAgain());
    this.#catalog = rememberedCatalog(this.#record.recall());
  }

  get catalog(): Catalog | undefined {
    return this.#catalog;
  }

  get remembered(): RememberedServer | undefined {
    return this.#record.recall();
  }

  get error(): HubError | undefined {
    return this.#error;
  }

  async refresh(connection: Connection): Promise<void> {
    if (this.#running?.connection !== connection) {
      const done = this.#read(connection).finally(() => {
        if (this.#running?.done === done) this.#running = undefined;
      });
      this.#running = { connection, done };
    }
    await this.#running.done;
  }

  changed(): void {
    this.#readLater(this.#pace());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer.cancel();
    this.#changeLog.close();
  }

  /** Never rejects: a defect counts as a failure of the server, and the lists are read again later. */
  async #read(connection: Connection): Promise<void> {
    try {
      await this.#readOnce(connection);
    } catch (defect) {
      this.#error = unlisted(this.#server, defectReason);
      const count = this.#defectPace();
      const fields = { server: this.#server, ...defectFields(defect), ...count };
      if (count !== undefined) this.#deps.logger.error('upstream.discovery-defect-contained', fields);
      this.#readLater(relistMs);
    }
  }

  async #readOnce(connection: Connection): Promise<void> {
    const outcome = await connection.discover(this.#catalog);
    if (this.#stopped || this.#deps.connection() !== connection) return;
    if (outcome.kind === 'failed') {
      this.#error = unlisted(this.#server, this.#deps.redact(outcome.reason));
      const count = this.#failurePace();
      const fields = { server: this.#server, error: this.#error.message, ...count };
      if (count !== undefined) this.#deps.logger.warn('upstream.discovery-failed', fields);
      this.#readLater(relistMs);
      return;
    }
    this.#error = undefined;
    this.#take(outcome.catalog);
    this.#record.remember(connection, outcome.catalog);
    if (outcome.askAgainMs !== undefined) this.#readLater(outcome.askAgainMs);
    this.#deps.onServerChange(this.#server);
  }

  #take(catalog: Catalog): void {
    this.#warn(catalog.warnings, new Set(this.#catalog?.warnings));
    if (this.#catalog !== undefined) this.#changeLog.note(this.#catalog.tools, catalog.tools);
    this.#catalog = catalog;
  }

  #readLater(ms: number): void {
    if (!this.#stopped) this.#timer.set(ms);
  }

  /** Waits for the read in progress, because its answer may be older than the change. */
  async #readAgain(): Promise<void> {
    await this.#running?.done;
    const connection = this.#deps.connection();
    if (connection !== undefined && !this.#stopped) await this.refresh(connection);
  }
}
