import { HubError, isJsonObject } from '../base/index.ts';
import { heldBytesOf } from './json/held-bytes.ts';
import { oneLine } from './json/one-line.ts';
import { findMember, type Member, ScanFailure, type ScanOptions, scanElements, scanJson } from './json/scan-json.ts';
import { type ClientResponse, unanswered } from './server-request.ts';

/** A client's message, parsed once, with the text of the parts that are forwarded unchanged. */
export type Message =
  | {
      readonly kind: 'request';
      /** The id exactly as received: numbers beyond 2^53 must be returned unchanged. */
      readonly idText: string;
      readonly id: string | number;
      readonly method: string;
      readonly params: Params;
      /** The text of `params.arguments`. Undefined if it is absent or null. */
      readonly argumentsText: string | undefined;
      /** The text of `params.inputResponses`: the input that the hub requested in an earlier answer. */
      readonly inputsText: string | undefined;
      /** What the message takes until it is answered. Zero for small ones, which are not counted. */
      readonly heldBytes: number;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | { readonly kind: 'response'; readonly id: string | number; readonly answer: ClientResponse }
  | { readonly kind: 'invalid'; readonly reason: string };

export type Params = Readonly<Record<string, unknown>>;

export interface Body {
  readonly batch: boolean;
  /** What all messages together take until they are answered. */
  readonly heldBytes: number;
  readonly messages: readonly Message[];
}

/** The maximum depth of a client's message. */
export const maxInboundDepth = 64;
/** Each key costs far more than its bytes: it is compared with the others, and parsed. */
export const maxInboundKeys = 50_000;
/** Batches are a convenience of one old protocol version, not a way to queue work. */
export const maxBatch = 64;

/** Reads a body with one message or a batch. Throws HubError if it is not JSON. */
export function readBody(text: string): Body {
  const { start, members } = scan(text);
  const heldBytes = heldBytesOf(text);
  const call = plainCall(text, members, heldBytes);
  if (call !== undefined) return { batch: false, heldBytes, messages: [call] };
  const spans = text[start] === '[' ? orRefused(() => scanElements(text, start, maxBatch + 1)) : [];
  if (spans.length > maxBatch) throw new HubError('REQUEST_TOO_LARGE', `A batch may hold ${maxBatch} messages.`);
  const value = parse(text);
  if (!Array.isArray(value)) return { batch: false, heldBytes, messages: [toMessage(text, value, members)] };
  const messages = spans.map((span, index) => {
    const part = text.slice(span.start, span.end);
    return toMessage(part, value[index], scan(part).members);
  });
  return { batch: true, heldBytes, messages };
}

const scanOptions: ScanOptions = {
  maxDepth: maxInboundDepth,
  rejectRepeatedKeys: true,
  collectDepth: 2,
  maxKeys: maxInboundKeys,
};

function scan(text: string): { start: number; members: readonly Member[] | undefined } {
  return orRefused(() => scanJson(text, scanOptions));
}

function orRefused<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ScanFailure)) throw error;
    if (error.reason === 'depth') throw new HubError('REQUEST_TOO_LARGE', `The message is ${error.message}.`);
    if (error.reason === 'keys') {
      throw new HubError('REQUEST_TOO_LARGE', `The message has over ${maxInboundKeys} keys.`, {
        hint: 'Send fewer at once, or as a list or a text.',
      });
    }
    if (error.reason === 'repeated-key') {
      throw new HubError('INVALID_REQUEST', `Ambiguous JSON: ${error.message}.`, {
        hint: 'Send each key once; parsers disagree on which of two counts.',
      });
    }
    throw new HubError('PARSE_ERROR', `Not valid JSON: ${error.message}.`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HubError('PARSE_ERROR', 'Not valid JSON.', { cause: error });
  }
}

const plainId = /^(?:0|[1-9]\d{0,14}|"[\w.:-]{0,64}")$/;
/** Ids and progress tokens live as long as their calls and streams, and are repeated in each message to the client. */
export const maxIdLength = 256;
/** A string of printable ASCII without escapes. */
const plainString = /^"[ !#-[\]-~]*"$/;

/**
 * A fast path for the form in which nearly every client calls a tool. The scan already found every position, so only
 * the parts that clients choose freely need JSON.parse. Undefined for any other message, valid or not.
 */
