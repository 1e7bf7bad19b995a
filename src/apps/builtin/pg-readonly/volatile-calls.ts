import { ToolFault } from '../../serving/index.ts';
import type { Session } from './session.ts';
import type { TableMention } from './statement.ts';

/**
 * Refuses volatile functions, which may do more than read, unless they are known to be harmless or the operator allows
 * them. Checks every function that a name could refer to, because the choice depends on types.
 */
export async function refuseVolatileCalls(
  session: Session,
  mentions: readonly TableMention[],
  allowedFunctions: readonly string[],
): Promise<void> {
  const { rows } = await session.query(reachedSql, [JSON.stringify(mentions), runningText]);
  for (const [kind, mentioned, schema, name] of rows) {
    // None of these columns can be null.
    refuseUnlessAllowed({ kind, mentioned, schema, name } as ReachedFunction, allowedFunctions);
  }
}

interface ReachedFunction {
  readonly kind: TableMention['kind'];
  /** The name in the statement: the function itself, or an operator, type or column that leads to it. */
  readonly mentioned: string;
  readonly schema: string;
  readonly name: string;
}

function refuseUnlessAllowed({ kind, mentioned, schema, name }: ReachedFunction, allowed: readonly string[]): void {
  if (schema === 'pg_catalog' && harmless.has(name)) return;
  if (allowed.includes(name) || allowed.includes(`${schema}.${name}`)) return;
  const what = kind === 'function' && mentioned === name ? `The function ${name}` : `${mentioned} calls ${name}, which`;
  const [why, remedy] = runningText.includes(name)
    ? ['runs SQL from text, which cannot be checked', '']
    : ['is volatile and may do more than read', 'its owner can declare it STABLE, or '];
  throw new ToolFault(
    `${what} ${why}. The call is refused. If the function is read-only, ${remedy}` +
      `the operator can start this server with --allow-function ${name}.`,
  );
}

/** Volatile because their result changes or because they look past the transaction; none has a side effect. */
const harmless: ReadonlySet<string> = new Set([
  'array_sample',
  'array_shuffle',
  'clock_timestamp',
  'current_query',
  'currval',
  'gen_random_uuid',
  'lastval',
  'pg_blocking_pids',
  'pg_current_wal_lsn',
  'pg_database_size',
  'pg_indexes_size',
  'pg_is_in_recovery',
  'pg_last_wal_receive_lsn',
  'pg_last_wal_replay_lsn',
  'pg_last_xact_replay_timestamp',
  'pg_partition_ancestors',
  'pg_partition_tree',
  'pg_relation_size',
  'pg_sequence_last_value',
  'pg_table_size',
  'pg_tablespace_size',
  'pg_total_relation_size',
  'random',
  'random_normal',
  'timeofday',
  'uuidv4',
  'uuidv7',
]);

/** Declared STABLE by extensions that come with PostgreSQL, although they run SQL from the caller. */
const runningText: readonly string[] = ['connectby', 'crosstab', 'crosstab2', 'crosstab3', 'crosstab4', 'xpath_table'];

/**
 * Resolves names to functions: directly, as parts of an aggregate (which counts as immutable whatever its parts are),
 * behind an operator, as a cast to a type, and as `row.function`, whose first argument must accept a row.
 */
const reachedSql = `
WITH mention AS (
  SELECT * FROM pg_catalog.json_to_recordset($1::pg_catalog.json)
    AS m(kind pg_catalog.text, schema pg_catalog.text, name pg_catalog.text)
), reached AS (
  SELECT m.kind, m.schema, m.name, pg_catalog.pg_function_is_visible(p.oid) AS visible, p.pronamespace AS home,
      p.oid AS called
    FROM mention m JOIN pg_catalog.pg_proc p ON p.proname = m.name
    WHERE m.kind = 'function'
  UNION ALL
  SELECT m.kind, m.schema, m.name, pg_catalog.pg_function_is_visible(p.oid), p.pronamespace, part
    FROM mention m JOIN pg_catalog.pg_proc p ON p.proname = m.name
    JOIN pg_catalog.pg_aggregate a ON a.aggfnoid = p.oid
    CROSS JOIN LATERAL pg_catalog.unnest(ARRAY[a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn,
      a.aggdeserialfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn]::pg_catalog.oid[]) AS part
    WHERE m.kind = 'function'
  UNION ALL
  SELECT m.kind, m.schema, m.name, pg_catalog.pg_operator_is_visible(o.oid), o.oprnamespace, o.oprcode
    FROM mention m JOIN pg_catalog.pg_operator o ON o.oprname = m.name
    WHERE m.kind = 'operator'
  UNION ALL
  SELECT m.kind, m.schema, m.name, pg_catalog.pg_type_is_visible(t.oid), t.typnamespace, c.castfunc
    FROM mention m JOIN pg_catalog.pg_type t ON t.typname = m.name
    JOIN pg_catalog.pg_cast c ON c.casttarget = t.oid
    WHERE m.kind IN ('type', 'function')
  UNION ALL
  SELECT m.kind, m.schema, m.name, pg_catalog.pg_function_is_visible(p.oid), p.pronamespace, p.oid
    FROM mention m JOIN pg_catalog.pg_proc p ON p.proname = m.name
    JOIN pg_catalog.pg_type t ON t.oid = p.proargtypes[0]
    WHERE m.kind = 'reference' AND p.pronargs - p.pronargdefaults <= 1
      AND (t.typtype IN ('c', 'd') OR t.typname IN ('record', 'any', 'anyelement', 'anynonarray', 'anycompatible',
        'anycompatiblenonarray'))
)
SELECT DISTINCT r.kind, r.name, n.nspname, p.proname
  FROM reached r
  JOIN pg_catalog.pg_proc p ON p.oid = r.called
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_namespace h ON h.oid = r.home
  WHERE (p.provolatile = 'v' OR p.proname = ANY ($2::pg_catalog.text[]))
    AND CASE
      WHEN r.schema IS NULL THEN r.visible
      WHEN r.schema = 'pg_temp' THEN h.oid = pg_catalog.pg_my_temp_schema()
      ELSE h.nspname = r.schema
    END
  ORDER BY 1, 2, 3, 4`;
