import type { Client } from 'pg';
import { explainQueryFailure, isQueryRefusal } from './query-failures.ts';

/** One connection, for the duration of one transaction. */
export interface Session {
  /**
   * Runs one statement with the extended protocol, in which PostgreSQL itself refuses a text with two. Values come as
   * PostgreSQL writes them. `before` is the number of characters that precede the caller's text, to correct positions.
   */
  query(text: string, values?: readonly unknown[], before?: number): Promise<Answer>;
}

export interface Answer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

export function createSession(client: Client, timeoutSeconds: number): Session {
  return {
    async query(text, values = [], before = 0) {
      const statement = {
        text,
        values: [...values],
        rowMode: 'array' as const,
        // By default pg sends texts without values with the simple protocol, which accepts any number of statements.
        queryMode: 'extended',
        types: { getTypeParser: () => asWritten },
      };
      try {
        const { fields, rows } = await client.query<(string | null)[]>(statement);
        return { columns: fields.map(({ name }) => name), rows };
      } catch (error) {
        // There is no answer, or none that can be trusted, so nothing else may wait on this connection.
        if (!isQueryRefusal(error)) client.connection.stream.destroy();
        throw explainQueryFailure(error, { before, length: text.length, timeoutSeconds });
      }
    },
  };
}

function asWritten(value: string): string {
  return value;
}
