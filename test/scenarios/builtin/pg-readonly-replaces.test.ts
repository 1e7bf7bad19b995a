// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { mkdir, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/index.ts';
import { replacementAdvice } from '../../../src/faces/cli/doctor/replaced-package.ts';
import { openStage } from '../../support/hub.ts';
import { startPostgres } from '../../support/postgres.ts';
import { verifies } from '../../support/verifies.ts';

/** The database as Squad's requirements write it. That package takes no variable and ends at once. */
const written = {
  type: 'local',
  command: 'npx',
  args: ['-y', '@modelcontextprotocol/server-postgres'],
  env: { DATABASE_URL: '${DATABASE_URL}' },
  tools: ['query', 'list_tables', 'describe_table'],
};

test(verifies('doctor:replaced', "the advice for Squad's database leads to a query that works"), async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  const stage = await openStage();
  await mkdir(stage.path('.squad'));
  const write = (server: object) =>
    writeFile(stage.path('.squad/mcp-config.json'), JSON.stringify({ servers: { postgres: server } }));
  const env = { DATABASE_URL: postgres.url() };
  await writeFile(stage.path('.env'), `DATABASE_URL=${env.DATABASE_URL}\n`);
  await write(written);
  const before = (await loadConfiguration({ env }, { workspace: stage.workspace })).servers.get('postgres');
  if (before?.kind !== 'ready') throw new Error('the entry is valid');
  const [advice = ''] = replacementAdvice(before.spec);
  expect(advice).toContain('"builtin": "pg-readonly", in place of type, command and args');
  expect(advice).toContain('rename DATABASE_URL in its env to PG_RO_URL');
  expect(advice).toContain('write execute_query in place of query in its tools');

  const { type: _type, command: _command, args: _args, ...rest } = written;
  const tools = rest.tools.map((tool) => (tool === 'query' ? 'execute_query' : tool));
  await write({ ...rest, builtin: 'pg-readonly', env: { PG_RO_URL: written.env.DATABASE_URL }, tools });
  await stage.open();
  expect(await stage.names()).toEqual(['postgres_describe_table', 'postgres_execute_query', 'postgres_list_tables']);
  expect(await stage.say('postgres_execute_query', { sql: 'SELECT 40 + 2 AS answer' })).toContain('42');
});
