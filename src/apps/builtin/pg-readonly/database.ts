import type { Client, ClientConfig, Pool, PoolClient } from 'pg';
import type { ConnectionOptions, parse } from 'pg-connection-string';
import { type Clock, type Logger, settlesWithin } from '../../../base/index.ts';
import { type ToolContext, ToolFault } from '../../serving/index.ts';
import { createSemaphore } from '../semaphore.ts';
import { explainConnectFailure, explainQueryFailure, isQueryRefusal } from './query-failures.ts';
import { createSession, type Session } from './session.ts';

/** A database that is only read. */
export interface Database {
  /**
   * Runs within one read-only transaction that is always rolled back, on a pooled connection. A cancelled call
   * also cancels the statement in PostgreSQL. Throws ToolFaults.
   */
  read<T>(call: ToolContext, run: (session: Session) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Never appears in messages or logs. */
  readonly url: string;
  readonly connections: number;
  readonly timeoutSeconds: number;
}

export interface DatabaseDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly Pool: typeof Pool;
  readonly Client: typeof Client;
  readonly readAddress: typeof parse;
}

const connectMs = 10_000;
const closeMs = 5_000;
/** Idle connections are closed after this time. */
const idleMs = 30_000;
/** Results of queries are cut far below this; error messages and EXPLAIN output are not. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** Throws pg's own error if it cannot read the address, or a certificate that the address names. */
export function createDatabase(deps: DatabaseDeps, options: DatabaseOptions): Database {
  return new PooledDatabase(deps, options);
}

class PooledDatabase implements Database {
  readonly #deps: DatabaseDeps;
  readonly #options: DatabaseOptions;
  readonly #config: ClientConfig;
  readonly #pool: Pool;
  readonly #turns: ReturnType<typeof createSemaphore>;
  /** The bytes a connection has received since its last statement was sent. */
  readonly #answered = new WeakMap<Client, number>();
  #ended: Promise<void> | undefined;

