import { contain, containTimers, defectFields, type HubError, toHubError } from '../base/index.ts';
import type { Catalog, ServerLoad, ServerSpec, ServerState, ServerStatus } from '../domain/index.ts';
import type { ConnectionSeat } from './attempt.ts';
import { afterFailure, type BreakerState, type BreakerVerdict, initialBreaker } from './breaker.ts';
import type { Via } from './chain.ts';
import { withinPatience } from './connect-patience.ts';
import type { ConnectionState } from './connection-state.ts';
import { connectionStatus } from './connection-status.ts';
import { away, defective, lostConnection, redacted } from './failures.ts';
import { createGrace, type Grace } from './grace.ts';
import type { UpstreamControl, UpstreamDeps, UpstreamDispatch, UpstreamOptions } from './handles.ts';
import { type Link, type LinkEvents, type LinkOutcome, openLink } from './link.ts';
import { createListing, type Listing } from './listing.ts';
import { expectation } from './remembered.ts';
import { everyCapability, type Seats } from './seats.ts';
import { sumOfLoads } from './server-load.ts';
import type { StartPlace, StartPriority } from './start-queue.ts';
import { createWatches, type Watches } from './watches.ts';
import type { WireCall, WireFailure } from './wire.ts';

/** A connection that lives this long, or has proven itself, was a good one; another's loss is a failed connect. */
const settledMs = 5000;
/** How long 401 and 403 are believed before they are asked again. */
const refusalMs = 10_000;
/** A server that says "try again in 0 s" is still throttling. */
const minThrottledMs = 1000;

export class Upstream implements UpstreamControl, UpstreamDispatch {
  spec: ServerSpec;
  readonly #deps: UpstreamDeps;
  readonly #client: UpstreamOptions['client'];
  readonly #seat: ConnectionSeat | undefined;
  readonly seats: Seats | undefined;
  /** The hub's own, over which it lists; not that of one caller. */
  readonly #own: boolean;
  #state: ConnectionState = { kind: 'idle' };
  #breaker: BreakerState = initialBreaker;
  #inFlight = 0;
  /** Somebody called something over the connection of this moment. */
  #used = false;
  readonly #underWay: (() => number) | undefined;
  #drained: (() => void) | undefined;
  readonly #listing: Listing;
  readonly #grace: Grace;
  readonly #watches: Watches;
  readonly #updates = new Set<(uri: string) => void>();
  #lastError: HubError | undefined;
  /** The link is there, but what the server last said over it was 401 or 403. */
  #refusal: { readonly word: ServerState; readonly error: HubError } | undefined;

