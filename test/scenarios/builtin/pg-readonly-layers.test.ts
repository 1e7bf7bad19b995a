import pg from 'pg';
import { parse } from 'pg-connection-string';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../../src/apps/builtin/pg-readonly/database.ts';
import { readRows } from '../../../src/apps/builtin/pg-readonly/rows.ts';
import { createSession, type Session } from '../../../src/apps/builtin/pg-readonly/session.ts';
import { createSqlParser } from '../../../src/apps/builtin/pg-readonly/sql-parser.ts';
import { readStatement } from '../../../src/apps/builtin/pg-readonly/statement.ts';
import { refuseVolatileCalls } from '../../../src/apps/builtin/pg-readonly/volatile-calls.ts';
import { ToolFault } from '../../../src/apps/serving/index.ts';
import { createSilentLogger, createSystemClock } from '../../../src/base/index.ts';
import { verifies } from '../../support/verifies.ts';
import { within } from '../../support/within.ts';
import { connect, portrait, type Shop, startShop } from './pg-readonly.fixture.ts';
import { escapes } from './pg-readonly-escapes.fixture.ts';

/** Each layer is alone here: where one is tested, the others are not there. */

let shop: Shop;
let before: Record<string, string>;
const call = new AbortController();
const deps = {
  clock: createSystemClock(),
  logger: createSilentLogger(),
  Client: pg.Client,
  Pool: pg.Pool,
  readAddress: parse,
};

beforeAll(async () => {
  shop = await startShop();
  before = await portrait(shop);
});

afterAll(async () => {
  await shop?.stop();
});

describe('the transaction, with statements sent as they are', () => {
  let database: Database;

  beforeAll(() => {
    database = createDatabase(deps, { url: shop.url, connections: 1, timeoutSeconds: 10 });
  });

  afterAll(async () => {
    await database?.close();
  });

  const raw = (...statements: string[]): Promise<unknown> =>
    database.read(call, async (session) => {
      let last: unknown;
      for (const statement of statements) last = await session.query(statement.replaceAll('FILES', shop.files));
      return last;
    });

  test.each(['statements', 'inside', 'locks'] as const)('nothing comes of %s', { timeout: 180_000 }, async (group) => {
    for (const attempt of escapes[group]) {
      await within(raw(attempt), attempt).catch((error: unknown) => expect(error, attempt).toBeInstanceOf(ToolFault));
      expect(await portrait(shop), attempt).toEqual(before);
    }
  });

  test(verifies('builtin:pg-layers', 'functions that write are stopped by it'), async () => {
    for (const call of ['touch()', 'touch_sql()', 'as_superuser()', `nextval('tickets')`, `setval('tickets', 9)`]) {
      await expect(raw(`SELECT ${call}`), call).rejects.toThrow('25006');
    }
    // Refused since PostgreSQL 16; before that it is rolled back.
    await raw(`SELECT lo_put(4242, 0, 'stolen')`).catch((error: unknown) => expect(error).toBeInstanceOf(ToolFault));
    expect(await portrait(shop)).toEqual(before);
  });

  test('it cannot become one that writes', async () => {
    await expect(raw('SET TRANSACTION READ WRITE')).rejects.toThrow('25001');
    await expect(raw('BEGIN READ WRITE')).rejects.toThrow('25001');
    await expect(raw(`SELECT set_config('transaction_read_only', 'off', true)`)).rejects.toThrow('25001');
    await expect(raw('SAVEPOINT a', 'SET TRANSACTION READ WRITE')).rejects.toThrow(ToolFault);
  });

  test('a statement that leaves the transaction is in another read-only one', async () => {
    await expect(raw('COMMIT', `INSERT INTO log VALUES ('x')`)).rejects.toThrow('25006');
    await expect(raw('COMMIT', 'BEGIN', 'DELETE FROM orders')).rejects.toThrow('25006');
    await expect(raw('COMMIT AND CHAIN', 'DELETE FROM orders')).rejects.toThrow('25006');
    expect(await portrait(shop)).toEqual(before);
  });

  test('it reads only by itself, too, where the connection has lost its default', async () => {
    await raw('SET default_transaction_read_only = off', 'COMMIT');
    expect(await raw('SHOW default_transaction_read_only')).toMatchObject({ rows: [['off']] });
    await expect(raw('DELETE FROM orders')).rejects.toThrow('25006');
    await raw('SET default_transaction_read_only = on', 'COMMIT');
  });

  test('text is read as the parser reads it, whatever the role has set', async () => {
    await shop.admin.query(`ALTER ROLE shop_owner SET standard_conforming_strings = off;
      ALTER ROLE shop_owner SET client_encoding = 'SJIS'`);
    const other = createDatabase(deps, { url: shop.url, connections: 1, timeoutSeconds: 10 });
    try {
      const { rows } = await other.read(call, (session) => session.query(`SELECT 'a\\', 'é', length('名')`));
      expect(rows).toEqual([['a\\', 'é', '1']]);
    } finally {
      await other.close();
      await shop.admin.query('ALTER ROLE shop_owner RESET ALL');
    }
  });

  test('options in the address do not switch it off', async () => {
    const url = `${shop.url}?options=${encodeURIComponent('-c default_transaction_read_only=off -c work_mem=8MB')}#x`;
    const other = createDatabase(deps, { url, connections: 1, timeoutSeconds: 10 });
    try {
      const look = `SELECT current_setting('work_mem'), current_setting('default_transaction_read_only')`;
      const { rows } = await other.read(call, (session) => session.query(look));
      expect(rows).toEqual([['8MB', 'on']]);
    } finally {
      await other.close();
    }
  });

  test('settings, locks and tables of a statement are gone for the next one', async () => {
    await raw(
      `SELECT set_config('work_mem', '9MB', false)`,
      'SELECT pg_advisory_lock(5)',
      `SELECT set_config('role', 'pg_monitor', false) WHERE false`,
    );
    expect(await raw(`SELECT current_setting('work_mem'), count(*) FROM pg_locks WHERE locktype = 'advisory'`)).toEqual(
      {
        columns: ['current_setting', 'count'],
        rows: [['4MB', '0']],
      },
    );
  });
});