  constructor(deps: DatabaseDeps, options: DatabaseOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#turns = createSemaphore(options.connections);
    // Parses the address now, to report a wrong one before the first call.
    this.#config = clientConfig(deps.readAddress(options.url), options.timeoutSeconds);
    new deps.Client(this.#config);
    this.#pool = new deps.Pool({ ...this.#config, max: options.connections, idleTimeoutMillis: idleMs });
    // An idle connection was lost. The pool has dropped it, and the next call opens another.
    this.#pool.on('error', () => deps.logger.debug('pg.idle-connection-lost'));
    this.#pool.on('connect', (client) => this.#watch(client));
  }

  async read<T>({ signal, agent }: ToolContext, run: (session: Session) => Promise<T>): Promise<T> {
    try {
      const endTurn = await this.#turns.of(agent).take(signal);
      try {
        const { client, pid } = await this.#begin();
        return await this.#within(client, pid, signal, run);
      } finally {
        endTurn();
      }
    } catch (error) {
      if (signal.aborted) throw new ToolFault('The call and its statement were cancelled.');
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#ended ??= this.#pool.end();
    // A connection that no longer responds must not keep the process alive.
    await settlesWithin(this.#deps.clock, closeMs, this.#ended);
  }

  /** Detects pooled connections that have died. The first statement has no effect, so it can be retried. */
  async #begin(): Promise<{ client: PoolClient; pid: string }> {
    for (let left = this.#options.connections; ; left--) {
      const client = await this.#connect();
      try {
        const results: unknown = await client.query(beginSql(this.#options.timeoutSeconds));
        return { client, pid: pidOf(results) };
      } catch (error) {
        client.release(true);
        const gone = !isQueryRefusal(error) || error.severity === 'FATAL';
        if (!gone || left === 0) {
          throw explainQueryFailure(error, { before: 0, length: 0, timeoutSeconds: this.#options.timeoutSeconds });
        }
      }
    }
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw explainConnectFailure(error);
    }
  }

  async #within<T>(
    client: PoolClient,
    pid: string,
    signal: AbortSignal,
    run: (session: Session) => Promise<T>,
  ): Promise<T> {
    let cancelled: Promise<void> | undefined;
    const cancel = (): void => {
      cancelled = this.#cancel(pid)
        // PostgreSQL ends the statement at its timeout.
        .catch(() => this.#deps.logger.warn('pg.cancel-failed'))
        .finally(() => client.connection.stream.destroy());
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      return await run(this.#sessionOf(client));
    } finally {
      signal.removeEventListener('abort', cancel);
      await cancelled;
      // Discard the connection if a cancel was in flight or the state of the transaction is unknown.
      client.release(cancelled !== undefined || !(await this.#rollBack(client)));
    }
  }

  #sessionOf(client: Client): Session {
    const session = createSession(client, this.#options.timeoutSeconds);
    return {
      query: (...statement) => {
        this.#answered.set(client, 0);
        return session.query(...statement);
      },
    };
  }

  async #rollBack(client: Client): Promise<boolean> {
    try {
      // Session-level advisory locks are the only thing a statement can take that a rollback keeps.
      await client.query('ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()');
      return true;
    } catch {
      this.#deps.logger.debug('pg.connection-dropped');
      return false;
    }
  }

  /** Uses a separate connection, because the whole pool may be busy. */
  async #cancel(pid: string): Promise<void> {
    const client = new this.#deps.Client(this.#config);
    // The failing calls reject too.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('SELECT pg_catalog.pg_cancel_backend($1)', [pid]);
    } finally {
      await client.end();
    }
  }

  #watch(client: Client): void {
    // The statement in flight rejects with it. Without a listener the error would end the process.
    client.on('error', () => {});
    const { stream } = client.connection;
    stream.on('data', (chunk: Buffer) => {
      const bytes = (this.#answered.get(client) ?? 0) + chunk.length;
      this.#answered.set(client, bytes);
      if (bytes > maxAnswerBytes) stream.destroy(new ToolFault('The result is too large. Request less.'));
    });
  }
}

/**
 * pg fills gaps in an address from variables and files of this process. That may be a hub, whose environment must not
 * leak into a server, so every option is set here, including an empty password.
 */
function clientConfig(given: ConnectionOptions, timeoutSeconds: number): ClientConfig {
  if (!given.user) throw new TypeError('The address names no user.');
  return {
    ssl: false,
    sslnegotiation: 'postgres',
    application_name: 'quartermaster',
    // pg itself does the same; the two types disagree.
    ...(given as object),
    port: Number(given.port || 5432),
    host: given.host || 'localhost',
    database: given.database || given.user,
    password: given.password || (() => ''),
    // If a setting occurs twice, the last one wins.
    options: `${given.options ?? ''} -c default_transaction_read_only=on`.trim(),
    connectionTimeoutMillis: connectMs,
    // For a network that drops packets; PostgreSQL's own timeout comes first.
    query_timeout: (timeoutSeconds + 5) * 1_000,
    keepAlive: true,
  };
}

/**
 * The settings are made by a query, because after one PostgreSQL does not let the
 * transaction become writable. They make
 * the server read text as the parser does, whatever the role sets. The text and the numbers are our own, so one
 * simple query is safe.
 */
function beginSql(timeoutSeconds: number): string {
  const settings = {
    statement_timeout: timeoutSeconds * 1_000,
    lock_timeout: Math.min(timeoutSeconds, 10) * 1_000,
    idle_in_transaction_session_timeout: (timeoutSeconds + 30) * 1_000,
    client_encoding: 'UTF8',
    standard_conforming_strings: 'on',
    client_min_messages: 'error',
  };
  const set = Object.entries(settings).map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`);
  return (
    'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; ' +
    `SELECT pg_catalog.pg_backend_pid()::pg_catalog.text AS pid, ${set.join(', ')}`
  );
}

/** For several statements pg returns a list of results. */
function pidOf(results: unknown): string {
  const [, { rows }] = results as [unknown, { rows: { pid: string }[] }];
  return rows[0]?.pid ?? '';
}
