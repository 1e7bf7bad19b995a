import { ToolFault } from '../../serving/index.ts';

/** An error response of PostgreSQL. Any other error of pg is a connection failure. */
export interface Refusal {
  readonly message: string;
  readonly severity: string;
  /** SQLSTATE. */
  readonly code: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  readonly position?: string | undefined;
}

export interface StatementText {
  /** The number of characters before the caller's own text. */
  readonly before: number;
  readonly length: number;
  readonly timeoutSeconds: number;
}

/** Recognized by shape, because this file does not load pg's error class. */
export function isQueryRefusal(error: unknown): error is Refusal {
  return error instanceof Error && 'severity' in error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code));
}

/** Explains a failed statement. */
export function explainQueryFailure(error: unknown, { before, length, timeoutSeconds }: StatementText): ToolFault {
  if (error instanceof ToolFault) return error;
  if (!isQueryRefusal(error)) return lost();
  if (error.code === '57014') {
    return new ToolFault(
      `The statement was cancelled after ${timeoutSeconds} s. Request less, or ask the operator to raise --timeout.`,
    );
  }
  if (error.severity === 'FATAL') return lost();
  const at = Number(error.position ?? 0) - before;
  const where = at > 0 && at <= length - before ? `, at character ${at}` : '';
  const parts = [`PostgreSQL says: ${error.message} (SQLSTATE ${error.code}${where}).`, error.detail, error.hint];
  return new ToolFault(parts.flatMap((part) => (part ? [shorten(part)] : [])).join(' '));
}

function lost(): ToolFault {
  return new ToolFault('The database did not respond, or the connection was lost. Nothing was changed; try again.');
}

/** Explains a failed connection. System messages contain host names, so only their codes are shown. */
export function explainConnectFailure(error: unknown): ToolFault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = connectFailures[code];
  if (known !== undefined) return new ToolFault(`${known} (${code}).`);
  if (isQueryRefusal(error))
    return new ToolFault(`PostgreSQL refused the connection: SQLSTATE ${code}. Check PG_RO_URL.`);
  if (code !== '') return new ToolFault(`The database in PG_RO_URL cannot be reached (${code}).`);
  // Without a code it is a message of pg itself: no TLS at the server, no password given, no answer in time.
  const reason = error instanceof Error ? `: ${error.message}` : '';
  return new ToolFault(`The database in PG_RO_URL cannot be used${reason}.`);
}

const untrusted = 'The certificate of the database is not trusted: set sslrootcert in PG_RO_URL to its CA certificate';

const connectFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens at the address in PG_RO_URL: check that the database is running and the port is right',
  ECONNRESET: 'The database closed the connection before it was open',
  ENOTFOUND: 'The host in PG_RO_URL is unknown: check its name',
  EAI_AGAIN: 'The host name in PG_RO_URL cannot be resolved at the moment',
  ETIMEDOUT: 'The database does not respond at the address in PG_RO_URL',
  EHOSTUNREACH: 'There is no route to the host in PG_RO_URL',
  ENOENT: 'There is no socket at the path in PG_RO_URL',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: 'The certificate of the database has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the database does not match the host in PG_RO_URL',
  '08P01': 'PostgreSQL, or a pooler in front of it, refused the startup parameters: a pooler must accept `options`',
  '28000': 'PostgreSQL does not accept this user from this host: check the user in PG_RO_URL and pg_hba.conf',
  '28P01': 'PostgreSQL refused the user or the password in PG_RO_URL',
  '3D000': 'The database in PG_RO_URL does not exist',
  '42501': 'The user in PG_RO_URL is not allowed to connect to the database',
  '53300': 'PostgreSQL has too many connections: try again later, or lower --pool',
  '57P03': 'PostgreSQL is starting or stopping: try again in a moment',
};

function shorten(text: string): string {
  return text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text;
}
