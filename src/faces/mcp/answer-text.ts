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

/** The whole JSON-RPC answer to an operation, in the words of the client's era. */
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

/** What was read may be another's to know: nobody but this client may keep it, however public its server calls it. */
function modernResult(kind: OperationKind, text: string, value: Readonly<Record<string, unknown>>): string {
  if (kind !== 'resource' || value.resultType === 'input_required') return text;
  const { ttlMs } = value;
  const kept = typeof ttlMs === 'number' && ttlMs >= 0 && ttlMs < Number.POSITIVE_INFINITY ? ttlMs : 0;
  return withMembers(text, { ttlMs: String(kept), cacheScope: '"private"' });
}

/** The code of the legacy era for a resource that is not there. */
const legacyNotFound = -32002;
