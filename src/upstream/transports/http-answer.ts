import { type AnswerLimit, readUpstreamMessage, type UpstreamMessage } from '../../mcp/index.ts';
import { bodyOfType, garbled, lostSession } from '../failures.ts';
import type { FailedReply, UpstreamReply } from '../transport.ts';
import { isConnectionRefusal } from './network.ts';

/** A complete response that was not a stream. */
export interface HttpAnswer {
  readonly server: string;
  /** The id of the request. */
  readonly id: number;
  /** The legacy session of the request. */
  readonly sessionId: string | null;
  readonly status: number;
  readonly contentType: string;
  /** The failure that the status means, if it is not 200. */
  readonly refused: FailedReply | undefined;
  readonly text: string;
  readonly limitOf: AnswerLimit;
}

/** JSON-RPC codes in a 400 answer to an unknown session. */
const sessionCodes: ReadonlySet<number> = new Set([-32000, -32001, -32600]);

export function replyOf(answer: HttpAnswer): UpstreamReply {
  const { server, id, sessionId, status, refused, text, limitOf } = answer;
  const message = text === '' ? undefined : readUpstreamMessage(text, limitOf);
  if (message?.kind === 'result' && message.id === id && refused === undefined) {
    // Nearly every answer. Written out: a spread costs several times as much.
    return { kind: 'result', id, text: message.text, value: message.value, httpStatus: status };
  }
  if (status === 404 && sessionId !== null) return lostSession(server, status);
  if (message?.kind === 'error' && status === 400 && sessionId !== null && sessionCodes.has(message.code))
    return lostSession(server, status);
  if (refused !== undefined && (isConnectionRefusal(status) || status === 429 || status >= 500)) return refused;
  if (message?.kind === 'error' && (message.id === id || message.id === null || message.id === undefined))
    return { ...message, httpStatus: status };
  if (refused !== undefined) return refused;
  return garbled(server, describe(answer.contentType, message), status);
}

function describe(contentType: string, message: UpstreamMessage | undefined): string {
  if (message === undefined) return 'an empty body';
  if (message.kind === 'unasked') return 'a result where the answer should be';
  if (message.kind !== 'garbage') return `a ${message.kind} where the answer should be`;
  return message.id === undefined ? bodyOfType(contentType) : `an answer ${message.reason}`;
}
