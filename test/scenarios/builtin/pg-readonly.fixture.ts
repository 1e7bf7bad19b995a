import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { pgReadonly } from '../../../src/apps/builtin/pg-readonly/pg-readonly.ts';
import { createSilentLogger, createSystemClock } from '../../../src/base/index.ts';
import { startPostgres, type TestPostgres } from '../../support/postgres.ts';

export const owner = { user: 'shop_owner', password: 'the-password-of-the-owner' };

/** A database with everything in it that a caller could try to misuse. */
export interface Shop {
  readonly postgres: TestPostgres;
  /** Of the owner of all tables. */
  readonly url: string;
  readonly superUrl: string;
  /** Where PostgreSQL could write files. */
  readonly files: string;
  /** A writing connection, to look and to set up. */
  readonly admin: pg.Client;
  stop(): Promise<void>;
}

export async function startShop(): Promise<Shop> {
  const postgres = await startPostgres();
  const first = await connect(postgres.url());
  await first.query(`CREATE ROLE ${owner.user} LOGIN PASSWORD '${owner.password}'`);
  await first.query(`CREATE DATABASE shop OWNER ${owner.user}`);
  await first.end();
  const superUrl = postgres.url(undefined, 'shop');
  const url = postgres.url(owner, 'shop');
  const admin = await connect(superUrl);
  await admin.query(extensions);
  const own = await connect(url);
  await own.query(tables);
  await own.query(traps);
  await own.end();
  await admin.query(`CREATE FUNCTION as_superuser() RETURNS int SECURITY DEFINER LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO log VALUES ('superuser'); RETURN 1; END $$; ANALYZE`);
  const files = join(postgres.folder, 'data', 'files');
  await mkdir(files, { mode: 0o777 });
  return {
    postgres,
    url,
    superUrl,
    files,
    admin,
    async stop() {
      await admin.end();
      await postgres.stop();
    },
  };
}

