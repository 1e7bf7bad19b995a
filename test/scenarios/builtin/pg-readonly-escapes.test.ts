import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ToolFault } from '../../../src/apps/serving/index.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';
import { connect, type OpenServer, openServer, portrait, type Shop, startShop } from './pg-readonly.fixture.ts';
import { escapes } from './pg-readonly-escapes.fixture.ts';

let shop: Shop;
let bystander: pg.Client;
const heard: string[] = [];

beforeAll(async () => {
  shop = await startShop();
  bystander = await connect(shop.url, 'bystander');
  bystander.on('notification', ({ payload }) => heard.push(payload ?? ''));
  await bystander.query('LISTEN alarm');
});

afterAll(async () => {
  await bystander?.end();
  await shop?.stop();
});

test('there are enough of them', () => {
  expect(new Set(Object.values(escapes).flat()).size).toBeGreaterThan(200);
});

describe.each(['owner', 'superuser'] as const)('connected as %s', (role) => {
  let server: OpenServer;
  let before: Record<string, string>;
  let session: unknown;

  beforeAll(async () => {
    // One connection, so that what one call leaves behind is there for the next.
    server = await openServer(role === 'owner' ? shop.url : shop.superUrl, '--pool', '1');
    session = await sessionOf(server);
    before = await portrait(shop);
  });

  afterAll(async () => {
    await server?.close();
  });

  test.each(Object.entries(escapes))(
    verifies('builtin:pg-unwritten', 'nothing comes of %s'),
    { timeout: 180_000 },
    async (_, attempts) => {
      for (const attempt of attempts) {
        const sql = attempt.replaceAll('FILES', shop.files);
        const name = JSON.stringify(sql.slice(0, 200));
        const fault = await within(server.sql(sql), name).catch((error: unknown) => error);
        expect(fault, name).toBeInstanceOf(ToolFault);
        expect(String(fault), name).toMatch(/^ToolFault: \S.{20}/s);
        expect(String(fault).length, name).toBeLessThan(4_200);
        const after = await Promise.all([portrait(shop), sessionOf(server)]);
        expect(after, name).toEqual([before, session]);
      }
    },
  );

  test('nobody was notified', async () => {
    await shop.admin.query(`NOTIFY alarm, 'after all of them'`);
    await eventually(() => heard.length > 0 || undefined, 'a notification');
    expect(heard.splice(0)).toEqual(['after all of them']);
  });
});

/** What a statement could leave on its connection for the next one. Settings of plpgsql come when it is first used. */
async function sessionOf(server: OpenServer): Promise<unknown> {
  const { rows } = await server.sql(
    `SELECT pg_backend_pid(), pg_my_temp_schema(), current_user, session_user, current_schemas(true),
      (SELECT count(*) FROM pg_prepared_statements) AS prepared, (SELECT count(*) FROM pg_cursors) AS cursors,
      (SELECT count(*) FROM pg_listening_channels()) AS channels,
      (SELECT string_agg(name || setting, ' ' ORDER BY name) FROM pg_settings WHERE name NOT LIKE 'plpgsql.%') AS settings`,
  );
  return rows;
}
