import type { Catalog, ServerSpec, TransportKind } from '../../domain/index.ts';
import type { Era } from '../../mcp/index.ts';
import { type DiscoveryOutcome, discover } from '../catalog/discovery.ts';
import { createLegacySubscriptions, type LegacySubscriptions } from '../subscriptions/legacy-subscriptions.ts';
import { type Listening, startListening } from '../subscriptions/listen.ts';
import { ask, controlRequest, type PendingRequest, type Transport, type UpstreamRequest } from '../transport.ts';
import type { Connection, ConnectionDeps, ConnectionOptions } from './connection.ts';
import { createExclusiveAccess, type ExclusiveAccess } from './exclusive-access.ts';
import type { Agreement } from './handshake.ts';
import { createRequestedLogLevel, type RequestedLogLevel } from './requested-log-level.ts';

/** Whether the server refused the credential in its last answer. The transport's events report it. */
export interface RefusalFlag {
  isRefused: boolean;
}

export interface OpenedTransport {
  readonly transport: Transport;
  readonly agreement: Agreement;
  readonly refusal: RefusalFlag;
}

/** The limit for requests that the hub makes on its own account. */
const ownTimeoutMs = 15_000;

export class LiveConnection implements Connection {
  readonly sessionId: string | null;
  readonly exclusiveAccess: ExclusiveAccess | undefined;
  readonly canAttributeMessages: boolean;
  readonly log: RequestedLogLevel | undefined;
  /** Settles when the change stream of a legacy server is open or known to be missing. Undefined if none is needed. */
  readonly changeStreamSettled: Promise<void> | undefined;
  readonly #deps: ConnectionDeps;
  readonly #transport: Transport;
  readonly #agreement: Agreement;
  readonly #refusal: RefusalFlag;
  readonly #listening: Listening | undefined;
  readonly #subscriptions: LegacySubscriptions;
  readonly #closing = new AbortController();

  constructor(deps: ConnectionDeps, { spec, terms }: ConnectionOptions, opened: OpenedTransport) {
    const { transport, agreement, refusal } = opened;
    this.#deps = deps;
    this.#transport = transport;
    this.#agreement = agreement;
    this.#refusal = refusal;
    this.sessionId = transport.sessionId;
    const isExclusive = terms?.exclusive === true;
    this.canAttributeMessages = transport.kind === 'http' || isExclusive;
    this.exclusiveAccess = takesTurns(opened, isExclusive) ? this.#createAccess(spec) : undefined;
    const hasLog = this.canAttributeMessages && agreement.era === 'legacy' && agreement.abilities.logging;
    this.log = hasLog
      ? createRequestedLogLevel((level) => ask(transport, setLevelRequest(level), this.#closing.signal))
      : undefined;
    // The hub lists over its own connection, so an exclusive one needs no announcements.
    const announces = isExclusive ? noAnnouncements : agreement.announces;
    if (agreement.era === 'modern') {
      this.#listening = startListening({ clock: deps.clock, transport, onGap: deps.events.onGap }, announces);
    } else if (isExclusive || agreement.abilities.subscriptions || announcesAny(announces)) {
      this.changeStreamSettled = transport.openChangeStream();
    }
    this.#subscriptions = this.#listening ?? createLegacySubscriptions((request) => this.send(request), ownTimeoutMs);
  }

  get transport(): TransportKind {
    return this.#transport.kind;
  }

  get era(): Era {
    return this.#agreement.era;
  }

  get protocolVersion(): string {
    return this.#agreement.version;
  }

  get about(): Agreement['about'] {
    return this.#agreement.about;
  }

  get queuedBytes(): number {
    return this.#transport.queuedBytes;
  }

  get proven(): boolean {
    return this.#transport.proven;
  }

  send(request: UpstreamRequest): PendingRequest {
    const call = this.#transport.request(request);
    if (this.#refusal.isRefused) void call.reply.then((reply) => reply.kind !== 'failed' && this.#accepted());
    return call;
  }

  notify(method: string): void {
    void this.#transport.notify(method);
  }

  subscribe(uri: string): PendingRequest {
    return this.#subscriptions.subscribe(uri);
  }

  unsubscribe(uri: string): void {
    this.#subscriptions.unsubscribe(uri);
  }

  /** The server's answer to the hub's `subscriptions/listen`. */
  acknowledged(params: Readonly<Record<string, unknown>>): void {
    this.#listening?.acknowledged(params);
  }

  async discover(before: Catalog | undefined): Promise<DiscoveryOutcome> {
    const options = {
      now: this.#deps.clock.now(),
      timeoutMs: ownTimeoutMs,
      signal: this.#closing.signal,
      before,
    };
    const outcome = await discover(this.#transport, this.#agreement, options);
    if (outcome.kind === 'found') this.#accepted();
    return outcome;
  }

  async close(): Promise<void> {
    // Calls may finish. The hub's own requests are given up.
    this.#closing.abort();
    this.#listening?.stop();
    await this.#transport.close();
  }

  /** An accepted request is news only after a refusal. */
  #accepted(): void {
    if (!this.#refusal.isRefused) return;
    this.#refusal.isRefused = false;
    this.#deps.events.onAccepted();
  }

  #createAccess({ name, limits }: ServerSpec): ExclusiveAccess {
    return createExclusiveAccess(this.#deps, { server: name, timeoutMs: limits.timeoutMs });
  }
}

/** On a stream, a legacy server does not say for which call it asks. */
function takesTurns({ transport, agreement }: OpenedTransport, isExclusive: boolean): boolean {
  return isExclusive && agreement.era === 'legacy' && transport.kind !== 'http';
}

const noAnnouncements: Agreement['announces'] = { tools: false, resources: false, prompts: false };

function announcesAny({ tools, resources, prompts }: Agreement['announces']): boolean {
  return tools || resources || prompts;
}

function setLevelRequest(level: string): UpstreamRequest {
  return controlRequest('logging/setLevel', { level }, ownTimeoutMs);
}
