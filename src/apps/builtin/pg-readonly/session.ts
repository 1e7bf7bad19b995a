import type { Client } from 'pg';
import { explainFailure, isRefusal } from './faults.ts';

/** One connection, for as long as somebody may ask it. */
export interface Session {
  /**
   * One statement, by the extended protocol: PostgreSQL itself refuses a text that holds two. Every value comes as
   * PostgreSQL writes it. `before` says how many characters of the text are ours, so that a position is the caller's.
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
        // Without it, pg sends texts without values by the simple protocol, which takes any number of statements.
        queryMode: 'extended',
        types: { getTypeParser: () => asWritten },
      };
      try {
        const { fields, rows } = await client.query<(string | null)[]>(statement);
        return { columns: fields.map(({ name }) => name), rows };
      } catch (error) {
        // No answer, or none that is to be believed: whatever is asked next must not wait for it.
        if (!isRefusal(error)) client.connection.stream.destroy();
        throw explainFailure(error, { before, length: text.length, timeoutSeconds });
      }
    },
  };
}

function asWritten(value: string): string {
  return value;
}