function plainCall(text: string, members: readonly Member[] | undefined, heldBytes: number): Message | undefined {
  if (members?.length !== 4 || textOf(text, findMember(members, 'jsonrpc')) !== '"2.0"') return undefined;
  if (textOf(text, findMember(members, 'method')) !== '"tools/call"') return undefined;
  const idText = textOf(text, findMember(members, 'id')) ?? '';
  const params = findMember(members, 'params')?.members;
  if (params === undefined || !plainId.test(idText)) return undefined;
  let nameText = '';
  let argumentsText: string | undefined;
  let metaText: string | undefined;
  for (const member of params) {
    const part = text.slice(member.start, member.end);
    if (member.key === 'name') nameText = part;
    else if (member.key === 'arguments') argumentsText = part;
    else if (member.key === '_meta') metaText = part;
    else return undefined;
  }
  if (!plainString.test(nameText) || argumentsText === 'null') return undefined;
  return {
    kind: 'request',
    idText,
    id: idText.startsWith('"') ? idText.slice(1, -1) : Number(idText),
    method: 'tools/call',
    params: {
      name: nameText.slice(1, -1),
      arguments: argumentsText === undefined ? undefined : parse(argumentsText),
      _meta: metaText === undefined ? undefined : parse(metaText),
    },
    // Only after it was parsed: a line break inside a string is not JSON.
    argumentsText: argumentsText === undefined ? undefined : oneLine(argumentsText),
    inputsText: undefined,
    heldBytes,
  };
}

function toMessage(text: string, value: unknown, members: readonly Member[] | undefined): Message {
  if (!isJsonObject(value) || members === undefined) return invalid('a message must be a JSON object');
  if (value.jsonrpc !== '2.0') return invalid('"jsonrpc" must be "2.0"');
  const { id, method } = value;
  const hasId = 'id' in value;
  if (hasId && typeof id !== 'string' && !Number.isInteger(id)) return invalid('"id" must be a string or an integer');
  const idText = hasId ? (textOf(text, findMember(members, 'id')) ?? '') : '';
  if (idText.length > maxIdLength) return invalid(`"id" may have ${maxIdLength} characters`);
  if (!('method' in value)) {
    if (hasId && 'result' in value !== 'error' in value) {
      return { kind: 'response', id: id as string | number, answer: toAnswer(text, value, members) }; // checked above
    }
    return invalid('a message needs a "method", or an "id" with a "result" or an "error"');
  }
  if (typeof method !== 'string') return invalid('"method" must be a string');
  const params = value.params ?? {};
  if (!isJsonObject(params)) return invalid('"params" must be an object');
  if (!hasId) return { kind: 'notification', method, params };
  const paramsMembers = findMember(members, 'params')?.members;
  return {
    kind: 'request',
    idText: detached(idText),
    id: id as string | number, // checked above
    method,
    params,
    argumentsText: params.arguments == null ? undefined : lineOf(text, findMember(paramsMembers, 'arguments')),
    inputsText: isJsonObject(params.inputResponses)
      ? lineOf(text, findMember(paramsMembers, 'inputResponses'))
      : undefined,
    heldBytes: heldBytesOf(text),
  };
}

/** A copy: a text that is cut out of a long one keeps it, and a subscription keeps its id for as long as it is open. */
function detached(text: string): string {
  return Buffer.from(text).toString();
}

function textOf(text: string, span: Member | undefined): string | undefined {
  return span && text.slice(span.start, span.end);
}

/** For text that is forwarded: on a pipe, a line break would begin another message. */
function lineOf(text: string, span: Member | undefined): string | undefined {
  return span && oneLine(text.slice(span.start, span.end));
}

/** A server may not recognise anything but an object as an answer, and keep waiting. */
function toAnswer(text: string, value: Params, members: readonly Member[]): ClientResponse {
  const kind = 'result' in value ? 'result' : 'error';
  const answer = isJsonObject(value[kind]) ? lineOf(text, findMember(members, kind)) : undefined;
  return answer === undefined ? unanswered('The client answered with no object') : { kind, text: answer };
}

function invalid(reason: string): Message {
  return { kind: 'invalid', reason };
}
