import type { CallResult } from '../../calls/index.ts';
import type { OperationKind } from '../../domain/index.ts';
import {
  type Era,
  errorReply,
  rawErrorReply,
  resultReply,
  toLegacyResult,
  toModernResult,
  withMembers,
} from '../../mcp/index.ts';

/** The answer to a request. `ran`: a server has run an operation for it. */
export interface RequestAnswer {
  readonly idText: string;
  readonly text: string;
  readonly ran: boolean;
}

/** Answers that are sent together. Large ones count while they wait, and become errors if too much waits already. */
export interface CountedAnswers {
  /** The text of the answer, or of an error in its place. */
  add(answer: RequestAnswer): string;
  /** All of them are sent now. */
  release(): void;
}

/** The JSON-RPC answer to an operation, in the client's era. */
export function operationAnswer(idText: string, kind: OperationKind, outcome: CallResult, era: Era): string {
  switch (outcome.kind) {
    case 'result':
      if (kind === 'subscription') return resultReply(idText, '{}');
      if (era === 'legacy') return resultReply(idText, toLegacyResult(outcome.result));
      return resultReply(idText, modernResult(kind, toModernResult(outcome.result), outcome.result.value));
    case 'error':
      return rawErrorReply(idText, outcome.text);
    case 'failed': {
      const known = outcome.error.code === 'RESOURCE_UNKNOWN' && era === 'legacy';
      return errorReply(idText, outcome.error, known ? legacyNotFound : undefined);
    }
  }
}

/** Other agents may not see what this one read, so only this client may cache it, even if the server calls it public. */
function modernResult(kind: OperationKind, text: string, value: Readonly<Record<string, unknown>>): string {
  if (kind !== 'resource' || value.resultType === 'input_required') return text;
  const { ttlMs } = value;
  const kept = typeof ttlMs === 'number' && ttlMs >= 0 && ttlMs < Number.POSITIVE_INFINITY ? ttlMs : 0;
  return withMembers(text, { ttlMs: String(kept), cacheScope: '"private"' });
}

/** The legacy error code for an unknown resource. */
const legacyNotFound = -32002;
