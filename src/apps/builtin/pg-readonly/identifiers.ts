import { ToolFault } from '../../serving/index.ts';

/** The name as SQL that means exactly it. */
export function quoted(name: string): string {
  // It would end the statement on its way, in the middle of the name.
  if (name.includes('\0')) throw new ToolFault('A name holds a NUL character, which PostgreSQL does not take.');
  return `"${name.replaceAll('"', '""')}"`;
}

export interface TableName {
  /** undefined: wherever the search path finds it. */
  readonly schema: string | undefined;
  readonly name: string;
}

/** `table`, `schema.table`, and parts in double quotes where they hold a dot or a quote. Upper and lower case count. */
export function readTableName(text: string): TableName {
  const match = /^(?:(?<schema>"(?:[^"]|"")+"|[^".]+)\.)?(?<name>"(?:[^"]|"")+"|[^".]+)$/u.exec(text.trim());
  const name = match?.groups?.name;
  if (name === undefined) {
    throw new ToolFault(
      `${JSON.stringify(text.slice(0, 200))} is not the name of a table: write table or schema.table.`,
    );
  }
  const schema = match?.groups?.schema;
  return { schema: schema === undefined ? undefined : plain(schema), name: plain(name) };
}

function plain(part: string): string {
  return part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part;
}
