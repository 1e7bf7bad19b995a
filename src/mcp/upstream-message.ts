import { isJsonObject } from '../base/index.ts';
import { findMember, type Member, ScanFailure, scanJson } from './scan-json.ts';

/** What an upstream server sent, with results kept as text. */
export type UpstreamMessage =
  | {
      readonly kind: 'result';
      readonly id: unknown;
      readonly text: string;
      readonly members: readonly Member[];
      /** Where `text` begins in the scanned message; members' spans count from there. */
      readonly offset: number;
      readonly value: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'error';
      readonly id: unknown;
      readonly text: string;
      readonly code: number;
      readonly message: string;
    }
  | { readonly kind: 'request'; readonly id: string | number; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
  | { readonly kind: 'garbage'; readonly reason: string };

/** Results nest deeper than requests may, but not without end. */
const maxUpstreamDepth = 512;

export function readUpstreamMessage(text: string): UpstreamMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return garbage('not JSON');
  }
  if (!isJsonObject(value)) return garbage('not an object');
  if (typeof value.method === 'string') return readCall(value, value.method);
  if (isJsonObject(value.result)) return readResult(text, value, value.result);
  if (isJsonObject(value.error)) {
    const { code, message } = value.error;
    if (!Number.isInteger(code) || typeof message !== 'string') return garbage('an error without code and message');
    return { kind: 'error', id: value.id, text: JSON.stringify(value.error), code: code as number, message }; // checked above
  }
  return garbage('neither a request, a notification nor an answer');
}

function readCall(value: Record<string, unknown>, method: string): UpstreamMessage {
  const { id } = value;
  if (id === undefined) return { kind: 'notification', method, params: isJsonObject(value.params) ? value.params : {} };
  if (typeof id !== 'string' && typeof id !== 'number') return garbage('a request with an unusable id');
  return { kind: 'request', id, method };
}

function readResult(text: string, message: Record<string, unknown>, value: Record<string, unknown>): UpstreamMessage {
  try {
    const scanned = scanJson(text, { maxDepth: maxUpstreamDepth, rejectRepeatedKeys: false, collectDepth: 2 });
    // The last one counts, as it does for JSON.parse.
    const span = scanned.members?.findLast((member) => member.key === 'result');
    if (span?.members === undefined) return garbage('a result that is not an object');
    return {
      kind: 'result',
      id: message.id,
      text: text.slice(span.start, span.end),
      members: span.members,
      offset: span.start,
      value,
    };
  } catch (error) {
    if (error instanceof ScanFailure) return garbage(error.message);
    throw error;
  }
}

/** The result as a modern client wants it: every result says what it is. */
export function toModernResult(result: UpstreamMessage & { kind: 'result' }): string {
  if (findMember(result.members, 'resultType') !== undefined) return result.text;
  const rest = result.text.slice(1);
  return result.members.length === 0 ? `{"resultType":"complete"${rest}` : `{"resultType":"complete",${rest}`;
}

/** The result as a legacy client knows it. */
export function toLegacyResult(result: UpstreamMessage & { kind: 'result' }): string {
  const index = result.members.findIndex((member) => member.key === 'resultType');
  const member = result.members[index];
  if (member === undefined) return result.text;
  const next = result.members[index + 1];
  const previous = result.members[index - 1];
  const from = next !== undefined ? member.keyStart : (previous?.end ?? member.keyStart);
  const to = next !== undefined ? next.keyStart : member.end;
  return result.text.slice(0, from - result.offset) + result.text.slice(to - result.offset);
}

function garbage(reason: string): UpstreamMessage {
  return { kind: 'garbage', reason };
}
