import { errorTable, isJsonObject } from '../../base/index.ts';
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
      return rawErrorReply(idText, isReading(kind) ? readingError(outcome.text, outcome.code, era) : outcome.text);
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
  const kept = typeof ttlMs === 'number' && ttlMs >= 0 ? ttlMs : 0;
  return withMembers(text, { ttlMs: String(kept), cacheScope: '"private"' });
}

/** The eras have different codes for a resource that is not there. */
function readingError(text: string, code: number, era: Era): string {
  if (era === 'modern' && code === legacyNotFound) return withMembers(text, { code: String(modernNotFound) });
  if (era === 'legacy' && code === modernNotFound && namesUri(text)) {
    return withMembers(text, { code: String(legacyNotFound) });
  }
  return text;
}

/** Other faults in the parameters have the same code. */
function namesUri(errorText: string): boolean {
  const error: unknown = JSON.parse(errorText);
  return isJsonObject(error) && isJsonObject(error.data) && typeof error.data.uri === 'string';
}

function isReading(kind: OperationKind): boolean {
  return kind === 'resource' || kind === 'subscription';
}

const legacyNotFound = -32002;
const modernNotFound = errorTable.RESOURCE_UNKNOWN.jsonRpc;
