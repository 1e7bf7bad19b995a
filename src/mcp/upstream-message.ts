import { isJsonObject } from '../base/index.ts';
import { isObjectMember, lazyObject, maxParsedAtOnce } from './json/lazy-members.ts';
import { membersOf, withMembers } from './json/members.ts';
import { oneLine } from './json/one-line.ts';
import { maxParsedLength, maxParsedParts } from './json/parse-bounds.ts';
import { hasMore, isDeeperThan, type Member, ScanFailure, type ScannedValue, scanJson } from './json/scan-json.ts';
import { validateJson } from './json/validate-json.ts';
import type { ServerRequest } from './server-request.ts';
import { findAnsweredId } from './skipped-line.ts';

/** A message from an upstream server. Results are kept as text. */
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
  | ({ readonly kind: 'request'; readonly id: string | number } & ServerRequest)
  | { readonly kind: 'notification'; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
  /** A large answer for which nobody waits. */
  | { readonly kind: 'unasked'; readonly id: unknown }
  /** Has an id if it would have been the answer to the request with that id. */
  | { readonly kind: 'garbage'; readonly reason: string; readonly id: unknown };

/**
 * Results may nest deeper than requests, but not without limit: later steps, including `JSON.stringify`, need a stack
 * frame per level.
 */
const maxDepth = 512;
/** The protocol's messages and results have about ten. */
const maxMembers = 1000;
const scanOptions = { maxDepth, rejectRepeatedKeys: false, collectDepth: 1, maxMembers };
const largeOptions = { ...scanOptions, collectDepth: 2 };

/** The longest answer that is read for the request with that id; undefined if no such request waits. */
export type AnswerLimit = (id: unknown) => number | undefined;

/** With a limit, a large answer that nobody may receive costs only the search for its id. */
export function readUpstreamMessage(text: string, limitOf: AnswerLimit = anyLength): UpstreamMessage {
  return readPlainResult(text) ?? readAnything(text, limitOf);
}

const anyLength: AnswerLimit = () => Number.POSITIVE_INFINITY;

/** Longer texts must be scanned first: JSON.parse may need seconds to reject megabytes of brackets. */
const maxPlainLength = 256 * 1024;
/** For texts over 64 kB: JSON.parse needs a microsecond and more for a key, and next to nothing for a long string. */
const maxPlainColons = 5000;
const idFirst = '{"jsonrpc":"2.0","id":';
const resultFirst = '{"result":{';
const idLast = /,"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14})\}$/;
const plainId = /^(?:0|[1-9]\d{0,14})$/;

/**
 * A fast path for the two forms in which nearly every server writes a result. If the text between a known head and a
 * known tail is valid JSON by itself, it is the whole result, and no scan is needed to find its end.
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
  if (inner.length > maxParsedAtOnce && hasMore(inner, ':', maxPlainColons)) return undefined;
  try {
    const value: unknown = JSON.parse(inner);
    return isJsonObject(value) ? { kind: 'result', id, text: oneLine(inner), value } : undefined;
  } catch {
    // There is more than a result. The scan reads it.
    return undefined;
  }
}

function readAnything(text: string, limitOf: AnswerLimit): UpstreamMessage {
  const first = firstCode(text);
  // Decided without a scan, because lines that are no messages often come in great numbers.
  if (first !== openObject) return first === openArray ? garbage('not an object') : garbage('not JSON');
  let scanned: ScannedValue | undefined;
  let value: unknown;
  try {
    // Scan first: JSON.parse needs seconds and gigabytes to reject megabytes of brackets.
    scanned = scanJson(text, text.length > maxParsedAtOnce ? largeOptions : scanOptions);
    const large = text.length > maxParsedAtOnce ? readLarge(text, scanned, limitOf) : undefined;
    if (large !== undefined) return large;
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof ScanFailure && error.reason !== 'syntax') return garbage(error.message, answeredId(text));
    // Where the structure is sound, the request that waits for this answer can be told.
    return garbage('not JSON', scanned === undefined ? undefined : answeredId(text));
  }
  const { members } = scanned;
  if (!isJsonObject(value)) return garbage('not an object');
  if (typeof value.method === 'string') return readCall(text, members, value, value.method);
  if (isJsonObject(value.result)) return readResult(text, members, value.id, value.result);
  if (isJsonObject(value.error)) return readError(text, members, value.id, value.error);
  return garbage('neither a request, a notification nor an answer');
}

/** The first character that is not blank. */
function firstCode(text: string): number {
  let at = 0;
  let code = text.charCodeAt(at);
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at);
  return code;
}

