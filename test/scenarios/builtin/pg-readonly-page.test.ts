import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startPostgres } from '../../support/postgres.ts';
import { connect, openServer } from './pg-readonly.fixture.ts';

test('the filters of docs/builtin/pg-readonly.md choose the rows that they describe', { timeout: 90_000 }, async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/builtin/pg-readonly.md'), 'utf8');
  const [, example = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  const admin = await connect(postgres.url());
  await admin.query(`CREATE TABLE orders (id int, status text, shipped date, total numeric, placed date);
    INSERT INTO orders VALUES
      (1, 'new', NULL, 10, '2026-01-01'), (2, 'paid', NULL, 19.99, '2026-01-02'), (3, 'new', NULL, 12, '2026-01-02'),
      (4, 'gone', NULL, 12, '2026-01-03'), (5, 'new', '2026-01-04', 12, '2026-01-03'),
      (6, 'paid', NULL, 20, '2026-01-03'), (7, 'paid', NULL, 9.99, '2026-01-03')`);
  await admin.end();
  const server = await openServer(postgres.url());
  onTestFinished(() => server.close());
  const { rows } = await server.call('query_table', JSON.parse(example));
  expect(rows.map(({ id }) => id)).toEqual([2, 3, 1]);
});
