import { ToolFault } from '../../serving/index.ts';
import type { ParsedSql, SqlNode } from './sql-parser.ts';

/** A statement that only reads, as far as its text shows. */
export interface ReadStatement {
  /** rows: a query, which can be a subquery · report: EXPLAIN or SHOW, which cannot. */
  readonly kind: 'rows' | 'report';
  /** Without a trailing semicolon. */
  readonly text: string;
  /** What it may call. Only the catalogs show whether these functions only read. */
  readonly mentions: readonly TableMention[];
}

export interface TableMention {
  /** reference: `a.b`, which calls the function b with a row of a if a has no such column. */
  readonly kind: 'function' | 'operator' | 'type' | 'reference';
  /** Null: found through the search path. */
  readonly schema: string | null;
  readonly name: string;
}

/** Accepts one query, EXPLAIN of one, or SHOW. Refuses anything else by its kind. */
export function readStatement(sql: string, { stmts = [] }: ParsedSql): ReadStatement {
  const [first, second] = stmts;
  if (first === undefined) throw new ToolFault('The SQL contains no statement.');
  if (second !== undefined) throw new ToolFault('The SQL contains several statements. Send one at a time.');
  const text = cut(sql, first.stmt_location ?? 0, first.stmt_len ?? 0);
  const [kind, body] = onlyEntry(first.stmt);
  if (kind === 'VariableShowStmt') return { kind: 'report', text, mentions: [] };
  const explained = kind === 'ExplainStmt';
  const query = explained ? (body.query as SqlNode) : first.stmt; // EXPLAIN always has one
  const [queryKind] = onlyEntry(query);
  if (queryKind !== 'SelectStmt') throw new ToolFault(`${nameOf(queryKind)} is not allowed here: ${allowed}`);
  return { kind: explained ? 'report' : 'rows', text, mentions: collectMentions(query) };
}

const allowed = 'this server runs SELECT, VALUES, TABLE, WITH … SELECT, EXPLAIN of these, and SHOW.';

/** Comparisons that PostgreSQL adds to statements itself: CASE, IN, BETWEEN, USING, DISTINCT. */
const unwrittenOperators = ['=', '<>', '<', '<=', '>', '>='];

/** Keywords in the parser's grammar, but ordinary functions on an older server. */
const jsonWords = [
  ...['json', 'json_array', 'json_arrayagg', 'json_exists', 'json_object', 'json_objectagg'],
  ...['json_query', 'json_scalar', 'json_serialize', 'json_table', 'json_value'],
];

/**
 * Visits every node, so that no new place for a write is missed. Iterative, so deep trees cannot overflow the stack.
 */
function collectMentions(query: SqlNode): TableMention[] {
  const found = new Map<string, TableMention>();
  const add = (kind: TableMention['kind'], parts: readonly string[]): void => {
    const name = parts.at(-1);
    if (name === undefined) return;
    const schema = parts.at(-2) ?? null;
    found.set(JSON.stringify([kind, schema, name]), { kind, schema, name });
  };
  for (const name of unwrittenOperators) add('operator', [name]);
  const open: unknown[] = [query];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, value] of Object.entries(node)) {
      refuseWrite(key);
      noteCalls(key, value, add);
      open.push(value);
    }
  }
  return [...found.values()];
}

function refuseWrite(key: string): void {
  if (key === 'intoClause') throw new ToolFault(`SELECT … INTO creates a table, which is not allowed here: ${allowed}`);
  if (key === 'lockingClause') throw new ToolFault('FOR UPDATE and FOR SHARE lock rows, which is not allowed here.');
  if (key.endsWith('Stmt') && key !== 'SelectStmt') {
    throw new ToolFault(`${nameOf(key)} is not allowed here, not even inside a query: ${allowed}`);
  }
}

function noteCalls(
  key: string,
  value: unknown,
  add: (kind: TableMention['kind'], parts: readonly string[]) => void,
): void {
  if (key === 'funcname') add('function', strings(value));
  else if (key === 'operName' || key === 'useOp') add('operator', strings(value));
  else if (key === 'A_Expr')
    add('operator', strings((value as SqlNode).name)); // an object, like all nodes
  else if (key === 'typeName' || key === 'TypeName') add('type', strings((value as SqlNode).names));
  else if (key === 'fields') for (const name of strings(value).slice(1)) add('reference', [name]);
  else if (key.startsWith('Json')) for (const name of jsonWords) add('function', [name]);
  else if (key === 'indirection') for (const name of strings(value)) add('reference', [name]);
}

/** The plain strings in a list of nodes. */
function strings(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: { readonly String?: { readonly sval?: string } }) =>
    each.String === undefined ? [] : [each.String.sval ?? ''],
  );
}

/**
 * The parser's positions are in bytes of UTF-8. Text before the statement becomes blanks, so that positions reported by
 * PostgreSQL match the caller's text.
 */
function cut(sql: string, start: number, length: number): string {
  const bytes = Buffer.from(sql);
  const before = bytes.toString('utf8', 0, start).replace(/[^\n]/gu, ' ');
  return before + bytes.toString('utf8', start, length === 0 ? bytes.length : start + length);
}

function onlyEntry(node: SqlNode): readonly [string, SqlNode] {
  const [entry] = Object.entries(node);
  // The parser wraps each statement in an object with its kind as the only key.
  return entry as [string, SqlNode];
}

/** `CreateTableAsStmt` → `CREATE TABLE AS`; the parser's names use PostgreSQL's own words. */
function nameOf(kind: string): string {
  const known: Readonly<Record<string, string>> = {
    TransactionStmt: 'A transaction command',
    VariableSetStmt: 'SET',
    CreateStmt: 'CREATE TABLE',
    DoStmt: 'DO',
    ViewStmt: 'CREATE VIEW',
    IndexStmt: 'CREATE INDEX',
    RenameStmt: 'ALTER … RENAME',
    DeclareCursorStmt: 'DECLARE',
    ClosePortalStmt: 'CLOSE',
  };
  const words = kind.replace(/Stmt$/, '').replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return known[kind] ?? words.toUpperCase();
}
