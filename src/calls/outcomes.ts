import type { ErrorCode } from '../base/index.ts';
import type { Outcome } from '../domain/index.ts';

/** The ledger's outcome for each error code. */
export function outcomeOf(code: ErrorCode): Outcome {
  return words[code] ?? 'upstream_error';
}

const words: Partial<Record<ErrorCode, Outcome>> = {
  TOOL_UNKNOWN: 'unknown_tool',
  RESOURCE_UNKNOWN: 'unknown_tool',
  PROMPT_UNKNOWN: 'unknown_tool',
  TASK_UNKNOWN: 'unknown_tool',
  CAPABILITY_MISSING: 'input_missing',
  INPUT_MISSING: 'input_missing',
  ARGUMENTS_INVALID: 'invalid',
  POLICY_DENIED: 'denied',
  APPROVAL_REQUIRED: 'denied',
  OVERLOADED: 'overloaded',
  RESULT_TOO_LARGE: 'result_dropped',
  RATE_LIMITED: 'rate_limited',
  HUB_STOPPING: 'unavailable',
  INTERRUPTED: 'interrupted',
  CANCELLED: 'cancelled',
  LEDGER_UNAVAILABLE: 'unavailable',
  SERVER_INVALID: 'unavailable',
  SERVER_DISABLED: 'unavailable',
  UPSTREAM_UNAVAILABLE: 'unavailable',
  UPSTREAM_LOST: 'lost',
  UPSTREAM_TIMEOUT: 'timeout',
  UPSTREAM_NEEDS_LOGIN: 'needs_login',
  UPSTREAM_FORBIDDEN: 'forbidden',
  UPSTREAM_THROTTLED: 'throttled',
};
