/** How a call ended, in the words of the ledger. */
export type Outcome =
  | 'ok'
  /** The server wants something of the caller first; the caller comes again with it. */
  | 'input_required'
  /** The server made a task of the call; the caller asks for the result later. */
  | 'task'
  | 'tool_error'
  | 'upstream_error'
  | 'denied'
  | 'rate_limited'
  | 'overloaded'
  | 'timeout'
  | 'cancelled'
  | 'unavailable'
  | 'lost'
  | 'needs_login'
  | 'forbidden'
  | 'throttled'
  | 'interrupted'
  | 'invalid'
  /** The server wanted something that the caller could not or would not give. */
  | 'input_missing'
  | 'unknown_tool';