describe('one statement inside of ours, on a connection that may write', () => {
  let client: pg.Client;
  let session: Session;

  beforeAll(async () => {
    client = await connect(shop.url);
    session = createSession(client, 10);
  });

  afterAll(async () => {
    await client?.end();
  });

  test('this connection really writes', async () => {
    await client.query('BEGIN');
    await session.query(`INSERT INTO log VALUES ('x')`);
    expect((await session.query('SELECT line FROM log')).rows).toEqual([['x']]);
    await client.query('ROLLBACK');
  });

  test(verifies('builtin:pg-layers', 'PostgreSQL itself refuses a second statement'), async () => {
    for (const sql of [`COMMIT; INSERT INTO log VALUES ('x')`, 'SELECT 1; DELETE FROM orders', 'SELECT 1; SELECT 2']) {
      await expect(session.query(sql), sql).rejects.toThrow('42601');
    }
    expect(await portrait(shop)).toEqual(before);
  });

  test('only a query is accepted in the place of a query', { timeout: 180_000 }, async () => {
    for (const attempt of escapes.statements) {
      const outcome = await within(readRows(session, attempt, 10), attempt).catch((error: unknown) => error);
      expect(outcome, attempt).toBeInstanceOf(ToolFault);
      expect(await portrait(shop), attempt).toEqual(before);
    }
  });
});

describe('the parser and the list of calls, on a connection that may write', () => {
  let client: pg.Client;
  const parser = createSqlParser();

  beforeAll(async () => {
    client = await connect(shop.url);
  });

  afterAll(async () => {
    await client?.end();
  });

  test.each(['statements', 'calls', 'locks', 'texts'] as const)(
    verifies('builtin:pg-layers', '%s do not pass'),
    { timeout: 180_000 },
    async (group) => {
      const passed: string[] = [];
      for (const attempt of escapes[group]) {
        try {
          const { mentions } = readStatement(attempt, await parser.parse(attempt));
          await refuseVolatileCalls(createSession(client, 10), mentions, []);
          passed.push(attempt.slice(0, 100));
        } catch (error) {
          expect(error, attempt.slice(0, 100)).toBeInstanceOf(ToolFault);
        }
      }
      expect(passed).toEqual([]);
      expect(await portrait(shop)).toEqual(before);
    },
  );

  test('a parser that overflowed is not asked again', { timeout: 180_000 }, async () => {
    const deep = `SELECT 1${'+1'.repeat(9_900)}`;
    for (let round = 0; round < 35; round++) {
      await expect(parser.parse(deep)).rejects.toThrow('too deeply');
      expect(readStatement('SELECT a', await parser.parse('SELECT a')).text).toBe('SELECT a');
    }
  });

  test('long rows of operators, which would keep it busy, do not reach it', async () => {
    await expect(parser.parse(`SELECT 1 ${'+'.repeat(10_000)} 1`)).rejects.toThrow('operator');
    await expect(parser.parse('/*'.repeat(9_000))).rejects.toThrow('operator');
    await expect(parser.parse(`--${'='.repeat(200)}\nSELECT 1`)).resolves.toHaveProperty('stmts');
  });
});