const quote = 34;
const openArray = 91;
const openObject = 123;

/**
 * A large result is forwarded as text: it is validated without being parsed, and its large members are parsed only if
 * somebody reads them. Other large messages would have to be parsed, so they are bounded.
 */
function readLarge(text: string, scanned: ScannedValue, limitOf: AnswerLimit): UpstreamMessage | undefined {
  const { members, parts } = scanned;
  const result = lastMember(members, 'result');
  if (result?.members === undefined || lastMember(members, 'method') !== undefined) {
    if (text.length <= maxParsedLength && parts <= maxParsedParts) return undefined;
    const bound = text.length > maxParsedLength ? `${maxParsedLength} characters` : `${maxParsedParts} values`;
    return garbage(`over ${bound} that is not a result`, answeredId(text));
  }
  const id = answeredId(text, members);
  const limit = limitOf(id);
  if (limit === undefined) return { kind: 'unasked', id };
  if (text.length > limit) return garbage(`over ${limit} characters`, id);
  const odd = result.members.find((member) => isOddScalar(text, member));
  if (odd !== undefined) return garbage(`with a large ${odd.key}`, id);
  validateJson(text, maxDepth);
  return {
    kind: 'result',
    id,
    text: oneLine(text.slice(result.start, result.end)),
    value: lazyObject(text, result.members),
  };
}

/** Ids are the hub's own numbers. */
const maxIdLength = 1000;

/** Members that the hub reads to decide what to do with a result. If they are large, they can only be texts. */
const scalarMembers: ReadonlySet<string> = new Set([
  ...['isError', 'nextCursor', 'protocolVersion', 'requestState', 'resultType', 'taskId', 'ttlMs'],
]);

function isOddScalar(text: string, { key, start, end }: Member): boolean {
  return end - start > maxParsedAtOnce && scalarMembers.has(key) && text.charCodeAt(start) !== quote;
}

/** The id of the request that an unreadable message answers, as far as it can be determined. */
function answeredId(text: string, known?: readonly Member[]): unknown {
  try {
    const members = known ?? scanJson(text, idOptions).members;
    const id = lastMember(members, 'id');
    if (id === undefined || lastMember(members, 'method') !== undefined) return undefined;
    return JSON.parse(text.slice(id.start, Math.min(id.end, id.start + maxIdLength)));
  } catch (error) {
    return error instanceof ScanFailure && error.reason === 'members' ? findAnsweredId(text) : undefined;
  }
}

const idOptions = { ...scanOptions, maxDepth: Number.MAX_SAFE_INTEGER };

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
  // Number.isInteger does not narrow `code`.
  return { kind: 'error', id, text: oneLine(text.slice(span.start, span.end)), code: code as number, message };
}

/** The last of several members with the same key wins, as in JSON.parse. */
function lastMember(members: readonly Member[] | undefined, key: string): Member | undefined {
  return members?.findLast((member) => member.key === key);
}

/** The result for a modern client, with exactly one `resultType`. */
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

/** The result for a legacy client. */
export function toLegacyResult(result: UpstreamMessage & { kind: 'result' }): string {
  const { text, value } = result;
  // In the legacy era, structuredContent must be an object. The content has the same information as text.
  const odd = Object.hasOwn(value, 'structuredContent') && !isObjectMember(value, 'structuredContent');
  if (!odd && !Object.hasOwn(value, 'resultType')) return text;
  return withMembers(text, odd ? { resultType: undefined, structuredContent: undefined } : { resultType: undefined });
}

function garbage(reason: string, id?: unknown): UpstreamMessage {
  return { kind: 'garbage', reason, id };
}
