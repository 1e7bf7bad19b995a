/** How a call ended, in the words of the ledger. */
export type Outcome =
  | 'ok'
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
  | 'unknown_tool';
