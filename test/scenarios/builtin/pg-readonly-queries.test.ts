import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../../support/verifies.ts';
import { type OpenServer, openServer, portrait, type Shop, startShop } from './pg-readonly.fixture.ts';

let shop: Shop;
let server: OpenServer;

beforeAll(async () => {
  shop = await startShop();
  server = await openServer(shop.url, '--max-rows', '50');
});

afterAll(async () => {
  await server?.close();
  await shop?.stop();
});

/** What people ask, and how many rows there are. */
const ordinary: readonly (readonly [sql: string, rows: number])[] = [
  ['SELECT 1', 1],
  ['SELECT * FROM accounts;', 3],
  ['  -- a comment\nSELECT /* another */ name FROM accounts -- the end', 3],
  ['VALUES (1, $$a$$), (2, $$b$$)', 2],
  ['TABLE accounts', 3],
  ['(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1 DESC', 2],
  ['SELECT name, count(*) FROM accounts a JOIN orders o ON o.account_id = a.id GROUP BY name HAVING count(*) > 1', 3],
  ['SELECT * FROM accounts a LEFT JOIN orders o USING (id)', 3],
  ['WITH top AS (SELECT * FROM orders ORDER BY placed DESC LIMIT 5) SELECT * FROM top', 5],
  ['WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT * FROM n', 10],
  ['SELECT id, row_number() OVER (PARTITION BY account_id ORDER BY placed) FROM orders LIMIT 7', 7],
  ['SELECT id, lag(placed) OVER w FROM orders WINDOW w AS (ORDER BY placed) LIMIT 2', 2],
  [`SELECT details->>'n', details @> '{"n": 3}' FROM orders WHERE details ? 'price'`, 30],
  [`SELECT jsonb_path_query(details, '$.n') FROM orders WHERE id < 4`, 3],
  [`SELECT key, value FROM orders, jsonb_each(details) WHERE id = 1`, 2],
  ['SELECT * FROM generate_series(1, 10) WITH ORDINALITY', 10],
  [`SELECT date_trunc('day', d) FROM generate_series('2026-01-01'::timestamptz, '2026-01-05', '1 day') d`, 5],
  ['SELECT unnest(tags) FROM accounts', 3],
  [
    `SELECT string_agg(name, ', ' ORDER BY name) FILTER (WHERE vip), percentile_cont(0.5) WITHIN GROUP (ORDER BY balance) FROM accounts`,
    1,
  ],
  ['SELECT GROUPING(vip), vip, sum(balance) FROM accounts GROUP BY ROLLUP (vip)', 4],
  ['SELECT a.name, o.id FROM accounts a, LATERAL (SELECT id FROM orders WHERE account_id = a.id LIMIT 2) o', 6],
  [`SELECT name FROM accounts WHERE id IN (SELECT account_id FROM orders) AND EXISTS (SELECT 1) AND name ~ '^a'`, 1],
  [
    `SELECT CASE vip WHEN true THEN 'yes' ELSE coalesce(name, 'no') END FROM accounts WHERE name ILIKE 'A%' OR balance BETWEEN 1 AND 9`,
    2,
  ],
  [`SELECT extract(year FROM placed), placed AT TIME ZONE 'UTC', now() - placed, current_user FROM orders LIMIT 1`, 1],
  [`SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`, 3],
  [`SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'orders'`, 4],
  [`SELECT pg_size_pretty(pg_total_relation_size('orders')), pg_get_viewdef('big_spenders'::regclass)`, 1],
  ['SELECT count(*) FROM pg_stat_activity', 1],
  ['SELECT * FROM big_spenders', 3],
  ['SELECT reader()', 1],
  ['SELECT random() < 2, gen_random_uuid() IS NOT NULL, clock_timestamp() > now()', 1],
  ['SELECT * FROM orders TABLESAMPLE BERNOULLI (100) LIMIT 4', 4],
  [`SELECT to_tsvector('english', 'cats') @@ to_tsquery('cat')`, 1],
  [`SELECT DISTINCT ON (account_id) account_id, id FROM orders ORDER BY account_id, placed DESC`, 3],
  ['SELECT "sel""ect" FROM "Odd Names"."Täble.x"', 2],
  [`SELECT U&'d\\0061t\\+000061', E'a\\tb', $x$it's$x$, 'é名😀'`, 1],
  [`SELECT json_build_object('a', 1), JSON_OBJECT('b' : 2), xmlelement(name c, 3)`, 1],
  [`SELECT encode(digest('a', 'sha256'), 'hex')`, 1],
  ['EXPLAIN SELECT * FROM orders', 1],
  ['EXPLAIN (ANALYZE, FORMAT JSON) SELECT count(*) FROM orders', 1],
  ['SHOW server_version', 1],
  ['SELECT', 1],
];

test.each(ordinary)('%s', async (sql, rows) => {
  const result = await server.sql(sql);
  expect(result.rowCount).toBe(rows);
  expect(result.rows).toHaveLength(rows);
  expect(result.truncated).toBe(false);
});

