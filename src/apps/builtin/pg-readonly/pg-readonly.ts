import { z } from 'zod';
import { HubError } from '../../../base/index.ts';
import { defineTool, type ServedTool, type ToolAnnotations, ToolFault } from '../../serving/index.ts';
import type { BuiltinDeps, BuiltinKind, BuiltinServer, BuiltinSettings } from '../builtin.ts';
import { numberOption, readOptions } from '../read-options.ts';
import { usages } from '../usages.ts';
import { createDatabase, type Database, type DatabaseDeps, type DatabaseOptions } from './database.ts';
import { executeQuery, type QueryBounds } from './execute-query.ts';
import { queryTable, tableQuery } from './query-table.ts';
import { answerOf } from './rows.ts';
import { createSqlParser } from './sql-parser.ts';
import { readStatement } from './statement.ts';
import { describeTable, listTables } from './tables.ts';

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
      'Reads a PostgreSQL database; nothing that changes it is run. Begin with list_tables and describe_table. ' +
      `A result has ${bounds.maxRows} rows at most, and a statement ${timeoutSeconds} s.`,
    tools: toolsOn(database, bounds),
    reach: () => reach(database),
    close: () => database.close(),
  };
}

/** A database that is away makes the server one that is away; it is asked again as any other server is. */
async function reach(database: Database): Promise<void> {
  try {
    await database.read(new AbortController().signal, async () => {});
  } catch (error) {
    if (!(error instanceof ToolFault)) throw error;
    throw new HubError('UPSTREAM_UNAVAILABLE', error.message, { cause: error });
  }
}

/** The address holds a password: no message repeats any of it, nor does a cause. */
function openDatabase(
  deps: DatabaseDeps,
  options: Omit<DatabaseOptions, 'url'> & { url: string | undefined },
): Database {
  const { url } = options;
  if (url === undefined || url === '') {
    throw new HubError('CONFIG_INVALID', 'The built-in server pg-readonly has no database: PG_RO_URL is not set.', {
      hint: 'Set it to postgres://user:password@host/database; a configuration hands it on under the env of the server.',
    });
  }
  try {
    if (/^postgres(ql)?:\/\//i.test(url)) return createDatabase(deps, { ...options, url });
  } catch {
    // Told below.
  }
  throw new HubError('CONFIG_INVALID', 'PG_RO_URL of the built-in server pg-readonly cannot be used as an address.', {
    hint: 'Write postgres://user:password@host:port/database, special characters as %XX; files that it names must be there.',
  });
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
      description: 'Tables and views that can be read, with their schema, kind, estimated number of rows and comment.',
      annotations,
      input: z.object({ schema: z.string().optional().describe('Only of this schema') }),
      run: async ({ schema }, { signal }) =>
        answerOf(await database.read(signal, (session) => listTables(session, schema, bounds.maxRows))),
    }),
    defineTool({
      name: 'describe_table',
      title: 'Describe table',
      description: 'Columns, constraints and indexes of a table or view.',
      annotations,
      input: z.object({ table: z.string().describe('table or schema.table, as list_tables names it') }),
      run: async ({ table }, { signal }) =>
        answerOf(await database.read(signal, (session) => describeTable(session, table))),
    }),
    defineTool({
      name: 'query_table',
      title: 'Query table',
      description: `Rows of one table, filtered, sorted, up to ${bounds.maxRows}. For joins and aggregates use execute_query.`,
      annotations,
      input: tableQuery,
      run: async (query, { signal }) =>
        answerOf(await database.read(signal, (session) => queryTable(session, query, bounds.maxRows))),
    }),
    defineTool({
      name: 'execute_query',
      title: 'Execute query',
      description:
        `Runs one SELECT, VALUES, TABLE, WITH … SELECT, EXPLAIN of these, or SHOW; up to ${bounds.maxRows} rows. ` +
        'Nothing else is run, and no function that may do more than read.',
      annotations,
      input: z.object({ sql: z.string().describe('One statement of PostgreSQL') }),
      run: async ({ sql }, { signal }) => {
        const statement = readStatement(sql, await parser.parse(sql));
        return answerOf(await database.read(signal, (session) => executeQuery(session, statement, bounds)));
      },
    }),
  ];
}
