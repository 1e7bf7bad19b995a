import { type ErrorCode, HubError, toHubError } from '../../base/index.ts';

/** The server takes no more calls for now: it is at its configured limit, or it throttles. */
export class McpRateLimitError extends HubError {
  override readonly name: string = 'McpRateLimitError';
  readonly server: string;
  /** Undefined if the server throttles without a Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(error: HubError) {
    super(error.code, error.message, reasonsOf(error));
    this.server = error.details.server ?? '';
    this.retryAfterMs = error.details.retryAfterMs;
  }
}

/** The server could not be started or reached, or it rejected the credentials, or its configuration is invalid. */
export class MCPServerError extends HubError {
  override readonly name: string = 'MCPServerError';
  readonly server: string;
  /** The last stderr output of the child process, if any. */
  readonly stderrTail: string | undefined;

  constructor(error: HubError) {
    super(error.code, error.message, reasonsOf(error));
    const { server = '', stderrTail } = error.details;
    this.server = server;
    this.stderrTail = typeof stderrTail === 'string' ? stderrTail : undefined;
  }
}

/** A person must approve the call first. Repeat it later with the same arguments, or wait with `approvalWaitMs`. */
export class ApprovalPendingError extends HubError {
  override readonly name: string = 'ApprovalPendingError';
  /** The id, as in `qm approvals` and in the hub's own `approvals`. */
  readonly approval: string;

  constructor(error: HubError) {
    super(error.code, error.message, reasonsOf(error));
    this.approval = String(error.details.approval ?? '');
  }
}

/** Converts a failure to the error the library throws. The code stays; the class shows how a program can react. */
export function toThrown(error: unknown): HubError {
  const known = toHubError(error);
  if ([McpRateLimitError, MCPServerError, ApprovalPendingError].some((kind) => known instanceof kind)) return known;
  if (known.code === 'APPROVAL_REQUIRED') return new ApprovalPendingError(known);
  if (rateLimits.has(known.code)) return new McpRateLimitError(known);
  return serverFailures.has(known.code) ? new MCPServerError(known) : known;
}

const rateLimits: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['RATE_LIMITED', 'UPSTREAM_THROTTLED']);
const serverFailures: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_NEEDS_LOGIN',
  'UPSTREAM_FORBIDDEN',
  'SERVER_INVALID',
]);

function reasonsOf({ hint, cause, details }: HubError): ConstructorParameters<typeof HubError>[2] {
  return { cause, details, ...(hint === undefined ? {} : { hint }) };
}