describe('results', () => {
  test('are exact, also where JavaScript has no number for them', async () => {
    const { columns, rows } = await server.sql('SELECT name, balance, big, vip, tags FROM accounts ORDER BY id');
    expect(columns).toEqual(['name', 'balance', 'big', 'vip', 'tags']);
    expect(rows).toEqual([
      { name: 'ada', balance: '12345678901234567890.12', big: '9007199254740993', vip: true, tags: ['a', 'b'] },
      { name: 'bob', balance: 5.5, big: 7, vip: false, tags: [] },
      { name: 'cyd', balance: 0, big: null, vip: null, tags: ['c'] },
    ]);
  });

  test('keep columns of the same name apart, and odd names as they are', async () => {
    const { rows } = await server.sql('SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS __proto__, 5 AS "a""b"');
    expect(JSON.stringify(rows)).toBe('[{"a":1,"a_3":2,"a_2":3,"__proto__":4,"a\\"b":5}]');
  });

  test(verifies('builtin:pg-bounds', 'say where they were cut'), async () => {
    const cut = await server.sql('SELECT generate_series(1, 1000000000)');
    expect(cut).toMatchObject({ rowCount: 50, truncated: true, note: 'truncated at 50 rows' });
    expect((await server.sql('SELECT * FROM generate_series(1, 50)')).truncated).toBe(false);
    expect(await server.sql('SHOW ALL')).toMatchObject({ rowCount: 50, truncated: true, note: 'truncated at 50 rows' });
  });

  test(verifies('builtin:pg-bounds', 'are bounded in bytes before they leave PostgreSQL'), async () => {
    await expect(server.sql(`SELECT repeat('x', 20000000)`)).rejects.toThrow('the next row has 20000009 bytes');
    const wide = await server.sql(
      `SELECT CASE i WHEN 3 THEN repeat('x', 2000000) END AS w FROM generate_series(1, 5) i`,
    );
    expect(wide).toMatchObject({ rowCount: 2, truncated: true, note: expect.stringContaining('truncated at 2 rows') });
    const many = await server.sql(`SELECT repeat('é', 60000) FROM generate_series(1, 40)`);
    expect(many).toMatchObject({
      rowCount: 8,
      truncated: true,
      note: expect.stringContaining('the result is limited'),
    });
    await expect(server.sql(`SELECT repeat('x', 30000000)::int`)).rejects.toThrow('too large');
    expect((await server.sql('SELECT 1 AS a')).rows).toEqual([{ a: 1 }]);
  });

  test('that PostgreSQL refuses tell its message, SQLSTATE and position in what was sent', async () => {
    await expect(server.sql('SELECT é, nosuch FROM accounts')).rejects.toThrow(
      'PostgreSQL says: column "é" does not exist (SQLSTATE 42703, at character 8).',
    );
    await expect(server.sql('/* é😀 */ SELECT 名')).rejects.toThrow('at character 17)');
    await expect(server.sql('SELECT 1 / (id - id) FROM orders')).rejects.toThrow('division by zero (SQLSTATE 22012)');
    await expect(server.sql('SELECT nam FROM accounts')).rejects.toThrow('Perhaps you meant');
    await expect(server.sql('SELECT FROM WHERE')).rejects.toThrow('syntax error at or near "WHERE" (at character 13)');
    await expect(server.sql('SELECT $1')).rejects.toThrow('08P01');
  });
});

describe('tables', () => {
  test('are listed, all or those of a schema', async () => {
    const { rows } = await server.call('list_tables', {});
    expect(rows.map(({ schema, table, kind }) => `${schema}/${table}/${kind}`)).toEqual([
      'Odd Names/Täble.x/table',
      'public/accounts/table',
      'public/big_spenders/view',
      'public/log/table',
      'public/orders/table',
      'public/touching/view',
    ]);
    expect(rows[1]).toMatchObject({ comment: 'Who buys', estimated_rows: 3 });
    expect((await server.call('list_tables', { schema: 'Odd Names' })).rowCount).toBe(1);
    expect((await server.call('list_tables', { schema: `x' OR true --` })).rowCount).toBe(0);
    expect((await server.call('list_tables', { schema: 'pg_catalog' })).truncated).toBe(true);
  });

  test('are described', async () => {
    expect(await server.call('describe_table', { table: 'accounts' })).toMatchObject({
      schema: 'public',
      table: 'accounts',
      kind: 'table',
      comment: 'Who buys',
      columns: expect.arrayContaining([
        { name: 'id', type: 'integer', nullable: false, default: 'identity', comment: null },
        { name: 'name', type: 'text', nullable: false, default: null, comment: 'How they are called' },
        { name: 'balance', type: 'numeric(30,2)', nullable: false, default: '0', comment: null },
      ]),
      constraints: expect.arrayContaining([{ name: 'accounts_pkey', definition: 'PRIMARY KEY (id)' }]),
      indexes: expect.arrayContaining([
        { name: 'accounts_pkey', definition: 'CREATE UNIQUE INDEX accounts_pkey ON public.accounts USING btree (id)' },
      ]),
    });
    const odd = await server.call('describe_table', { table: '"Odd Names"."Täble.x"' });
    expect(odd).toMatchObject({ columns: [{ name: 'sel"ect' }, { name: 'Ünïcode 名' }] });
    await expect(server.call('describe_table', { table: 'nosuch' })).rejects.toThrow('list_tables');
    await expect(server.call('describe_table', { table: 'a.b.c' })).rejects.toThrow('not a valid table name');
  });
});

