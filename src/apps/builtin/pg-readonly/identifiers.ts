import { ToolFault } from '../../serving/index.ts';

/** The name as a quoted SQL identifier. */
export function quoted(name: string): string {
  // A NUL would end the statement in the middle of the name.
  if (name.includes('\0')) throw new ToolFault('A name contains a NUL character, which PostgreSQL does not accept.');
  return `"${name.replaceAll('"', '""')}"`;
}

export interface TableName {
  /** Undefined: found through the search path. */
  readonly schema: string | undefined;
  readonly name: string;
}

/**
 * Accepts `table` and `schema.table`, with double quotes around parts that contain a dot or a quote. Case-sensitive.
 */
export function readTableName(text: string): TableName {
  const match = /^(?:(?<schema>"(?:[^"]|"")+"|[^".]+)\.)?(?<name>"(?:[^"]|"")+"|[^".]+)$/u.exec(text.trim());
  const name = match?.groups?.name;
  if (name === undefined) {
    throw new ToolFault(
      `${JSON.stringify(text.slice(0, 200))} is not a valid table name: write table or schema.table.`,
    );
  }
  const schema = match?.groups?.schema;
  return { schema: schema === undefined ? undefined : plain(schema), name: plain(name) };
}

function plain(part: string): string {
  return part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part;
}
