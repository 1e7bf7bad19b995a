import { ToolFault, type ToolOutput } from '../../serving/index.ts';
import { parseExactly } from './exact-json.ts';
import type { Session } from './session.ts';

/** The result of a query, as tools return it. */
export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowCount: number;
  readonly truncated: boolean;
  /** Why and where it was truncated. */
  readonly note?: string;
}

/** More than a model reads. Building a result also blocks everything else in the process. */
const maxResultBytes = 1024 * 1024;
const maxRowBytes = maxResultBytes / 4;

/**
 * Runs a query as a subquery of ours, so it can only be a query, whatever its text. PostgreSQL builds the JSON, counts
 * its bytes, and sends no row beyond the limits.
 */
export async function readRows(
  session: Session,
  query: string,
  maxRows: number,
  values: readonly unknown[] = [],
): Promise<Rows> {
  const head = 'SELECT * FROM (\n';
  const { columns } = await session.query(`${head}${query}\n) AS q LIMIT 0`, values, head.length);
  const names = distinct(columns);
  const { rows: sent } = await session.query(bounded(query, columns.length, maxRows), values);
  const rows = rowsUpTo(maxRows, sent, names);
  if (rows.length === sent.length) return { columns: names, rows, rowCount: rows.length, truncated: false };
  const reason = rows.length === maxRows ? '' : tooLarge(sent[rows.length]);
  if (rows.length === 0) throw new ToolFault(`No row fits into the result: ${reason} Select fewer columns.`);
  const note = `truncated at ${rows.length} rows${reason === '' ? '' : `: ${reason}`}`;
  return { columns: names, rows, rowCount: rows.length, truncated: true, note };
}

/** EXPLAIN and SHOW cannot be subqueries. */
export async function readReport(session: Session, statement: string, maxRows: number): Promise<Rows> {
  const { columns, rows: sent } = await session.query(statement);
  const names = distinct(columns);
  const rows = sent.slice(0, maxRows).map((values) => named(names, values));
  const truncated = sent.length > maxRows;
  const note = truncated ? { note: `truncated at ${maxRows} rows` } : {};
  return { columns: names, rows, rowCount: rows.length, truncated, ...note };
}

export function answerOf(result: object): ToolOutput {
  return { text: JSON.stringify(result), structured: { ...result } };
}

/** Numbers the columns, because their names may repeat. The LIMIT keeps the inner part from being run twice. */
function bounded(query: string, columns: number, maxRows: number): string {
  const numbers = Array.from({ length: columns }, (_, index) => `c${index}`);
  const alias = columns === 0 ? 'q' : `q(${numbers.join(', ')})`;
  return `SELECT CASE WHEN bytes <= ${maxRowBytes} AND total <= ${maxResultBytes} THEN line END, bytes FROM (
SELECT line, bytes, pg_catalog.sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM (
SELECT line, pg_catalog.octet_length(line) AS bytes FROM (
SELECT pg_catalog.row_to_json(q)::pg_catalog.text AS line FROM (
${query}
) AS ${alias} LIMIT ${maxRows + 1}) AS made) AS measured) AS summed`;
}

/** Takes rows in order, up to the first one left out for its size. */
function rowsUpTo(
  maxRows: number,
  sent: readonly (readonly (string | null)[])[],
  names: readonly string[],
): Readonly<Record<string, unknown>>[] {
  const rows: Readonly<Record<string, unknown>>[] = [];
  for (const [line] of sent.slice(0, maxRows)) {
    if (line === null || line === undefined) break;
    // An object built by the query above, with numbered columns in order.
    rows.push(named(names, Object.values(parseExactly(line) as object)));
  }
  return rows;
}

function tooLarge(sent: readonly (string | null)[] | undefined): string {
  const bytes = Number(sent?.[1]);
  return bytes > maxRowBytes
    ? `the next row has ${bytes} bytes; the limit is ${maxRowBytes}.`
    : `the result is limited to ${maxResultBytes} bytes.`;
}

function named(names: readonly string[], values: readonly unknown[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}

/** `id`, `id_2`: a row is an object, which would lose one of two columns with the same name. */
function distinct(columns: readonly string[]): string[] {
  const taken = new Set(columns);
  const seen = new Set<string>();
  return columns.map((column) => {
    let name = column;
    for (let count = 2; seen.has(name); count++) {
      const other = `${column}_${count}`;
      if (!taken.has(other)) name = other;
    }
    seen.add(name);
    return name;
  });
}