export async function connect(url: string, application_name = 'test'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** The server that is under test, by its tools. */
export interface OpenServer {
  call(tool: string, args: object, signal?: AbortSignal): Promise<Result>;
  sql(text: string, signal?: AbortSignal): Promise<Result>;
  close(): Promise<void>;
}

export interface Result {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowCount: number;
  readonly truncated: boolean;
  readonly note?: string;
}

export async function openServer(url: string, ...args: string[]): Promise<OpenServer> {
  const deps = { clock: createSystemClock(), logger: createSilentLogger() };
  const server = await pgReadonly.open({ args, env: { PG_RO_URL: url }, cwd: '/' }, deps);
  const call: OpenServer['call'] = async (name, given, signal = new AbortController().signal) => {
    const tool = server.tools.find((each) => each.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const { text, structured } = await tool.run(tool.input.parse(given), { signal });
    if (JSON.stringify(structured) !== text) throw new Error('text and value differ');
    // What the tools of this server give.
    return JSON.parse(text) as Result;
  };
  return { call, sql: (sql, signal) => call('execute_query', { sql }, signal), close: () => server.close() };
}

/** Everything that an escape could change, as text: contents, catalogs, sequences, locks, large objects, files. */
export async function portrait({ admin, files }: Shop): Promise<Record<string, string>> {
  const columns = Object.entries(looks).map(([name, sql]) => `coalesce((${sql})::text, 'nothing') AS "${name}"`);
  const { rows } = await admin.query<Record<string, string>>(`SELECT ${columns.join(', ')}`);
  return { ...rows[0], files: (await readdir(files)).join() };
}

const looks: Readonly<Record<string, string>> = {
  contents: `SELECT jsonb_object_agg(c.oid::regclass, query_to_xml(format('SELECT * FROM %s t ORDER BY t::text', c.oid::regclass), true, true, ''))
    FROM pg_class c WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, '"Odd Names"'::regnamespace)`,
  // Rows of catalogs are replaced when they are changed, so the youngest tells.
  catalogs: `SELECT string_agg(count || ' ' || youngest, ',') FROM (
    ${[
      'class',
      'attribute',
      'proc',
      'type',
      'namespace',
      'trigger',
      'rewrite',
      'authid',
      'database',
      'description',
      'extension',
      'constraint',
    ]
      .map((name) => `SELECT count(*), max(xmin::text::bigint) AS youngest FROM pg_${name}`)
      .join(' UNION ALL ')}) AS c`,
  settings: `SELECT (SELECT count(*) FROM pg_db_role_setting) || ',' || (SELECT count(*) FROM pg_file_settings WHERE sourcefile ~ 'auto')`,
  sequences: `SELECT string_agg(sequencename || coalesce(last_value, -1), ',' ORDER BY 1) FROM pg_sequences`,
  locks: `SELECT string_agg(l::text, ',') FROM pg_locks l WHERE locktype = 'advisory'`,
  largeObjects: `SELECT string_agg(loid || ':' || encode(data, 'hex'), ',' ORDER BY loid, pageno) FROM pg_largeobject`,
  largeObjectNames: `SELECT string_agg(oid::text, ',' ORDER BY oid) FROM pg_largeobject_metadata`,
  slots: `SELECT count(*) FROM pg_replication_slots`,
  prepared: `SELECT count(*) FROM pg_prepared_xacts`,
  bystanders: `SELECT string_agg(pid::text, ',' ORDER BY pid) FROM pg_stat_activity WHERE application_name = 'bystander'`,
};

const extensions = `
CREATE EXTENSION dblink; CREATE EXTENSION tablefunc; CREATE EXTENSION pgcrypto; CREATE EXTENSION lo;`;

const tables = `
CREATE TABLE accounts (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  balance numeric(30, 2) NOT NULL DEFAULT 0 CHECK (balance >= 0),
  vip boolean,
  big bigint,
  tags text[] NOT NULL DEFAULT '{}');
COMMENT ON TABLE accounts IS 'Who buys';
COMMENT ON COLUMN accounts.name IS 'How they are called';
CREATE TABLE orders (
  id int PRIMARY KEY, account_id int NOT NULL REFERENCES accounts, placed timestamptz NOT NULL, details jsonb);
CREATE INDEX orders_by_time ON orders (placed);
CREATE TABLE log (line text);
CREATE SEQUENCE tickets;
SELECT nextval('tickets');
CREATE SCHEMA "Odd Names";
CREATE TABLE "Odd Names"."Täble.x" ("sel""ect" int, "Ünïcode 名" text);
INSERT INTO "Odd Names"."Täble.x" VALUES (1, 'one'), (2, 'it''s "two"');
INSERT INTO accounts (name, balance, vip, big, tags) VALUES
  ('ada', 12345678901234567890.12, true, 9007199254740993, '{a,b}'), ('bob', 5.50, false, 7, '{}'), ('cyd', 0, NULL, NULL, '{c}');
INSERT INTO orders SELECT n, 1 + n % 3, '2026-01-01'::timestamptz + n * interval '1 hour', jsonb_build_object('n', n, 'price', 1.10)
  FROM generate_series(1, 30) n;
CREATE VIEW big_spenders AS SELECT name, count(*) AS orders FROM accounts JOIN orders ON account_id = accounts.id GROUP BY name;
SELECT lo_from_bytea(4242, 'precious');`;

const traps = `
CREATE FUNCTION touch() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES ('touched'); RETURN 1; END $$;
CREATE FUNCTION touch_sql() RETURNS int LANGUAGE sql AS $$ INSERT INTO log VALUES ('touched') RETURNING 1 $$;
CREATE FUNCTION bump(accounts) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES ('bumped'); RETURN 1; END $$;
CREATE FUNCTION lock_by_row(accounts) RETURNS int LANGUAGE sql AS $$ SELECT 1 FROM pg_advisory_lock(77) $$;
CREATE FUNCTION lying() RETURNS int STABLE LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES ('lied'); RETURN 1; END $$;
CREATE FUNCTION liar() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'UPDATE accounts SET balance = 0'; RETURN 1; END $$;
CREATE FUNCTION eater(int, int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES ('eaten'); RETURN true; END $$;
CREATE OPERATOR === (leftarg = int, rightarg = int, function = eater);
CREATE FUNCTION summing(int, int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES ('summed'); RETURN 1; END $$;
CREATE AGGREGATE total(int) (sfunc = summing, stype = int, initcond = '0');
CREATE TYPE coin AS (cents int);
CREATE FUNCTION to_coin(int) RETURNS coin LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES ('coined'); RETURN row($1)::coin; END $$;
CREATE CAST (int AS coin) WITH FUNCTION to_coin(int);
CREATE SCHEMA hidden;
CREATE FUNCTION hidden.touch_hidden() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES ('hidden'); RETURN 1; END $$;
CREATE FUNCTION hidden.random() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES ('hidden'); RETURN 1; END $$;
CREATE FUNCTION "Tóuch me"() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES ('odd'); RETURN 1; END $$;
CREATE VIEW touching AS SELECT touch() AS touched;
CREATE PROCEDURE clean_up() LANGUAGE plpgsql AS $$ BEGIN DELETE FROM orders; COMMIT; END $$;
CREATE FUNCTION on_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (tg_op); RETURN NULL; END $$;
CREATE TRIGGER watch AFTER INSERT OR UPDATE OR DELETE ON accounts EXECUTE FUNCTION on_change();
CREATE DOMAIN watched AS int CHECK (touch() = 1);
CREATE FUNCTION reader() RETURNS bigint STABLE LANGUAGE sql AS $$ SELECT count(*) FROM orders $$;
CREATE FUNCTION odd_reader() RETURNS bigint VOLATILE LANGUAGE sql AS $$ SELECT count(*) FROM orders $$;`;
