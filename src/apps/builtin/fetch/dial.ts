import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Opens the connection for one request. */
export type Dial = (to: {
  readonly secure: boolean;
  /** A name, or an address without brackets. Only `lookup` resolves names. */
  readonly host: string;
  readonly port: number;
  readonly lookup: LookupFunction;
}) => Socket;

export const dial: Dial = ({ secure, host, port, lookup }) => {
  if (!secure) return connect({ host, port, lookup });
  // Explicit, because an environment variable can disable certificate checks for the whole process.
  return connectTls({ host, port, lookup, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: true });
};
