/**
 * Every failure the hub can name, in one table. `docs/errors.md` is generated from it.
 *
 * Our own JSON-RPC codes are outside -32768..-32000, which the specification reserves. `retryable` means that the same
 * call may succeed later without any change.
 */
export const errorTable = {
  UNAUTHENTICATED: row(401, -31001, 4, false, 'The request has no valid agent token.'),
  FORBIDDEN_HOST: row(403, -31002, 1, false, 'The Host or Origin header is not allowed.'),
  PARSE_ERROR: row(400, -32700, 2, false, 'The message is not valid JSON, or not valid UTF-8.'),
  INVALID_REQUEST: row(400, -32600, 2, false, 'The message is not a JSON-RPC request that this endpoint accepts.'),
  METHOD_NOT_FOUND: row(404, -32601, 2, false, 'The method does not exist in this protocol version.'),
  INVALID_PARAMS: row(400, -32602, 2, false, 'The parameters are not valid for the method.'),
  REQUEST_TOO_LARGE: row(413, -31003, 2, false, 'The message is over the size or depth limit.'),
  HEADER_MISMATCH: row(400, -32020, 2, false, 'A mirrored MCP header is missing or differs from the body.'),
  UNSUPPORTED_VERSION: row(400, -32022, 2, false, 'The hub does not support this protocol version.'),
  SESSION_UNKNOWN: row(404, -31004, 1, true, 'The client session has ended or never existed; initialize again.'),
  TOOL_UNKNOWN: row(404, -32602, 5, false, 'The agent has no tool with that name.'),
  SERVER_UNKNOWN: row(404, -31005, 2, false, 'No server with that name is configured.'),
  ARGUMENTS_INVALID: row(400, -32602, 2, false, 'The arguments are not an object, or they repeat a key.'),
  POLICY_DENIED: row(403, -31006, 5, false, 'A policy denies this call.'),
  APPROVAL_REQUIRED: row(403, -31007, 5, true, 'A rule requires approval, and nobody has approved the call yet.'),
  APPROVAL_UNKNOWN: row(404, -31043, 1, false, 'There is no approval or grant with that id.'),
  APPROVAL_DECIDED: row(409, -31044, 1, false, 'Somebody has decided already, or the time is over.'),
  APPROVAL_NOT_YOURS: row(403, -31045, 5, false, 'This person may not decide on this approval.'),
  APPROVAL_UNAVAILABLE: row(503, -31046, 1, true, 'The hub could not store the approval, so it did not send the call.'),
  CAPABILITY_MISSING: row(400, -32021, 1, false, 'The server needs a capability that the client has not declared.'),
  INPUT_MISSING: row(400, -31013, 1, false, 'The client did not provide the input that the server asked for.'),
  RESOURCE_UNKNOWN: row(404, -32602, 5, false, 'The agent has no resource with that URI.'),
  PROMPT_UNKNOWN: row(404, -32602, 5, false, 'The agent has no prompt with that name.'),
  TASK_UNKNOWN: row(404, -32602, 5, false, 'The agent has no task with that id.'),
  OVERLOADED: row(
    503,
    -31008,
    1,
    true,
    "Too many calls are in flight, or this agent's clients have too much unread data.",
  ),
  RATE_LIMITED: row(
    429,
    -31012,
    1,
    true,
    'The call is over the configured rate limit of the server, so the hub did not send it.',
  ),
  LEDGER_UNAVAILABLE: row(503, -31009, 1, true, 'The hub could not record the call, so it did not send it.'),
  HUB_STOPPING: row(503, -31010, 1, true, 'The hub is shutting down and accepts no new calls.'),
  INTERRUPTED: row(503, -31014, 1, false, 'The hub stopped before the server answered; the call may have run.'),
  HUB_LOST: row(503, -31016, 1, false, 'The connection to the hub broke; the call may have run.'),
  CANCELLED: row(499, -31011, 130, false, 'The caller cancelled the call.'),
  RESULT_TOO_LARGE: row(
    503,
    -31015,
    1,
    false,
    "The call ran, but the hub dropped its result: it is over the limit of its server, or this agent's clients have too much unread data.",
  ),
  UPSTREAM_UNAVAILABLE: row(502, -31020, 1, true, 'The hub cannot reach the server, so it did not send the call.'),
  UPSTREAM_LOST: row(502, -31021, 1, false, 'The connection broke after the call was sent; it may have run.'),
  UPSTREAM_TIMEOUT: row(504, -31022, 1, false, 'The server did not answer in time; the call may still run.'),
  UPSTREAM_NEEDS_LOGIN: row(502, -31023, 4, false, 'The server requires a login (401).'),
  UPSTREAM_FORBIDDEN: row(502, -31024, 1, false, 'The server does not accept this credential (403 or 451).'),
  UPSTREAM_THROTTLED: row(502, -31025, 1, true, 'The server limits the rate of calls (429).'),
  UPSTREAM_FAILED: row(502, -31026, 1, true, 'The server answered with an HTTP error.'),
  UPSTREAM_GARBLED: row(502, -31027, 1, false, 'The server sent a message that is not valid MCP.'),
  SERVER_INVALID: row(409, -31028, 3, false, "The server's configuration is invalid."),
  NOT_TRUSTED: row(409, -31017, 6, false, "Nobody has approved the server's command or address yet."),
  SERVER_DISABLED: row(409, -31029, 1, false, 'The server is disabled.'),
  CONFIG_INVALID: row(500, -31030, 3, false, 'The hub cannot read the configuration.'),
  USAGE: row(400, -31031, 2, false, 'The command has invalid arguments.'),
  STATE_LOCKED: row(409, -31032, 1, true, 'Another process is using the state of this workspace.'),
  PORT_TAKEN: row(409, -31042, 1, true, 'Another program listens on the port.'),
  HUB_NOT_RUNNING: row(409, -31041, 1, true, 'No hub runs in this workspace.'),
  KEYCHAIN_UNAVAILABLE: row(
    503,
    -31040,
    1,
    true,
    'The hub cannot use the keychain that holds the key of the stored secrets.',
  ),
  TOKEN_UNKNOWN: row(404, -31033, 1, false, 'There is no token with that id.'),
  INTERNAL: row(500, -32603, 1, false, 'The hub has a defect; please report it.'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorRow {
  readonly http: number;
  readonly jsonRpc: number;
  readonly exit: number;
  readonly retryable: boolean;
  readonly meaning: string;
}

/** Machine-readable details of a failure. Never holds a secret. */
export interface ErrorDetails {
  readonly server?: string;
  readonly tool?: string;
  readonly retryAfterMs?: number;
  readonly [key: string]: unknown;
}

export interface HubErrorOptions {
  readonly cause?: unknown;
  /** The next step for the reader, as a sentence. */
  readonly hint?: string;
  readonly details?: ErrorDetails;
}

export class HubError extends Error {
  override readonly name: string = 'HubError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: HubErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details ?? {};
  }

  get row(): ErrorRow {
    return errorTable[this.code];
  }
}

/** Converts any thrown value to a HubError. Other values are defects. */
export function toHubError(error: unknown): HubError {
  if (error instanceof HubError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new HubError('INTERNAL', message, { cause: error });
}

/** The message and its hint, on one line. */
export function explainError(error: HubError): string {
  if (error.hint === undefined) return error.message;
  return `${error.message}${/[.!?]$/.test(error.message) ? '' : '.'} ${error.hint}`;
}

function row(http: number, jsonRpc: number, exit: number, retryable: boolean, meaning: string): ErrorRow {
  return { http, jsonRpc, exit, retryable, meaning };
}
