import type { Ledger, LedgerConnection } from '../../ledger/index.ts';
import type { Connection } from '../../upstream/index.ts';

/** The ledger's text for each connection, made once. */
export function createConnectionTexts(
  ledger: Pick<Ledger, 'connection'>,
): (connection: Connection) => LedgerConnection {
  const known = new WeakMap<Connection, LedgerConnection>();
  return (connection) => {
    let text = known.get(connection);
    if (text === undefined) {
      text = ledger.connection(connection);
      known.set(connection, text);
    }
    return text;
  };
}