describe('query_table', () => {
  const names = async (filters: object): Promise<unknown[]> => {
    const { rows } = await server.call('query_table', {
      table: 'accounts',
      filters,
      columns: ['name'],
      order_by: ['name'],
    });
    return rows.map(({ name }) => name);
  };

  test('filters by value, null, list and operators', async () => {
    expect(await names({})).toEqual(['ada', 'bob', 'cyd']);
    expect(await names({ name: 'ada' })).toEqual(['ada']);
    expect(await names({ vip: null })).toEqual(['cyd']);
    expect(await names({ vip: true, id: 1 })).toEqual(['ada']);
    expect(await names({ id: [1, 3] })).toEqual(['ada', 'cyd']);
    expect(await names({ id: [] })).toEqual([]);
    expect(await names({ id: { '>': 1, '<=': 3, '!=': 2 } })).toEqual(['cyd']);
    expect(await names({ name: { like: '%d%' }, big: { 'is null': false } })).toEqual(['ada']);
    expect(await names({ name: { ilike: 'B%' } })).toEqual(['bob']);
    expect(await names({ name: { in: ['bob', 'x'] }, balance: { '>=': 5.5, '<': 6 } })).toEqual(['bob']);
    expect(await names({ big: '9007199254740993' })).toEqual(['ada']);
  });

  test('sorts, chooses columns and limits', async () => {
    const query = { table: 'public.orders', columns: ['id', 'account_id'], order_by: ['-account_id', 'id'], limit: 2 };
    expect(await server.call('query_table', query)).toMatchObject({
      columns: ['id', 'account_id'],
      rows: [
        { id: 2, account_id: 3 },
        { id: 5, account_id: 3 },
      ],
      truncated: true,
    });
    expect((await server.call('query_table', { table: 'orders', limit: 1_000 })).rowCount).toBe(30);
  });

  test('takes any name, and no name as SQL', async () => {
    const table = '"Odd Names"."Täble.x"';
    const odd = await server.call('query_table', { table, filters: { 'sel"ect': 2 }, columns: ['Ünïcode 名'] });
    expect(odd.rows).toEqual([{ 'Ünïcode 名': `it's "two"` }]);
    const before = await portrait(shop);
    const evil = [
      { table: 'accounts; DELETE FROM orders' },
      { table: 'accounts"; DELETE FROM orders; --' },
      { table: 'accounts', columns: ['name" FROM accounts; DELETE FROM orders; --'] },
      { table: 'accounts', columns: ['touch()'] },
      { table: 'accounts', columns: ['bump'] },
      { table: 'accounts', columns: ['accounts.bump'] },
      { table: 'accounts', filters: { '1 = 1; DELETE FROM orders; --': 1 } },
      { table: 'accounts', filters: { name: 'x', 'nam\0e': 1 } },
      { table: 'accounts', filters: { id: `1; DELETE FROM orders` } },
      { table: 'accounts', order_by: ['name; DELETE FROM orders'] },
      { table: 'accounts', order_by: ['-name" ASC; DELETE FROM orders; --'] },
      { table: 'touching' },
      { table: 'tickets' },
    ];
    for (const args of evil) await expect(server.call('query_table', args), JSON.stringify(args)).rejects.toThrow();
    expect(
      (await server.call('query_table', { table: 'accounts', filters: { name: `'; DELETE FROM orders; --` } }))
        .rowCount,
    ).toBe(0);
    expect(await portrait(shop)).toEqual(before);
  });
});

test('a volatile function is refused with what to do, and allowed by its name', async () => {
  await expect(server.sql('SELECT odd_reader()')).rejects.toThrow(
    'The function odd_reader is volatile and may do more than read. The call is refused. ' +
      'If the function is read-only, its owner can declare it STABLE, ' +
      'or the operator can start this server with --allow-function odd_reader.',
  );
  const allowing = await openServer(
    shop.url,
    '--allow-function',
    'odd_reader',
    '--allow-function',
    'hidden.touch_hidden',
  );
  try {
    expect((await allowing.sql('SELECT odd_reader()')).rows).toEqual([{ odd_reader: 30 }]);
    await expect(allowing.sql('SELECT touch()')).rejects.toThrow('--allow-function touch');
    await expect(allowing.sql('SELECT hidden.touch_hidden()')).rejects.toThrow('25006');
  } finally {
    await allowing.close();
  }
});
