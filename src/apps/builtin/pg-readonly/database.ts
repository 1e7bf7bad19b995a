import type { Client, ClientConfig, Pool, PoolClient } from 'pg';
import type { ConnectionOptions, parse } from 'pg-connection-string';
import { type Clock, type Logger, sleep } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import { createTurns } from '../turns.ts';
import { explainConnectFailure, explainFailure, isRefusal } from './faults.ts';
import { createSession, type Session } from './session.ts';

/** A database that is only read. */
export interface Database {
  /**
   * Runs within one read-only transaction that is always rolled back, on a connection of the pool. An aborted signal
   * cancels the statement in PostgreSQL, too. Throws ToolFaults.
   */
  read<T>(signal: AbortSignal, run: (session: Session) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Never told to anybody. */
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
/** Idle connections are given back to the database. */
const idleMs = 30_000;
/** PostgreSQL cuts results long before; error messages it does not. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** Throws whatever pg makes of an address that it cannot read, or of a certificate there that it cannot. */
export function createDatabase(deps: DatabaseDeps, options: DatabaseOptions): Database {
  return new PooledDatabase(deps, options);
}

class PooledDatabase implements Database {
  readonly #deps: DatabaseDeps;
  readonly #options: DatabaseOptions;
  readonly #config: ClientConfig;
  readonly #pool: Pool;
  readonly #turns: ReturnType<typeof createTurns>;
  /** Bytes that a connection has answered with since its last statement was sent. */
  readonly #answered = new WeakMap<Client, number>();
  #ended: Promise<void> | undefined;

  constructor(deps: DatabaseDeps, options: DatabaseOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#turns = createTurns(options.connections);
    // Reads the address now: a wrong one is told before anybody calls.
    this.#config = clientConfig(deps.readAddress(options.url), options.timeoutSeconds);
    new deps.Client(this.#config);
    this.#pool = new deps.Pool({ ...this.#config, max: options.connections, idleTimeoutMillis: idleMs });
    // An idle connection was lost. The pool has dropped it, and the next call opens another.
    this.#pool.on('error', () => deps.logger.debug('pg_idle_connection_lost'));
    this.#pool.on('connect', (client) => this.#watch(client));
  }

  async read<T>(signal: AbortSignal, run: (session: Session) => Promise<T>): Promise<T> {
    try {
      const endTurn = await this.#turns.take(signal);
      try {
        const { client, pid } = await this.#begin();
        return await this.#within(client, pid, signal, run);
      } finally {
        endTurn();
      }
    } catch (error) {
      if (signal.aborted) throw new ToolFault('The call was cancelled, and its statement with it.');
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#ended ??= this.#pool.end();
    // A connection that does not answer any more must not keep the process.
    const late = new AbortController();
    await Promise.race([this.#ended, sleep(this.#deps.clock, closeMs, late.signal)]);
    late.abort();
  }

  /** Connections that died in the pool are found out here; what they are asked first may be asked again. */
  async #begin(): Promise<{ client: PoolClient; pid: string }> {
    for (let left = this.#options.connections; ; left--) {
      const client = await this.#connect();
      try {
        const results: unknown = await client.query(beginSql(this.#options.timeoutSeconds));
        return { client, pid: pidOf(results) };
      } catch (error) {
        client.release(true);
        const gone = !isRefusal(error) || error.severity === 'FATAL';
        if (!gone || left === 0) {
          throw explainFailure(error, { before: 0, length: 0, timeoutSeconds: this.#options.timeoutSeconds });
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
        .catch(() => this.#deps.logger.warn('pg_cancel_failed'))
        .finally(() => client.connection.stream.destroy());
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      return await run(this.#sessionOf(client));
    } finally {
      signal.removeEventListener('abort', cancel);
      await cancelled;
      // Where a cancel was on its way, or the end of the transaction is not known, nobody else gets the connection.
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
      // Locks of the session are the one thing that a statement can take and a rollback leaves.
      await client.query('ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()');
      return true;
    } catch {
      this.#deps.logger.debug('pg_connection_dropped');
      return false;
    }
  }

  /** By a connection of its own: all of the pool may be busy. */
  async #cancel(pid: string): Promise<void> {
    const client = new this.#deps.Client(this.#config);
    // What fails rejects, too.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('SELECT pg_catalog.pg_cancel_backend($1)', [pid]);
    } finally {
      await client.end();
    }
  }

  #watch(client: Client): void {
    // The statement under way rejects with it; without a listener it would end the process.
    client.on('error', () => {});
    const { stream } = client.connection;
    stream.on('data', (chunk: Buffer) => {
      const bytes = (this.#answered.get(client) ?? 0) + chunk.length;
      this.#answered.set(client, bytes);
      if (bytes > maxAnswerBytes) stream.destroy(new ToolFault('The answer is too large. Ask for less.'));
    });
  }
}

/**
 * What an address lacks, pg takes from variables and files of this process. That may be a hub, whose own are nothing to
 * a server, so nothing is left open; of no password it is told so.
 */
function clientConfig(given: ConnectionOptions, timeoutSeconds: number): ClientConfig {
  if (!given.user) throw new TypeError('The address names no user.');
  return {
    ssl: false,
    sslnegotiation: 'postgres',
    application_name: 'quartermaster',
    // What pg itself makes of an address; the types of the two do not agree.
    ...(given as object),
    port: Number(given.port || 5432),
    host: given.host || 'localhost',
    database: given.database || given.user,
    password: given.password || (() => ''),
    // Of settings that are there twice the last one counts.
    options: `${given.options ?? ''} -c default_transaction_read_only=on`.trim(),
    connectionTimeoutMillis: connectMs,
    // For a network that swallows packets; PostgreSQL's own timeout comes first.
    query_timeout: (timeoutSeconds + 5) * 1_000,
    keepAlive: true,
  };
}

/**
 * The settings are made by a query: after one, PostgreSQL does not let the transaction become a writing one. Text is
 * read as the parser reads it, whatever is set for the role. Our own text with our own numbers, so it goes in one.
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

/** Of several statements pg gives a list of results. */
function pidOf(results: unknown): string {
  const [, { rows }] = results as [unknown, { rows: { pid: string }[] }];
  return rows[0]?.pid ?? '';
}
