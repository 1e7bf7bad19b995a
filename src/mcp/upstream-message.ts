import { isJsonObject } from '../base/index.ts';
import { oneLine } from './one-line.ts';
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
const scanOptions = { maxDepth: 512, rejectRepeatedKeys: false, collectDepth: 2 };

export function readUpstreamMessage(text: string): UpstreamMessage {
  let members: readonly Member[] | undefined;
  let value: unknown;
  try {
    // The scan comes first: JSON.parse needs seconds and gigabytes to find fault with megabytes of brackets.
    members = scanJson(text, scanOptions).members;
    value = JSON.parse(text);
  } catch (error) {
    return garbage(error instanceof ScanFailure && error.reason === 'depth' ? error.message : 'not JSON');
  }
  if (!isJsonObject(value)) return garbage('not an object');
  if (typeof value.method === 'string') return readCall(value, value.method);
  if (isJsonObject(value.result)) return readResult(text, members, value.id, value.result);
  if (isJsonObject(value.error)) return readError(text, members, value.id, value.error);
  return garbage('neither a request, a notification nor an answer');
}

function readCall(value: Record<string, unknown>, method: string): UpstreamMessage {
  const { id } = value;
  if (id === undefined) return { kind: 'notification', method, params: isJsonObject(value.params) ? value.params : {} };
  if (typeof id !== 'string' && typeof id !== 'number') return garbage('a request with an unusable id');
  return { kind: 'request', id, method };
}

function readResult(
  text: string,
  members: readonly Member[] | undefined,
  id: unknown,
  value: Record<string, unknown>,
): UpstreamMessage {
  const span = lastMember(members, 'result');
  if (span?.members === undefined) return garbage('a result that is not an object');
  return {
    kind: 'result',
    id,
    text: oneLine(text.slice(span.start, span.end)),
    members: span.members,
    offset: span.start,
    value,
  };
}

function readError(
  text: string,
  members: readonly Member[] | undefined,
  id: unknown,
  error: Record<string, unknown>,
): UpstreamMessage {
  const { code, message } = error;
  const span = lastMember(members, 'error');
  if (span === undefined || !Number.isInteger(code) || typeof message !== 'string') {
    return garbage('an error without code and message');
  }
  return { kind: 'error', id, text: oneLine(text.slice(span.start, span.end)), code: code as number, message }; // checked above
}

/** Of two the last one counts, as it does for JSON.parse. */
function lastMember(members: readonly Member[] | undefined, key: string): Member | undefined {
  return members?.findLast((member) => member.key === key);
}

/** The result as a modern client wants it: every result says what it is, once. */
export function toModernResult(result: UpstreamMessage & { kind: 'result' }): string {
  const said = findMember(result.members, 'resultType');
  if (said !== undefined && said === lastMember(result.members, 'resultType')) return result.text;
  const rest = toLegacyResult(result).slice(1);
  const empty = result.members.every(({ key }) => key === 'resultType');
  return empty ? `{"resultType":"complete"${rest}` : `{"resultType":"complete",${rest}`;
}

/** The result as a legacy client knows it. */
export function toLegacyResult(result: UpstreamMessage & { kind: 'result' }): string {
  const { members, text, offset } = result;
  if (findMember(members, 'resultType') === undefined) return text;
  let inside = '';
  for (const { key, keyStart, end } of members) {
    if (key === 'resultType') continue;
    inside += `${inside === '' ? '' : ','}${text.slice(keyStart - offset, end - offset)}`;
  }
  return `{${inside}}`;
}

function garbage(reason: string): UpstreamMessage {
  return { kind: 'garbage', reason };
}
