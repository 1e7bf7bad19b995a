import { ToolFault } from '../../serving/index.ts';

/** What PostgreSQL sends with a refusal. Anything else that pg throws is a failure of the connection. */
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
  /** Characters before the caller's own. */
  readonly before: number;
  readonly length: number;
  readonly timeoutSeconds: number;
}

/** Told apart by shape: the class that pg throws is not loaded with this file. */
export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && 'severity' in error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code));
}

/** A statement failed. */
export function explainFailure(error: unknown, { before, length, timeoutSeconds }: StatementText): ToolFault {
  if (error instanceof ToolFault) return error;
  if (!isRefusal(error)) return lost();
  if (error.code === '57014') {
    return new ToolFault(
      `The statement was ended after ${timeoutSeconds} s. Ask for less, or have the operator raise --timeout.`,
    );
  }
  if (error.severity === 'FATAL') return lost();
  const at = Number(error.position ?? 0) - before;
  const where = at > 0 && at <= length - before ? `, at character ${at}` : '';
  const parts = [`PostgreSQL says: ${error.message} (SQLSTATE ${error.code}${where}).`, error.detail, error.hint];
  return new ToolFault(parts.flatMap((part) => (part ? [shorten(part)] : [])).join(' '));
}

function lost(): ToolFault {
  return new ToolFault(
    'The database did not answer, or the connection to it was lost. Nothing was changed; ask again.',
  );
}

/** There is no connection. Messages of the system name hosts, so only their codes are told. */
export function explainConnectFailure(error: unknown): ToolFault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = connectFailures[code];
  if (known !== undefined) return new ToolFault(`${known} (${code}).`);
  if (isRefusal(error)) return new ToolFault(`PostgreSQL does not let us in: SQLSTATE ${code}. Check PG_RO_URL.`);
  if (code !== '') return new ToolFault(`The database that PG_RO_URL names cannot be reached (${code}).`);
  // Without a code it is a sentence of pg's own: no TLS at the server, no password given, no answer in time.
  const reason = error instanceof Error ? `: ${error.message}` : '';
  return new ToolFault(`The database that PG_RO_URL names cannot be used${reason}.`);
}

const untrusted = 'The certificate of the database is not trusted: give its authority as sslrootcert in PG_RO_URL';

const connectFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nobody listens at the address in PG_RO_URL: is the database running, and the port right?',
  ECONNRESET: 'The database closed the connection before it was open',
  ENOTFOUND: 'The host in PG_RO_URL is not known: is its name right?',
  EAI_AGAIN: 'The host in PG_RO_URL cannot be looked up now',
  ETIMEDOUT: 'The database does not answer at the address in PG_RO_URL',
  EHOSTUNREACH: 'There is no way to the host in PG_RO_URL',
  ENOENT: 'There is no socket at the path in PG_RO_URL',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: 'The certificate of the database has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the database is for another host than PG_RO_URL names',
  '08P01': 'PostgreSQL, or a pooler before it, refuses how the connection begins: a pooler must accept `options`',
  '28000': 'PostgreSQL does not let this user in from here: check the user in PG_RO_URL, and pg_hba.conf',
  '28P01': 'PostgreSQL refuses the user or the password in PG_RO_URL',
  '3D000': 'PostgreSQL has no database of the name in PG_RO_URL',
  '42501': 'The user in PG_RO_URL may not connect to that database',
  '53300': 'PostgreSQL has no connection left: ask again later, or lower --pool',
  '57P03': 'PostgreSQL is starting or stopping: ask again in a moment',
};

function shorten(text: string): string {
  return text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text;
}
