import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ToolFault } from '../../../src/apps/serving/index.ts';
import { HubError } from '../../../src/base/index.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';
import { type OpenServer, openServer, owner, type Shop, startShop } from './pg-readonly.fixture.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await startShop();
});

afterAll(async () => {
  await shop?.stop();
});

/** Connections of servers under test, by what they do. */
async function backends(): Promise<readonly { pid: number; state: string; query: string }[]> {
  const { rows } = await shop.admin.query<{ pid: number; state: string; query: string }>(
    `SELECT pid, state, query FROM pg_stat_activity WHERE application_name = 'quartermaster'`,
  );
  return rows;
}

const slow = `SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b`;

describe('a pool of four', () => {
  let server: OpenServer;

  beforeAll(async () => {
    server = await openServer(shop.url, '--pool', '4', '--timeout', '20');
  });

  afterAll(async () => {
    await server?.close();
    await eventually(async () => (await backends()).length === 0 || undefined, 'all connections to be closed');
  });

  test('answers fifty calls at once', async () => {
    const calls = Array.from({ length: 50 }, (_, n) => server.sql(`SELECT ${n} AS n, pg_backend_pid() AS pid`));
    const rows = (await Promise.all(calls)).map((result) => result.rows[0]);
    expect(rows.map((row) => row?.n)).toEqual(rows.map((_, n) => n));
    expect(new Set(rows.map((row) => row?.pid)).size).toBeLessThanOrEqual(4);
    expect((await backends()).every(({ state }) => state === 'idle')).toBe(true);
  });

  test(
    verifies('builtin:pg-bounds', 'cancels in PostgreSQL what its caller gave up, waiting or running, and goes on'),
    async () => {
      const callers = Array.from({ length: 6 }, () => new AbortController());
      const outcomes = callers.map(({ signal }) => server.sql(slow, signal).catch((error: unknown) => error));
      const busy = async (): Promise<number> =>
        (await backends()).filter(({ state, query }) => state === 'active' && query.includes('100000')).length;
      await eventually(async () => (await busy()) === 4 || undefined, 'four statements to run');
      for (const caller of callers) caller.abort();
      for (const outcome of await within(Promise.all(outcomes), 'all to be cancelled')) {
        expect(outcome).toBeInstanceOf(ToolFault);
        expect(String(outcome)).toContain('cancelled');
      }
      await eventually(async () => (await busy()) === 0 || undefined, 'nothing to run any more');
      const again = await Promise.all(Array.from({ length: 8 }, () => server.sql('SELECT 1 AS one')));
      expect(again.map(({ rows }) => rows[0]?.one)).toEqual(Array(8).fill(1));
      expect((await backends()).length).toBeLessThanOrEqual(4);
    },
  );

  test('does nothing for a caller that had gone before', async () => {
    const gone = AbortSignal.abort();
    await expect(server.sql('SELECT 1', gone)).rejects.toThrow('cancelled');
  });

  test('works again after all of its connections were killed', async () => {
    await Promise.all(Array.from({ length: 4 }, () => server.sql('SELECT 1')));
    const { rows } = await shop.admin.query<{ killed: string }>(
      `SELECT count(pg_terminate_backend(pid)) AS killed FROM pg_stat_activity WHERE application_name = 'quartermaster'`,
    );
    expect(Number(rows[0]?.killed)).toBeGreaterThan(0);
    expect((await server.sql('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});

test(verifies('builtin:pg-bounds', 'a statement ends at its timeout, and its connection goes on'), async () => {
  const server = await openServer(shop.url, '--pool', '1', '--timeout', '1');
  try {
    const pid = async (): Promise<unknown> => (await server.sql('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
    const before = await pid();
    await expect(server.sql(slow)).rejects.toThrow('The statement was cancelled after 1 s.');
    expect(await pid()).toBe(before);
  } finally {
    await server.close();
  }
});

test('a connection that is lost in mid-query is reported, and the next call has another', async () => {
  const server = await openServer(shop.url, '--pool', '1');
  try {
    const outcome = server.sql(slow).catch((error: unknown) => error);
    const running = await eventually(
      async () => (await backends()).find(({ state, query }) => state === 'active' && query.includes('100000')),
      'the statement to run',
    );
    await shop.admin.query('SELECT pg_terminate_backend($1)', [running.pid]);
    expect(String(await outcome)).toContain('the connection was lost');
    expect((await server.sql('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await server.close();
  }
});

test('closing gives the connections back, also with calls in flight', async () => {
  const server = await openServer(shop.url);
  const caller = new AbortController();
  const outcome = server.sql(slow, caller.signal).catch((error: unknown) => error);
  await eventually(async () => (await backends()).some(({ state }) => state === 'active') || undefined, 'it to run');
  caller.abort();
  await within(server.close(), 'the server to close');
  await within(server.close(), 'the server to close again');
  expect(await outcome).toBeInstanceOf(ToolFault);
  await eventually(async () => (await backends()).length === 0 || undefined, 'all connections to be closed');
  await expect(server.sql('SELECT 1')).rejects.toBeInstanceOf(ToolFault);
});

describe('variables and files of the process that it runs in', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const outcomeOf = async (url: string): Promise<string> => {
    const server = await openServer(url);
    try {
      return JSON.stringify((await server.sql('SELECT current_user AS who')).rows);
    } catch (error) {
      return String(error);
    } finally {
      await server.close();
    }
  };

  test(verifies('builtin:pg-bounds', 'take no part: the address alone says where to go and as whom'), async () => {
    const passwords = join(shop.postgres.folder, 'pgpass');
    await writeFile(passwords, `*:*:*:*:${owner.password}\n`, { mode: 0o600 });
    const { hostname, port } = new URL(shop.url);
    const own = { PGPASSWORD: owner.password, PGUSER: owner.user, PGDATABASE: 'shop', PGHOST: hostname, PGPORT: port };
    for (const [name, value] of Object.entries(own)) vi.stubEnv(name, value);
    vi.stubEnv('PGSSLMODE', 'require');
    expect(await outcomeOf(shop.url)).toBe(`[{"who":"${owner.user}"}]`);
    const bare = shop.url.replace(`:${owner.password}`, '');
    expect(await outcomeOf(bare)).toContain('password must be');
    vi.stubEnv('PGPASSWORD', undefined);
    vi.stubEnv('PGPASSFILE', passwords);
    expect(await outcomeOf(bare)).toContain('password must be');
    expect(await outcomeOf(`postgres://${owner.user}:${owner.password}@${hostname}:${port}`)).toContain('3D000');
    await expect(openServer(`postgres://${hostname}:${port}/shop`)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('without a database', () => {
  const secret = 'a%40very-secret';
  let silent: Server;

  beforeEach(() => {
    silent = createServer((socket) => socket.end());
  });

  const faultOf = async (url: string): Promise<string> => {
    const server = await openServer(url);
    try {
      const fault = await server.sql('SELECT 1').catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(ToolFault);
      const said = `${String(fault)} ${JSON.stringify(fault)} ${fault instanceof Error ? String(fault.cause) : ''}`;
      expect(said).not.toMatch(/very-secret|127\.0\.0\.1|postgres:\/\//);
      return String(fault);
    } finally {
      await server.close();
    }
  };

  test('each reason is a sentence of its own, without the address', async () => {
    const at = `127.0.0.1:${shop.postgres.port}`;
    expect(await faultOf(`postgres://${owner.user}:${secret}@${at}/shop`)).toMatch(
      /refused the user or the password.*28P01/,
    );
    expect(await faultOf(`postgres://nobody:${secret}@${at}/shop`)).toMatch(/28P01/);
    expect(await faultOf(shop.postgres.url(owner, 'nosuch'))).toMatch(/database in PG_RO_URL does not exist.*3D000/);
    expect(await faultOf(`postgres://${owner.user}@${at}/shop`)).toContain('password must be');
    expect(await faultOf(`${shop.url}?sslmode=require`)).toContain('does not support SSL');
    expect(await faultOf(`postgres://a:${secret}@127.0.0.1:1/b`)).toMatch(/Nothing listens.*ECONNREFUSED/);
    expect(await faultOf(`postgres://a:${secret}@no-such-host.invalid/b`)).toMatch(/ENOTFOUND|EAI_AGAIN/);
    expect(await faultOf(`postgres:///b?host=/no-such-folder&user=a`)).toMatch(/no socket.*ENOENT/);
  });

  test('a server that hangs up at once is told', async () => {
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    try {
      expect(await faultOf(`postgres://a:${secret}@127.0.0.1:${address.port}/b`)).toContain('PG_RO_URL');
    } finally {
      silent.close();
    }
  });

  test.each(['', 'mysql://a:very-secret@b/c', 'very-secret', 'postgres://a:very-secret@b:port/c', '/very-secret'])(
    'an address that is none is refused when it is opened: %s',
    async (url) => {
      const error = await openServer(url).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(HubError);
      expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
      expect(error).not.toHaveProperty('cause');
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('very-secret');
    },
  );

  test.each([['--max-rows', '0'], ['--timeout', 'x'], ['--pool'], ['--write', 'yes']])(
    '%s %s is no option',
    async (...args) => {
      await expect(openServer(shop.url, ...args)).rejects.toMatchObject({ code: 'USAGE' });
    },
  );
});

test('works again after PostgreSQL was restarted', async () => {
  const server = await openServer(shop.url);
  try {
    expect((await server.sql('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await shop.admin.end();
    await shop.postgres.restart();
    expect((await server.sql('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await server.close();
  }
});
