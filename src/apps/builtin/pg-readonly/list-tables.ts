import { ToolFault } from '../../serving/index.ts';
import { readTableName } from './identifiers.ts';
import type { Rows } from './rows.ts';
import { readRows } from './rows.ts';
import type { Session } from './session.ts';

/** An existing table or view, by its full name. */
export interface FoundTable {
  readonly oid: string;
  readonly schema: string;
  readonly name: string;
  readonly kind: string;
  readonly comment: string | null;
}

/** The readable tables, without PostgreSQL's own schemas unless one is requested. */
export function listTables(session: Session, schema: string | undefined, maxRows: number): Promise<Rows> {
  const where =
    schema === undefined
      ? "n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'"
      : 'n.nspname = $1::pg_catalog.text';
  const sql = `
SELECT n.nspname AS schema, c.relname AS table, ${kindSql} AS kind,
  CASE WHEN c.reltuples >= 0 THEN c.reltuples::pg_catalog.int8 END AS estimated_rows,
  pg_catalog.obj_description(c.oid, 'pg_class') AS comment
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ${where}
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
ORDER BY 1, 2`;
  return readRows(session, sql, maxRows, schema === undefined ? [] : [schema]);
}

export async function findTable(session: Session, text: string): Promise<FoundTable> {
  const { schema, name } = readTableName(text);
  const where = schema === undefined ? 'pg_catalog.pg_table_is_visible(c.oid)' : 'n.nspname = $2::pg_catalog.text';
  const sql = `
SELECT c.oid, n.nspname, c.relname, ${kindSql}, pg_catalog.obj_description(c.oid, 'pg_class')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = $1::pg_catalog.text AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ${where}`;
  const { rows } = await session.query(sql, schema === undefined ? [name] : [name, schema]);
  const [oid, found, relname, kind, comment] = rows[0] ?? [];
  if (oid == null || found == null || relname == null || kind == null) {
    throw new ToolFault(
      `There is no table ${JSON.stringify(text.slice(0, 200))}. list_tables shows the readable tables.`,
    );
  }
  return { oid, schema: found, name: relname, kind, comment: comment ?? null };
}

/** Columns, constraints and indexes, as PostgreSQL writes them. */
export async function describeTable(session: Session, text: string): Promise<object> {
  const { oid, schema, name, kind, comment } = await findTable(session, text);
  const all = Number.MAX_SAFE_INTEGER - 1;
  const [columns, constraints, indexes] = [
    await readRows(session, columnsSql, all, [oid]),
    await readRows(session, constraintsSql, all, [oid]),
    await readRows(session, indexesSql, all, [oid]),
  ];
  return {
    schema,
    table: name,
    kind,
    comment,
    columns: columns.rows,
    constraints: constraints.rows,
    indexes: indexes.rows,
    ...truncationOf({ columns, constraints, indexes }),
  };
}

/** A table whose description is over the size limit of a result says which of its lists are incomplete. */
function truncationOf(lists: Readonly<Record<string, Rows>>): object {
  const notes = Object.entries(lists).flatMap(([name, { truncated, note = '' }]) =>
    truncated ? [`${name}: ${note}`] : [],
  );
  return notes.length === 0 ? {} : { truncated: true, note: notes.join('; ') };
}

const kindSql = `CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view'
  WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END`;

const columnsSql = `
SELECT a.attname AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
  CASE WHEN a.attgenerated <> '' THEN 'generated: ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid)
    WHEN a.attidentity <> '' THEN 'identity' ELSE pg_catalog.pg_get_expr(d.adbin, d.adrelid) END AS default,
  pg_catalog.col_description(a.attrelid, a.attnum) AS comment
FROM pg_catalog.pg_attribute a
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1::pg_catalog.oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum`;

const constraintsSql = `
SELECT conname AS name, pg_catalog.pg_get_constraintdef(oid, true) AS definition
FROM pg_catalog.pg_constraint WHERE conrelid = $1::pg_catalog.oid ORDER BY contype, conname`;

const indexesSql = `
SELECT c.relname AS name, pg_catalog.pg_get_indexdef(i.indexrelid) AS definition
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = $1::pg_catalog.oid ORDER BY 1`;
