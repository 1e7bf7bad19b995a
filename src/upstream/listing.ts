import { type Clock, defectFields, type HubError, type Logger, type Timer } from '../base/index.ts';
import type { Catalog } from '../domain/index.ts';
import type { Era } from '../mcp/index.ts';
import { createWarningLog } from './bounded-warnings.ts';
import type { Via } from './chain.ts';
import { relistMs } from './discovery.ts';
import { defectReason, unlisted } from './failures.ts';
import type { Link } from './link.ts';
import { knownEra, type RememberedServer, rememberedCatalog, type ServerMemory } from './remembered.ts';
import { toolChanges } from './tool-changes.ts';

/** What one server offers: remembered from earlier lives, asked for one at a time, and again when it changed. */
export interface Listing {
  readonly catalog: Catalog | undefined;
  readonly remembered: RememberedServer | undefined;
  /** Why the server, though connected, could not be asked. */
  readonly error: HubError | undefined;
  /** Asks, or joins whoever asks already over this connection. */
  refresh(link: Link): Promise<void>;
  /** The server says that a list of it is another one now. */
  changed(): void;
  /** Asks no more, and what is still answered counts for nothing: another server may have the name by now. */
  stop(): void;
}

export interface ListingDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly memory: ServerMemory;
  readonly redact: (text: string) => string;
  /** The connection of this moment. */
  readonly link: () => Link | undefined;
  /** The transport that it uses. */
  readonly via: () => Via | undefined;
  readonly onChange: (server: string) => void;
}

/** Changes often come in groups. */
const groupMs = 50;

export function createListing(
  deps: ListingDeps,
  options: { readonly server: string; readonly connectionKey: string },
): Listing {
  const { clock, logger, memory } = deps;
  const { server, connectionKey } = options;
  const warn = createWarningLog(deps, server);
  let catalog = rememberedCatalog(remembered());
  let running: { readonly link: Link; readonly done: Promise<void> } | undefined;
  let timer: Timer | undefined;
  let dueAt = 0;
  let error: HubError | undefined;
  let stopped = false;

  function remembered(): RememberedServer | undefined {
    const found = memory.recall(server);
    return found?.connectionKey === connectionKey ? found : undefined;
  }

  async function refresh(link: Link): Promise<void> {
    if (running?.link !== link) {
      const done = ask(link).finally(() => {
        if (running?.done === done) running = undefined;
      });
      running = { link, done };
    }
    await running.done;
  }

  /** Never rejects: what goes wrong is the failure of the server, and it is asked again. */
  async function ask(link: Link): Promise<void> {
    try {
      await askOnce(link);
    } catch (defect) {
      error = unlisted(server, defectReason);
      logger.error('upstream_discovery_defect', { server, ...defectFields(defect) });
      askLater(relistMs);
    }
  }

  async function askOnce(link: Link): Promise<void> {
    const outcome = await link.discover(catalog);
    if (stopped || deps.link() !== link) return;
    if (outcome.kind === 'failed') {
      error = unlisted(server, deps.redact(outcome.reason));
      logger.warn('upstream_discovery_failed', { server, error: error.message });
      askLater(relistMs);
      return;
    }
    error = undefined;
    warn(outcome.catalog.warnings, new Set(catalog?.warnings));
    if (catalog !== undefined) logChanges(catalog, outcome.catalog);
    catalog = outcome.catalog;
    remember(link, catalog);
    if (outcome.askAgainMs !== undefined) askLater(outcome.askAgainMs);
    deps.onChange(server);
  }

  /** A tool that changes after it was looked at is how a server deceives; whoever operates the hub can see it. */
  function logChanges({ tools }: Catalog, next: Catalog): void {
    const changes = toolChanges(tools, next.tools);
    if (changes === undefined) return;
    const { added, removed, changed } = changes;
    const fields = {
      added: added.map(deps.redact),
      removed: removed.map(deps.redact),
      changed: changed.map(deps.redact),
    };
    logger[changed.length > 0 ? 'warn' : 'info']('catalog.tools-changed', { server, ...fields });
  }

  function remember({ era, protocolVersion }: Link, { warnings: _, ...offer }: Catalog): void {
    memory.remember(server, {
      connectionKey,
      era,
      protocolVersion,
      verdictAt: verdictAt(era),
      via: deps.via(),
      ...offer,
    });
  }

  /** A verdict that was only believed again keeps its date, or it would never be asked anew. */
  function verdictAt(era: Era): number {
    const before = remembered();
    if (before === undefined || (before.via?.place ?? 0) !== (deps.via()?.place ?? 0)) return clock.now();
    return knownEra(before, clock.now()) === era ? before.verdictAt : clock.now();
  }

  /** Never later than was planned already: a server that announces without end would never be asked. */
  function askLater(ms: number): void {
    const due = clock.monotonic() + ms;
    if (stopped || (timer !== undefined && dueAt <= due)) return;
    timer?.cancel();
    dueAt = due;
    timer = clock.setTimer(ms, () => {
      timer = undefined;
      void askAgain();
    });
  }

  /** What is being answered right now may be older than the change. */
  async function askAgain(): Promise<void> {
    await running?.done;
    const link = deps.link();
    if (link !== undefined && !stopped) await refresh(link);
  }

  return {
    get catalog() {
      return catalog;
    },
    get remembered() {
      return remembered();
    },
    get error() {
      return error;
    },
    refresh,
    changed: () => askLater(groupMs),
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
