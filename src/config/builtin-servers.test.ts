// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { invalid, load, own, ready } from './workspace.fixture.ts';

test(verifies('builtin:configured', 'a server that comes with the hub is named in place of a program'), async () => {
  const configuration = await own(
    'servers:\n  git:\n    builtin: git\n    args: [--repository, "${HERE}"]\n    cwd: sub\n  web:\n    type: builtin\n    builtin: fetch\n',
    { HERE: 'repo' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'git').transport).toEqual({
    type: 'builtin',
    builtin: 'git',
    args: ['--repository', 'repo'],
    env: {},
    cwd: `${configuration.workspace}/sub`,
  });
  expect(ready(configuration, 'web').transport).toMatchObject({
    type: 'builtin',
    builtin: 'fetch',
    cwd: configuration.workspace,
  });
});

test('in a file of its own, flat or under transport, and as a fallback', async () => {
  const configuration = await load(
    {
      '.mcp/servers/git.yaml': 'id: git\nbuiltin: git\n',
      '.mcp/servers/pg.json': '{"id":"pg","transport":{"builtin":"pg-readonly","env":{"PG_RO_URL":"${PG_RO_URL}"}}}',
      'ops/adk/servers/web.yaml':
        'id: web\ntransport: {type: http, url: "https://x.example/"}\nfallback: [{builtin: fetch}]\n',
    },
    { PG_RO_URL: 'postgres://reader:secret-word@db/x' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'git').transport.type).toBe('builtin');
  expect(ready(configuration, 'pg').transport).toMatchObject({
    env: { PG_RO_URL: 'postgres://reader:secret-word@db/x' },
  });
  expect(configuration.secrets).toContain('postgres://reader:secret-word@db/x');
  expect(ready(configuration, 'web').fallbacks).toMatchObject([{ type: 'builtin', builtin: 'fetch' }]);
});

test(verifies('builtin:postgres-file', 'a file of type postgres is the built-in server on its database'), async () => {
  const file =
    'server_id: warehouse\ntype: postgres\nconn:\n  url_env: WAREHOUSE_URL\nscopes: ["read:tables"]\nlimits: {rate_per_min: 120, timeout_s: 30}\n';
  const configuration = await load(
    { '.mcp/servers/warehouse.yaml': file },
    { WAREHOUSE_URL: 'postgres://db/warehouse' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'warehouse')).toMatchObject({
    transport: { builtin: 'pg-readonly', env: { PG_RO_URL: 'postgres://db/warehouse' } },
    limits: { timeoutMs: 30_000, ratePerMin: 120 },
  });
  const without = await load({ '.mcp/servers/warehouse.yaml': file });
  expect(invalid(without, 'warehouse').problems).toMatchObject([
    { line: 4, message: expect.stringContaining('needs the variable WAREHOUSE_URL') },
  ]);
});

test.each([
  ['{builtin: gti}', 'builtin', /must be one of|git/],
  ['{type: builtin}', 'builtin', /"builtin" is missing/],
  ['{builtin: git, command: git}', 'builtin', /both "command" and "builtin"/],
  ['{builtin: git, url: "https://x.example"}', 'builtin', /both "url" and "builtin"/],
  ['{builtin: git, type: http}', 'type', /does not go with "builtin"/],
])('what contradicts itself is refused, and says where: %s', async (text, field, message) => {
  const configuration = await own(`servers:\n  x: ${text}\n`);
  expect(invalid(configuration, 'x').problems).toMatchObject([
    { field: `servers.x.${field}`, message: expect.stringMatching(message) },
  ]);
});

test('keys of http servers are ignored with a warning', async () => {
  const configuration = await own('servers:\n  x: {builtin: git, headers: {A: b}}\n');
  expect(configuration.problems).toMatchObject([
    { severity: 'warning', message: expect.stringContaining('"headers"') },
  ]);
  expect(ready(configuration, 'x').transport.type).toBe('builtin');
});