  constructor(given: UpstreamDeps, options: UpstreamOptions, seats: Seats | undefined) {
    const deps = { ...given, clock: containTimers(given.clock, (error) => this.#defect(error)) };
    this.#deps = deps;
    this.#client = options.client;
    this.spec = options.spec;
    this.seats = seats;
    this.#underWay = options.underWay;
    // What is offered may depend on what can be asked.
    this.#seat = options.seat ?? (seats && { capabilities: everyCapability, exclusive: false });
    this.#own = options.seat === undefined;
    const { name: server, connectionKey } = options.spec;
    const now = { link: () => this.link, via: () => this.#via };
    this.#listing = createListing({ ...deps, ...now }, { server, connectionKey });
    this.#grace = createGrace(
      { clock: deps.clock, onOver: () => deps.onChange(server) },
      { lengthMs: options.spec.limits.graceMs },
    );
    const onUpdated = (uri: string): void => {
      deps.onStale(server, uri);
      for (const listener of this.#updates) contain(deps.logger, 'caller_defect', { server }, () => listener(uri));
    };
    this.#watches = createWatches({ ...deps, ...now, onUpdated }, { server });
  }

  get catalog(): Catalog | undefined {
    return this.#grace.isOver ? undefined : this.#listing.catalog;
  }

  get lastCatalog(): Catalog | undefined {
    return this.#listing.catalog;
  }

  get failure(): HubError | undefined {
    const waiting = this.#state.kind === 'waiting' ? this.#state.error : undefined;
    return waiting ?? this.#refusal?.error ?? this.#lastError ?? (this.link && this.#listing.error);
  }

  get link(): Link | undefined {
    return this.#state.kind === 'connected' ? this.#state.link : undefined;
  }

  /** Whoever watches does not ask: without a connection it would never hear again. */
  get #isKeptUp(): boolean {
    return this.#own || this.#watches.size > 0;
  }

  get #via(): Via | undefined {
    return this.#state.kind === 'connected' ? this.#state.via : undefined;
  }

  connect(): Promise<Link> {
    const link = this.#connect('call');
    return this.#state.kind === 'connecting' ? withinPatience(this.#deps.clock, this.spec, link) : link;
  }

  #connect(priority: StartPriority): Promise<Link> {
    const state = this.#state;
    switch (state.kind) {
      case 'connected':
        return Promise.resolve(state.link);
      case 'connecting':
        state.start.raise(priority);
        return state.link;
      case 'idle':
        return this.#beginConnect(priority);
      case 'waiting':
        // A refusal is asked again by whoever needs the server, not by a timer.
        if (state.timer === undefined && this.#deps.clock.now() >= state.until) return this.#beginConnect(priority);
        return Promise.reject(this.#away(state));
      case 'closed':
        return Promise.reject(lostConnection(this.spec.name, 'it was removed from the configuration', false).error);
    }
  }

  enter(): boolean {
    const underWay = this.#underWay === undefined ? this.#inFlight : this.#underWay();
    if (underWay >= this.spec.limits.concurrency) return false;
    this.#inFlight++;
    this.#used = true;
    return true;
  }

  get busy(): boolean {
    return this.#inFlight > 0 || this.#watches.size > 0;
  }

  leave(): void {
    this.#inFlight--;
    if (this.#inFlight === 0) this.#drained?.();
  }

  reportLoss(link: Link, failure: WireFailure): void {
    // A single reset says little; a refused connection, a forgotten session or a dead child everything.
    if (!failure.sent) this.#lost(link, failure.error);
  }

  watch(link: Link, uri: string): WireCall {
    return this.#watches.watch(link, uri);
  }

  unwatch(uri: string): void {
    this.#watches.unwatch(uri);
  }

  onUpdated(listener: (uri: string) => void): () => void {
    this.#updates.add(listener);
    return () => this.#updates.delete(listener);
  }

  async refresh(priority: StartPriority = 'list'): Promise<void> {
    try {
      const link = await this.#connect(priority);
      await this.#listing.refresh(link);
    } catch (error) {
      // The state tells it; whoever asked reads the state.
      this.#deps.logger.debug('upstream_refresh_failed', { server: this.spec.name, error: toHubError(error).message });
    }
  }

  retry(): Promise<void> {
    const state = this.#state;
    if (state.kind === 'waiting') {
      state.timer?.cancel();
      void this.#beginConnect('call');
    }
    return this.refresh('call');
  }

  letGoUnused(): void {
    const state = this.#state;
    if (state.kind !== 'connected' || this.#used || this.busy) return;
    this.#state = { kind: 'idle' };
    void state.link.close();
    this.#deps.onChange(this.spec.name);
  }

  replaceSpec(spec: ServerSpec): void {
    this.spec = spec;
    this.#grace.setLength(spec.limits.graceMs);
    this.seats?.replaceSpec(spec);
  }

  status(): ServerStatus {
    const { link, catalog, failure } = this;
    const own = { state: this.#state, refused: this.#refusal?.word, remembered: this.#listing.remembered };
    return connectionStatus(this.spec, { ...own, link, catalog, failure, failures: this.#breaker.failures });
  }

  load(): ServerLoad {
    const { link } = this;
    const own: ServerLoad = {
      name: this.spec.name,
      connections: link === undefined ? 0 : 1,
      underWay: this.#inFlight,
      waiting: link?.lane?.waiting ?? 0,
      queuedBytes: link?.queuedBytes ?? 0,
    };
    return (this.seats?.loads() ?? []).reduce(sumOfLoads, own);
  }

  async retire(): Promise<void> {
    this.#listing.stop();
    this.#watches.stop();
    await this.seats?.retire();
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    await this.close();
  }

  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'closed' };
    this.#listing.stop();
    this.#watches.stop();
    this.#grace.end();
    await this.seats?.close();
    if (state.kind === 'waiting') state.timer?.cancel();
    if (state.kind === 'connected') await this.#closeLink(state.link);
    if (state.kind === 'connecting') {
      // It sees the closed state when it is done and closes what it opened.
      state.giveUp.abort();
      await state.link.catch(() => {});
    }
  }

  #beginConnect(priority: StartPriority = 'background'): Promise<Link> {
    const giveUp = new AbortController();
    const start = this.#deps.starts.join(priority);
    const link = this.#openLink(giveUp.signal, start);
    this.#state = { kind: 'connecting', link, giveUp, start };
    // Callers get the rejection through `connect`; without callers it must not count as unhandled.
    link.catch(() => {});
    this.#deps.onChange(this.spec.name);
    return link;
  }

  async #openLink(signal: AbortSignal, start: StartPlace): Promise<Link> {
    const outcome = await this.#tryLink(signal, start);
    if (this.#state.kind === 'closed') {
      if (outcome.kind === 'linked') await this.#closeLink(outcome.link);
      throw lostConnection(this.spec.name, 'it was closed while connecting', false).error;
    }
    if (outcome.kind === 'failed') throw this.#connectFailed(outcome.failure);
    const { link, via } = outcome;
    this.#state = { kind: 'connected', link, via, since: this.#deps.clock.monotonic() };
    this.#used = false;
    this.#lastError = undefined;
    this.#refusal = undefined;
    this.#grace.end();
    this.#deps.onChange(this.spec.name);
    // Calls may use the link at once; what the server offers follows.
    if (this.#own) void this.#listing.refresh(link);
    this.#watches.resume(link).catch((error: unknown) => this.#defect(error));
    return link;
  }

  async #tryLink(signal: AbortSignal, start: StartPlace): Promise<LinkOutcome> {
    const { clock, logger, children, redact } = this.#deps;
    const known = expectation(this.#listing.remembered, clock.now());
    let opened: Link | undefined;
    const events: LinkEvents = {
      onOfferChanged: () => this.#offerChanged(),
      onResourceUpdated: (params) => this.#watches.updated(params),
      onNotice: (method, params) => {
        const session = this.#seat?.session;
        if (session !== undefined) this.#deps.onNotice(session, method, params);
      },
      onGap: () => {
        this.#offerChanged();
        this.#watches.missed();
      },
      onLost: (error) => opened !== undefined && this.#lost(opened, error),
      onRefused: (error) => opened !== undefined && opened === this.link && this.#refused(error),
      onAccepted: () => opened === this.link && this.#refused(undefined),
    };
    const outcome = await openLink(
      { clock, logger, children, redact, events },
      { spec: this.spec, client: this.#client, seat: this.#seat, known, signal, start },
    );
    if (outcome.kind === 'linked') opened = outcome.link;
    return outcome;
  }

  #offerChanged(): void {
    this.#deps.onStale(this.spec.name);
    if (this.#own) this.#listing.changed();
  }

  /** A tool that wants more than the others must not cost the others their connection: only the word changes. */
  #refused(error: HubError | undefined): void {
    const word = error?.code === 'UPSTREAM_FORBIDDEN' ? 'forbidden' : 'needs-login';
    if (this.#refusal?.word === (error && word)) return;
    this.#refusal = error && { word, error };
    this.#deps.onChange(this.spec.name);
  }

  /** Enters the waiting state and returns the error for those who waited. */
  #connectFailed(failure: WireFailure): HubError {
    const error = redacted(failure.error, this.#deps.redact);
    this.#lastError = error;
    this.#deps.logger.warn('upstream_connect_failed', {
      server: this.spec.name,
      code: error.code,
      error: error.message,
    });
    if (error.code === 'UPSTREAM_NEEDS_LOGIN') return this.#wait('needs-login', refusalMs, error, false);
    if (error.code === 'UPSTREAM_FORBIDDEN') return this.#wait('forbidden', refusalMs, error, false);
    if (error.code === 'UPSTREAM_THROTTLED') {
      const { retryAfterMs = refusalMs } = error.details;
      return this.#wait('retrying', Math.max(retryAfterMs, minThrottledMs), error, true);
    }
    return this.#retreat(this.#countFailure(), error);
  }

  #countFailure(): BreakerVerdict {
    const verdict = afterFailure(this.#breaker, this.#deps.random());
    this.#breaker = verdict.state;
    return verdict;
  }

  #retreat({ state, waitMs }: BreakerVerdict, error: HubError): HubError {
    return this.#wait(state.kind === 'open' ? 'open-circuit' : 'retrying', waitMs, error, true);
  }

  #wait(word: ServerState, waitMs: number, error: HubError, tryAgain: boolean): HubError {
    const { clock } = this.#deps;
    const timer = tryAgain && this.#isKeptUp ? clock.setTimer(waitMs, () => void this.#beginConnect()) : undefined;
    const state = { kind: 'waiting', word, until: clock.now() + waitMs, error, timer } as const;
    this.#state = state;
    // What is offered hangs on the hub's own connection alone.
    if (this.#own) this.#grace.begin();
    this.#deps.onChange(this.spec.name);
    return this.#away(state);
  }

  #lost(link: Link, error: HubError): void {
    const state = this.#state;
    if (state.kind !== 'connected' || state.link !== link) return;
    this.#lastError = error;
    this.#refusal = undefined;
    this.#deps.logger.warn('upstream_lost', { server: this.spec.name, error: error.message });
    void this.#closeLink(link);
    if (!this.#isKeptUp) {
      this.#state = { kind: 'idle' };
      return;
    }
    if (this.#own) this.#grace.begin();
    if (link.proven || this.#deps.clock.monotonic() - state.since >= settledMs) {
      this.#breaker = initialBreaker;
      void this.#beginConnect(this.#inFlight > 0 ? 'call' : 'background');
      return;
    }
    const verdict = this.#countFailure();
    // Callers would rather have it tried at once, but not again and again.
    if (this.#inFlight > 0 && verdict.state.kind === 'closed') void this.#beginConnect('call');
    else this.#retreat(verdict, error);
  }

  /** A defect in what belongs to this server alone: its connection ends, and the log says why. */
  #defect(error: unknown): void {
    const { name: server } = this.spec;
    this.#deps.logger.error('upstream_defect', { server, ...defectFields(error) });
    if (this.link !== undefined) this.#lost(this.link, defective(server, error).error);
  }

  /** Never rejects: nobody could do anything about it. */
  #closeLink(link: Link): Promise<void> {
    const { name: server } = this.spec;
    return link.close().catch((error: unknown) => {
      this.#deps.logger.error('upstream_defect', { server, ...defectFields(error) });
    });
  }

  #away(state: ConnectionState & { kind: 'waiting' }): HubError {
    return away(this.spec.name, state.word, state.error, Math.max(0, state.until - this.#deps.clock.now()));
  }
}
