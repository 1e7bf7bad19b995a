import { type Clock, defectFields, type HubError, type Logger } from '../../base/index.ts';
import type { Catalog, ServerLock } from '../../domain/index.ts';
import type { Connection } from '../connecting/connection.ts';
import { defectReason, unlisted } from '../failures.ts';
import {
  type AcceptedDefinitions,
  changesIn,
  nextAccepted,
  pinsOf,
  type ServerDefinitions,
} from './accepted-definitions.ts';
import { createWarningLog } from './bounded-warnings.ts';
import { relistMs } from './discovery.ts';
import { EarliestTimer } from './earliest-timer.ts';
import { createLogPace } from './log-pace.ts';
import { createRelistPace } from './relist-pace.ts';
import { type RememberedServer, rememberedCatalog } from './remembered.ts';
import { createServerRecord, type ServerRecord, type ServerRecordDeps } from './server-record.ts';
import { createToolChangeLog, type ToolChangeLog } from './tool-change-log.ts';
import { sameWithheld, withholdUnlocked } from './withhold.ts';

/** The lists of one server: remembered from earlier runs, read one at a time, and read again on change. */
export interface Listing {
  /** What agents get. */
  readonly catalog: Catalog | undefined;
  /** Everything that the server listed, for the operator. */
  readonly definitions: ServerDefinitions | undefined;
  readonly remembered: RememberedServer | undefined;
  /** Why the lists could not be read although the server is connected. */
  readonly error: HubError | undefined;
  /** Reads the lists, or joins a read that is in progress on this connection. */
  refresh(connection: Connection): Promise<void>;
  /** Whether calls may use the connection: where a lockfile decides, only after its lists were read and compared. */
  isChecked(connection: Connection): boolean;
  /** What is listed now counts as accepted where no lockfile says otherwise. */
  acceptListed(): void;
  /** Takes another word of the lockfile. */
  relock(lock: ServerLock | undefined): void;
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
  /** The lockfile's word on the server. */
  readonly lock: ServerLock | undefined;
}

export function createListing(deps: ListingDeps, options: ListingOptions): Listing {
  return new ServerListing(deps, options);
}

/** Enough to see what happened, not enough to flood the log. */
const mostNames = 20;

class ServerListing implements Listing {
  readonly #deps: ListingDeps;
  readonly #server: string;
  readonly #record: ServerRecord;
  /** Every question of an agent may cause a failure. */
  readonly #failurePace: ReturnType<typeof createLogPace>;
  readonly #defectPace: ReturnType<typeof createLogPace>;
  readonly #withheldPace: ReturnType<typeof createLogPace>;
  readonly #warn: ReturnType<typeof createWarningLog>;
  readonly #changeLog: ToolChangeLog;
  /** How long to wait after an announced change. */
  readonly #pace: () => number;
  readonly #timer: EarliestTimer;
  #lock: ServerLock | undefined;
  #listed: Catalog | undefined;
  #accepted: AcceptedDefinitions | undefined;
  #definitions: ServerDefinitions | undefined;
  #catalog: Catalog | undefined;
  /** The connection whose lists were read last. */
  #readOver: Connection | undefined;
  #error: HubError | undefined;
  #running: { readonly connection: Connection; readonly done: Promise<void> } | undefined;
  #stopped = false;

  constructor(deps: ListingDeps, options: ListingOptions) {
    this.#deps = deps;
    this.#server = options.server;
    this.#record = createServerRecord(deps, options);
    this.#failurePace = createLogPace(deps);
    this.#defectPace = createLogPace(deps);
    this.#withheldPace = createLogPace(deps);
    this.#warn = createWarningLog(deps, options.server);
    this.#changeLog = createToolChangeLog(deps, options.server);
    this.#pace = createRelistPace(deps);
    this.#timer = new EarliestTimer(deps.clock, () => void this.#readAgain());
    const remembered = this.#record.recall();
    this.#listed = rememberedCatalog(remembered);
    this.#accepted = remembered?.accepted;
    this.relock(options.lock);
  }

  get catalog(): Catalog | undefined {
    return this.#catalog;
  }

  get definitions(): ServerDefinitions | undefined {
    return this.#definitions;
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

  isChecked(connection: Connection): boolean {
    return this.#readOver === connection || this.#lock?.mode !== 'enforce';
  }

  acceptListed(): void {
    if (this.#listed === undefined) return;
    this.#accepted = {
      firstSeen: pinsOf(this.#listed),
      former: this.#lock === undefined ? [] : (this.#accepted?.former ?? []),
    };
    this.#record.accept(this.#accepted);
    this.relock(this.#lock);
  }

  relock(lock: ServerLock | undefined): void {
    this.#lock = lock;
    const listed = this.#listed;
    const catalog = listed && withholdUnlocked(listed, lock);
    const withheld = sameWithheld(this.#catalog?.withheld, catalog?.withheld);
    this.#catalog = catalog?.withheld === withheld ? catalog : catalog && { ...catalog, withheld };
    this.#definitions = listed && {
      listed,
      lock,
      changes: changesIn(listed, lock?.pins ?? this.#accepted?.firstSeen ?? pinsOf(listed)),
      former: this.#accepted?.former ?? [],
    };
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
    const outcome = await connection.discover(this.#listed);
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
    const catalog = { ...outcome.catalog, instructions: connection.about.instructions ?? '' };
    this.#accepted = nextAccepted({
      before: this.#listed,
      listed: catalog,
      known: this.#accepted,
      lock: this.#lock,
    });
    this.#take(catalog);
    this.#readOver = connection;
    this.#record.remember(connection, catalog, this.#accepted);
    if (outcome.askAgainMs !== undefined) this.#readLater(outcome.askAgainMs);
    this.#deps.onServerChange(this.#server);
  }

  #take(catalog: Catalog): void {
    this.#warn(catalog.warnings, new Set(this.#listed?.warnings));
    if (this.#listed !== undefined) this.#changeLog.note(this.#listed.tools, catalog.tools);
    this.#listed = catalog;
    const before = this.#catalog?.withheld;
    this.relock(this.#lock);
    if (this.#catalog?.withheld !== before) this.#logWithheld();
  }

  #logWithheld(): void {
    const { tool, prompt, template } = this.#catalog?.withheld ?? {};
    const names = [...(tool?.keys() ?? []), ...(prompt?.keys() ?? []), ...(template?.keys() ?? [])];
    const count = names.length === 0 ? undefined : this.#withheldPace();
    if (count === undefined) return;
    const definitions = names.slice(0, mostNames).map(this.#deps.redact);
    this.#deps.logger.warn('catalog.definitions-quarantined', {
      server: this.#server,
      definitions,
      of: names.length,
      ...count,
    });
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
