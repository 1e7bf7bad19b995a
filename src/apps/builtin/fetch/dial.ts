import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Opens the connection for one request. */
export type Dial = (to: {
  readonly secure: boolean;
  /** A name, or an address without brackets; a name is resolved by `lookup` alone. */
  readonly host: string;
  readonly port: number;
  readonly lookup: LookupFunction;
}) => Socket;

export const dial: Dial = ({ secure, host, port, lookup }) => {
  if (!secure) return connect({ host, port, lookup });
  // A variable of the environment could switch the check of certificates off for the whole process.
  return connectTls({ host, port, lookup, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: true });
};
