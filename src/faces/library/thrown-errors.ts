import { type ErrorCode, HubError, toHubError } from '../../base/index.ts';

/** The server takes no more calls for now: by the limit in its configuration, or by its own word. */
export class McpRateLimitError extends HubError {
  override readonly name: string = 'McpRateLimitError';
  readonly server: string;
  /** Undefined where the server throttles and does not say for how long. */
  readonly retryAfterMs: number | undefined;

  constructor(error: HubError) {
    super(error.code, error.message, reasonsOf(error));
    this.server = error.details.server ?? '';
    this.retryAfterMs = error.details.retryAfterMs;
  }
}

/** The server could not be started or reached, or it refused the handshake; nothing was sent. */
export class MCPServerError extends HubError {
  override readonly name: string = 'MCPServerError';
  readonly server: string;
  /** The last words of a child process, where it had any. */
  readonly stderrTail: string | undefined;

  constructor(error: HubError) {
    super(error.code, error.message, reasonsOf(error));
    const { server = '', stderrTail } = error.details;
    this.server = server;
    this.stderrTail = typeof stderrTail === 'string' ? stderrTail : undefined;
  }
}

/** What the library throws for a failure: the code stays, the class tells what a program may do about it. */
export function toThrown(error: unknown): HubError {
  const known = toHubError(error);
  if (known instanceof McpRateLimitError || known instanceof MCPServerError) return known;
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
