/** How a call ended, as recorded in the ledger. */
export type Outcome =
  | 'ok'
  /** The server needs input first. The caller retries the call with it. */
  | 'input_required'
  /** The server turned the call into a task. The caller fetches the result later. */
  | 'task'
  /** A person must approve the call first. The caller repeats the call later. */
  | 'pending'
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
  /** The call was held for a person's decision and never sent, because its hub ended first. It did not run. */
  | 'void'
  | 'invalid'
  /** The server answered, but the result was too large to be delivered. */
  | 'result_dropped'
  /** The server requested input that the caller could not or would not give. */
  | 'input_missing'
  | 'unknown_tool';
