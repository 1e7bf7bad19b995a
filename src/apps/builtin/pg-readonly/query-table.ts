import { z } from 'zod';
import { quoted } from './identifiers.ts';
import { findTable } from './list-tables.ts';
import { type Rows, readRows } from './rows.ts';
import type { Session } from './session.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const comparison = scalar.optional();

const condition = z
  .strictObject({
    '=': comparison,
    '!=': comparison,
    '<': comparison,
    '<=': comparison,
    '>': comparison,
    '>=': comparison,
    like: z.string().optional(),
    ilike: z.string().optional(),
    in: z.array(scalar).optional(),
    'is null': z.boolean().optional(),
  })
  .describe('Operators with their values; all must match: {">=": 10, "<": 20}');

export const tableQuery = z.object({
  table: z.string().describe('table or schema.table, as list_tables shows it'),
  filters: z
    .record(z.string(), z.union([scalar, z.null(), z.array(scalar), condition]))
    .optional()
    .describe('For each column: a value to match, null, a list of values to match, or operators'),
  columns: z.array(z.string()).min(1).optional().describe('Default: all'),
  order_by: z
    .array(z.string())
    .optional()
    .describe('Columns to sort by; a leading - means descending: ["-created_at", "id"]'),
  limit: z.int().min(1).optional().describe('Maximum number of rows; the server has its own limit too'),
});

export type TableQuery = z.output<typeof tableQuery>;

export async function queryTable(session: Session, query: TableQuery, maxRows: number): Promise<Rows> {
  const { schema, name } = await findTable(session, query.table);
  const { sql, values } = selectFrom(`${quoted(schema)}.${quoted(name)}`, query);
  return readRows(session, sql, Math.min(query.limit ?? maxRows, maxRows), values);
}

/** Names are quoted and values are parameters, so no input becomes SQL. */
function selectFrom(
  table: string,
  { filters = {}, columns, order_by }: TableQuery,
): { sql: string; values: unknown[] } {
  const values: unknown[] = [];
  const conditions = Object.entries(filters).flatMap(([column, filter]) =>
    conditionsOn(quoted(column), asCondition(filter), values),
  );
  const parts = [`SELECT ${columns === undefined ? '*' : columns.map(quoted).join(', ')} FROM ${table}`];
  if (conditions.length > 0) parts.push(`WHERE ${conditions.join(' AND ')}`);
  if (order_by !== undefined && order_by.length > 0) parts.push(`ORDER BY ${order_by.map(inOrder).join(', ')}`);
  return { sql: parts.join(' '), values };
}

type Condition = z.output<typeof condition>;

function asCondition(filter: NonNullable<TableQuery['filters']>[string]): Condition {
  if (filter === null) return { 'is null': true };
  if (Array.isArray(filter)) return { in: filter };
  return typeof filter === 'object' ? filter : { '=': filter };
}

function conditionsOn(column: string, condition: Condition, values: unknown[]): string[] {
  return Object.entries(condition)
    .filter(([, value]) => value !== undefined)
    .map(([operator, value]) => {
      if (operator === 'is null') return `${column} IS ${value === true ? '' : 'NOT '}NULL`;
      values.push(value);
      const place = `$${values.length}`;
      return operator === 'in' ? `${column} = ANY (${place})` : `${column} ${sqlOperators[operator]} ${place}`;
    });
}

const sqlOperators: Readonly<Record<string, string>> = {
  '=': '=',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  like: 'LIKE',
  ilike: 'ILIKE',
};

function inOrder(column: string): string {
  return column.startsWith('-') ? `${quoted(column.slice(1))} DESC` : quoted(column);
}
