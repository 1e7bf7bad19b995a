import { z } from 'zod';
import { HubError } from '../../../base/index.ts';
import { defineTool, type ServedTool, type ToolAnnotations, ToolFault } from '../../serving/index.ts';
import type { BuiltinDeps, BuiltinKind, BuiltinServer, BuiltinSettings } from '../builtin-kind.ts';
import { numberOption, readOptions } from '../read-options.ts';
import { usages } from '../usages.ts';
import { createDatabase, type Database, type DatabaseDeps, type DatabaseOptions } from './database.ts';
import { executeQuery, type QueryBounds } from './execute-query.ts';
import { describeTable, listTables } from './list-tables.ts';
import { queryTable, tableQuery } from './query-table.ts';
import { answerOf } from './rows.ts';
import { createSqlParser } from './sql-parser.ts';
import { readStatement } from './statement.ts';

const usage = usages['pg-readonly'];

export const pgReadonly: BuiltinKind = { ...usage, open };

async function open({ args, env }: BuiltinSettings, { clock, logger }: BuiltinDeps): Promise<BuiltinServer> {
  const given = readOptions(usage, args);
  const bounds: QueryBounds = {
    maxRows: numberOption(usage, given, 'max-rows', { least: 1, most: 100_000, otherwise: 1_000 }),
    allowedFunctions: given.get('allow-function') ?? [],
  };
  const timeoutSeconds = numberOption(usage, given, 'timeout', { least: 1, most: 3_600, otherwise: 30 });
  const connections = numberOption(usage, given, 'pool', { least: 1, most: 100, otherwise: 4 });
  const [{ Client, Pool }, { parse }] = await Promise.all([import('pg'), import('pg-connection-string')]);
  const deps = { clock, logger, Client, Pool, readAddress: parse };
  const database = openDatabase(deps, { url: env.PG_RO_URL, connections, timeoutSeconds });
  return {
    instructions:
      'Reads a PostgreSQL database. Writes are refused. Start with list_tables and describe_table. ' +
      `Results are limited to ${bounds.maxRows} rows and statements to ${timeoutSeconds} s.`,
    tools: toolsOn(database, bounds),
    reach: () => reach(database),
    close: () => database.close(),
  };
}

/** An unavailable database makes the server unavailable; it is retried like any other server. */
async function reach(database: Database): Promise<void> {
  try {
    await database.read(new AbortController(), async () => {});
  } catch (error) {
    if (!(error instanceof ToolFault)) throw error;
    throw new HubError('UPSTREAM_UNAVAILABLE', error.message, { cause: error });
  }
}

/** The address contains a password, so no message or cause repeats any part of it. */
function openDatabase(
  deps: DatabaseDeps,
  options: Omit<DatabaseOptions, 'url'> & { url: string | undefined },
): Database {
  const { url } = options;
  if (url === undefined || url === '') {
    throw new HubError('CONFIG_INVALID', 'The built-in server pg-readonly needs a database: PG_RO_URL is not set.', {
      hint: "Set it to postgres://user:password@host/database and pass it on in the env of the server's entry.",
    });
  }
  try {
    if (/^postgres(ql)?:\/\//i.test(url)) return createDatabase(deps, { ...options, url });
  } catch {
    // Reported below.
  }
  throw new HubError(
    'CONFIG_INVALID',
    'PG_RO_URL of the built-in server pg-readonly is not a valid connection string.',
    {
      hint: 'Write postgres://user:password@host:port/database, with special characters as %XX. Files that it names must exist.',
    },
  );
}

const annotations: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

function toolsOn(database: Database, bounds: QueryBounds): ServedTool[] {
  const parser = createSqlParser();
  return [
    defineTool({
      name: 'list_tables',
      title: 'List tables',
      description: 'Lists the readable tables and views, with schema, kind, estimated row count and comment.',
      annotations,
      input: z.object({ schema: z.string().optional().describe('Only tables of this schema') }),
      run: async ({ schema }, call) =>
        answerOf(await database.read(call, (session) => listTables(session, schema, bounds.maxRows))),
    }),
    defineTool({
      name: 'describe_table',
      title: 'Describe table',
      description: 'Shows the columns, constraints and indexes of a table or view.',
      annotations,
      input: z.object({ table: z.string().describe('table or schema.table, as list_tables shows it') }),
      run: async ({ table }, call) => answerOf(await database.read(call, (session) => describeTable(session, table))),
    }),
    defineTool({
      name: 'query_table',
      title: 'Query table',
      description: `Reads up to ${bounds.maxRows} rows of one table, with filters and sorting. For joins and aggregates, use execute_query.`,
      annotations,
      input: tableQuery,
      run: async (query, call) =>
        answerOf(await database.read(call, (session) => queryTable(session, query, bounds.maxRows))),
    }),
    defineTool({
      name: 'execute_query',
      title: 'Execute query',
      description:
        `Runs one SELECT, VALUES, TABLE, WITH … SELECT, EXPLAIN of these, or SHOW; up to ${bounds.maxRows} rows. ` +
        'Other statements, and functions that may do more than read, are refused.',
      annotations,
      input: z.object({ sql: z.string().describe('One PostgreSQL statement') }),
      run: async ({ sql }, call) => {
        const statement = readStatement(sql, await parser.parse(sql));
        return answerOf(await database.read(call, (session) => executeQuery(session, statement, bounds)));
      },
    }),
  ];
}
