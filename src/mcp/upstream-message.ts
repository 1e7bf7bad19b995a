import { isJsonObject } from '../base/index.ts';
import { membersOf, withMembers } from './members.ts';
import { oneLine } from './one-line.ts';
import type { Question } from './question.ts';
import { isDeeperThan, type Member, ScanFailure, scanJson } from './scan-json.ts';

/** What an upstream server sent, with results kept as text. */
export type UpstreamMessage =
  | {
      readonly kind: 'result';
      readonly id: unknown;
      readonly text: string;
      readonly value: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'error';
      readonly id: unknown;
      readonly text: string;
      readonly code: number;
      readonly message: string;
    }
  | ({ readonly kind: 'request'; readonly id: string | number } & Question)
  | { readonly kind: 'notification'; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
  /** With an id where it would have been the answer to a request of that id. */
  | { readonly kind: 'garbage'; readonly reason: string; readonly id: unknown };

/**
 * Results nest deeper than requests may, but not without end: what reads a message further on, down to `JSON.stringify`,
 * needs a stack frame for each level.
 */
const maxDepth = 512;
const scanOptions = { maxDepth, rejectRepeatedKeys: false, collectDepth: 1 };

export function readUpstreamMessage(text: string): UpstreamMessage {
  return readPlainResult(text) ?? readAnything(text);
}

/** Beyond this a scan must come first: JSON.parse may need seconds to find fault with megabytes of brackets. */
const maxPlainLength = 256 * 1024;
const idFirst = '{"jsonrpc":"2.0","id":';
const resultFirst = '{"result":{';
const idLast = /,"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14})\}$/;
const plainId = /^(?:0|[1-9]\d{0,14})$/;

/**
 * The two spellings in which nearly every server writes a result. What stands between a known head and a known tail,
 * and is valid JSON by itself, is the whole result: no scan is needed to find where it ends.
 */
function readPlainResult(text: string): UpstreamMessage | undefined {
  if (text.length > maxPlainLength) return undefined;
  let id: number;
  let inner: string;
  if (text.startsWith(idFirst)) {
    const comma = text.indexOf(',', idFirst.length);
    const digits = text.slice(idFirst.length, comma);
    if (!text.startsWith(',"result":{', comma) || !text.endsWith('}') || !plainId.test(digits)) return undefined;
    id = Number(digits);
    inner = text.slice(comma + ',"result":'.length, -1);
  } else {
    const tail = text.startsWith(resultFirst) ? idLast.exec(text.slice(-60)) : null;
    if (tail === null) return undefined;
    id = Number(tail[1]);
    inner = text.slice(resultFirst.length - 1, -tail[0].length);
  }
  if (isDeeperThan(inner, maxDepth - 1)) return undefined;
  try {
    const value: unknown = JSON.parse(inner);
    return isJsonObject(value) ? { kind: 'result', id, text: oneLine(inner), value } : undefined;
  } catch {
    // Something else stands there too; the scan finds out what.
    return undefined;
  }
}

function readAnything(text: string): UpstreamMessage {
  let members: readonly Member[] | undefined;
  let value: unknown;
  try {
    // The scan comes first: JSON.parse needs seconds and gigabytes to find fault with megabytes of brackets.
    members = scanJson(text, scanOptions).members;
    value = JSON.parse(text);
  } catch (error) {
    const tooDeep = error instanceof ScanFailure && error.reason === 'depth';
    return tooDeep ? garbage(error.message, answeredId(text)) : garbage('not JSON');
  }
  if (!isJsonObject(value)) return garbage('not an object');
  if (typeof value.method === 'string') return readCall(text, members, value, value.method);
  if (isJsonObject(value.result)) return readResult(text, members, value.id, value.result);
  if (isJsonObject(value.error)) return readError(text, members, value.id, value.error);
  return garbage('neither a request, a notification nor an answer');
}

/** Of a message that is not read any further: the request that it answers, as far as that can be told. */
function answeredId(text: string): unknown {
  try {
    const members = membersOf(text);
    const id = lastMember(members, 'id');
    if (id === undefined || lastMember(members, 'method') !== undefined) return undefined;
    return JSON.parse(text.slice(id.start, id.end));
  } catch {
    return undefined;
  }
}

function readCall(
  text: string,
  members: readonly Member[] | undefined,
  value: Record<string, unknown>,
  method: string,
): UpstreamMessage {
  const { id } = value;
  const params = isJsonObject(value.params) ? value.params : {};
  if (id === undefined) return { kind: 'notification', method, params };
  if (typeof id !== 'string' && typeof id !== 'number') return garbage('a request with an unusable id');
  const span = isJsonObject(value.params) ? lastMember(members, 'params') : undefined;
  const paramsText = span === undefined ? '{}' : oneLine(text.slice(span.start, span.end));
  return { kind: 'request', id, method, params, paramsText };
}

function readResult(
  text: string,
  members: readonly Member[] | undefined,
  id: unknown,
  value: Record<string, unknown>,
): UpstreamMessage {
  const span = lastMember(members, 'result');
  if (span === undefined) return garbage('a result that is not an object');
  return { kind: 'result', id, text: oneLine(text.slice(span.start, span.end)), value };
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
  const { text, value } = result;
  if (Object.hasOwn(value, 'resultType')) {
    const members = membersOf(text);
    if (members.filter(({ key }) => key === 'resultType').length === 1) return text;
  }
  const plain = Object.hasOwn(value, 'resultType') ? withMembers(text, { resultType: undefined }) : text;
  const empty = Object.keys(value).every((key) => key === 'resultType');
  return `{"resultType":"complete"${empty ? '' : ','}${plain.slice(1)}`;
}

/** The result as a legacy client knows it. */
export function toLegacyResult(result: UpstreamMessage & { kind: 'result' }): string {
  const { text, value } = result;
  const { structuredContent } = value;
  // Only an object may stand there in the legacy era; the content says the same in words.
  const odd = structuredContent !== undefined && !isJsonObject(structuredContent);
  if (!odd && !Object.hasOwn(value, 'resultType')) return text;
  return withMembers(text, odd ? { resultType: undefined, structuredContent: undefined } : { resultType: undefined });
}

function garbage(reason: string, id?: unknown): UpstreamMessage {
  return { kind: 'garbage', reason, id };
}
