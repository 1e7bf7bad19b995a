import { type Clock, defectFields, type HubError, type Logger } from '../../base/index.ts';
import { defective, lostConnection, redactedFailure, unavailable } from '../failures.ts';
import { type BreakerState, initialBreaker } from '../state/breaker.ts';
import type { ConnectionState } from '../state/connection-state.ts';
import { planAfterCountedFailure, planAfterFailedConnect, type RetryPlan } from '../state/retry-plan.ts';
import type { Connection, ConnectionOutcome } from './connection.ts';
import type { StartPlace, StartPriority, StartQueue } from './start-queue.ts';

export interface ConnectorDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly starts: StartQueue;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  readonly redact: (text: string) => string;
  open(signal: AbortSignal, start: StartPlace): Promise<ConnectionOutcome>;
  /** A lost connection is opened again even if no call needs it. */
  isKeptOpen(): boolean;
  hasCalls(): boolean;
  onConnected(connection: Connection): void;
  onLost(): void;
  /** The server is unavailable, and retries go on. */
  onUnavailable(): void;
  onStateChange(): void;
}

/** A connection that lives this long, or was proven, counts as good. The loss of any other is a failed attempt. */
const settledMs = 5000;

/** Opens the connection to a server, single-flight, and again after a loss. Its state is a `ConnectionState`. */
export class Connector {
  readonly #server: string;
  readonly #deps: ConnectorDeps;
  #state: ConnectionState = { kind: 'idle' };
  #breaker: BreakerState = initialBreaker;
  #lastError: HubError | undefined;

  constructor(deps: ConnectorDeps, { server }: { readonly server: string }) {
    this.#deps = deps;
    this.#server = server;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get connection(): Connection | undefined {
    return this.#state.kind === 'connected' ? this.#state.connection : undefined;
  }

  get lastError(): HubError | undefined {
    return this.#lastError;
  }

  /** In a row. */
  get failures(): number {
    return this.#breaker.failures;
  }

  connect(priority: StartPriority): Promise<Connection> {
    const state = this.#state;
    switch (state.kind) {
      case 'connected':
        return Promise.resolve(state.connection);
      case 'connecting':
        state.start.raise(priority);
        return state.connection;
      case 'idle':
        return this.#begin(priority);
      case 'waiting':
        if (state.timer === undefined && this.#deps.clock.now() >= state.until) return this.#begin(priority);
        return Promise.reject(this.#unavailable(state));
      case 'closed':
        return Promise.reject(lostConnection(this.#server, 'it was removed from the configuration', false).error);
    }
  }

  /** Ends a wait at once, because the caller knows more than the breaker. */
  retry(): void {
    if (this.#state.kind !== 'waiting') return;
    this.#state.timer?.cancel();
    void this.#begin('call');
  }

  /** The next call opens the connection again. */
  release(): void {
    if (this.#state.kind !== 'connected') return;
    const { connection } = this.#state;
    this.#state = { kind: 'idle' };
    void connection.close();
    this.#deps.onStateChange();
  }

  lose(connection: Connection, error: HubError): void {
    const state = this.#state;
    if (state.kind !== 'connected' || state.connection !== connection) return;
    this.#lastError = error;
    this.#deps.onLost();
    this.#deps.logger.warn('upstream.lost', { server: this.#server, error: error.message });
    void this.#closeConnection(connection);
    if (!this.#deps.isKeptOpen()) {
      this.#state = { kind: 'idle' };
      this.#deps.onStateChange();
      return;
    }
    this.#deps.onUnavailable();
    const wasGood = connection.proven || this.#deps.clock.monotonic() - state.since >= settledMs;
    if (wasGood) this.#breaker = initialBreaker;
    const plan = wasGood ? undefined : planAfterCountedFailure(this.#breaker, this.#deps.random());
    if (plan !== undefined) this.#breaker = plan.breaker;
    // Waiting calls start another attempt at once, until the breaker opens.
    if (plan === undefined) void this.#begin(this.#deps.hasCalls() ? 'call' : 'background');
    else if (this.#deps.hasCalls() && plan.breaker.kind === 'closed') void this.#begin('call');
    else this.#wait(plan, error);
  }

  /** A defect in a part of this server ends only its connection, and is logged. */
  defect(error: unknown): void {
    this.#deps.logger.error('upstream.defect-contained', { server: this.#server, ...defectFields(error) });
    if (this.connection !== undefined) this.lose(this.connection, defective(this.#server, error).error);
  }

  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'closed' };
    switch (state.kind) {
      case 'waiting':
        state.timer?.cancel();
        return;
      case 'connected':
        await this.#closeConnection(state.connection);
        return;
      case 'connecting':
        // The attempt sees the closed state when it is done, and closes its connection.
        state.giveUp.abort();
        await state.connection.catch(() => {});
        return;
      case 'idle':
      case 'closed':
        return;
    }
  }

  #begin(priority: StartPriority): Promise<Connection> {
    const giveUp = new AbortController();
    const start = this.#deps.starts.join(priority);
    const connection = this.#open(giveUp.signal, start);
    this.#state = { kind: 'connecting', connection, giveUp, start };
    // Callers get the rejection through `connect`; without callers it must not count as unhandled.
    connection.catch(() => {});
    this.#deps.onStateChange();
    return connection;
  }

  async #open(signal: AbortSignal, start: StartPlace): Promise<Connection> {
    const outcome = await this.#deps.open(signal, start);
    if (this.#state.kind === 'closed') {
      if (outcome.kind === 'connected') await this.#closeConnection(outcome.connection);
      throw lostConnection(this.#server, 'it was closed while connecting', false).error;
    }
    if (outcome.kind === 'failed') throw this.#failed(outcome.failure.error);
    const { connection, via } = outcome;
    this.#state = { kind: 'connected', connection, via, since: this.#deps.clock.monotonic() };
    this.#lastError = undefined;
    this.#deps.onConnected(connection);
    return connection;
  }

  /** Enters the waiting state and returns the error for the waiting callers. */
  #failed(cause: HubError): HubError {
    const { logger, redact, random } = this.#deps;
    const error = redactedFailure(cause, redact);
    this.#lastError = error;
    logger.warn('upstream.connect-failed', { server: this.#server, code: error.code, error: error.message });
    const plan = planAfterFailedConnect(error, this.#breaker, random());
    this.#breaker = plan.breaker;
    return this.#wait(plan, error);
  }

  #wait({ word, waitMs, isTimed }: RetryPlan, error: HubError): HubError {
    const { clock } = this.#deps;
    const again = (): void => void this.#begin('background');
    const timer = isTimed && this.#deps.isKeptOpen() ? clock.setTimer(waitMs, again) : undefined;
    const state = { kind: 'waiting', word, until: clock.now() + waitMs, error, timer } as const;
    this.#state = state;
    this.#deps.onUnavailable();
    this.#deps.onStateChange();
    return this.#unavailable(state);
  }

  /** Never rejects, because no caller could react to it. */
  #closeConnection(connection: Connection): Promise<void> {
    return connection.close().catch((error: unknown) => {
      this.#deps.logger.error('upstream.defect-contained', { server: this.#server, ...defectFields(error) });
    });
  }

  #unavailable(state: ConnectionState & { kind: 'waiting' }): HubError {
    return unavailable(this.#server, state.word, state.error, Math.max(0, state.until - this.#deps.clock.now()));
  }
}
