import { HubError, isJsonObject } from '../base/index.ts';
import { oneLine } from './one-line.ts';
import { type QuestionAnswer, unanswered } from './question.ts';
import { findMember, type Member, ScanFailure, scanElements, scanJson } from './scan-json.ts';

/** A client's message, parsed once, with the text of what is forwarded unchanged. */
export type Message =
  | {
      readonly kind: 'request';
      /** The id exactly as it came: numbers beyond 2^53 must return unchanged. */
      readonly idText: string;
      readonly id: string | number;
      readonly method: string;
      readonly params: Params;
      /** The text of `params.arguments`, when there is one; null counts as none, here as for the value. */
      readonly argumentsText: string | undefined;
      /** The text of `params.inputResponses`: what the hub asked for in an earlier answer. */
      readonly inputsText: string | undefined;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | { readonly kind: 'response'; readonly id: string | number; readonly answer: QuestionAnswer }
  | { readonly kind: 'invalid'; readonly reason: string };

export type Params = Readonly<Record<string, unknown>>;

export interface Body {
  readonly batch: boolean;
  readonly messages: readonly Message[];
}

/** Depth of what clients may send. */
export const maxInboundDepth = 64;
/** A batch is a convenience of one old revision, not a way to queue work. */
export const maxBatch = 64;

/** Reads a body that holds one message or a batch; throws HubError for what is no JSON at all. */
export function readBody(text: string): Body {
  const { start, members } = scan(text);
  const call = plainCall(text, members);
  if (call !== undefined) return { batch: false, messages: [call] };
  const value = parse(text);
  if (!Array.isArray(value)) return { batch: false, messages: [toMessage(text, value, members)] };
  const spans = scanElements(text, start);
  if (spans.length > maxBatch) throw new HubError('REQUEST_TOO_LARGE', `A batch may hold ${maxBatch} messages.`);
  const messages = spans.map((span, index) => {
    const part = text.slice(span.start, span.end);
    return toMessage(part, value[index], scan(part).members);
  });
  return { batch: true, messages };
}

function scan(text: string): { start: number; members: readonly Member[] | undefined } {
  try {
    return scanJson(text, { maxDepth: maxInboundDepth, rejectRepeatedKeys: true, collectDepth: 2 });
  } catch (error) {
    if (!(error instanceof ScanFailure)) throw error;
    if (error.reason === 'depth') throw new HubError('REQUEST_TOO_LARGE', `The message is ${error.message}.`);
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

const plainId = /^(?:0|[1-9]\d{0,14}|"[\w.:-]*")$/;
/** A string of printable ASCII without escapes. */
const plainString = /^"[ !#-[\]-~]*"$/;

/**
 * The spelling in which nearly every client calls a tool. The scan has seen where everything stands, so only what clients choose
 * freely is left to JSON.parse. Undefined for anything else, good or bad.
 */
function plainCall(text: string, members: readonly Member[] | undefined): Message | undefined {
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
    argumentsText,
    inputsText: undefined,
  };
}

function toMessage(text: string, value: unknown, members: readonly Member[] | undefined): Message {
  if (!isJsonObject(value) || members === undefined) return invalid('a message must be a JSON object');
  if (value.jsonrpc !== '2.0') return invalid('"jsonrpc" must be "2.0"');
  const { id, method } = value;
  const hasId = 'id' in value;
  if (hasId && typeof id !== 'string' && !Number.isInteger(id)) return invalid('"id" must be a string or an integer');
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
  const idSpan = findMember(members, 'id') as Member; // the value has an id, so the scan saw it
  const paramsMembers = findMember(members, 'params')?.members;
  return {
    kind: 'request',
    idText: text.slice(idSpan.start, idSpan.end),
    id: id as string | number, // checked above
    method,
    params,
    argumentsText: params.arguments == null ? undefined : textOf(text, findMember(paramsMembers, 'arguments')),
    inputsText: isJsonObject(params.inputResponses)
      ? textOf(text, findMember(paramsMembers, 'inputResponses'))
      : undefined,
  };
}

function textOf(text: string, span: Member | undefined): string | undefined {
  return span && text.slice(span.start, span.end);
}

/** A server that gets anything but an object may not see an answer in it, and wait on. */
function toAnswer(text: string, value: Params, members: readonly Member[]): QuestionAnswer {
  const kind = 'result' in value ? 'result' : 'error';
  const answer = isJsonObject(value[kind]) ? textOf(text, findMember(members, kind)) : undefined;
  return answer === undefined ? unanswered('The client answered with no object') : { kind, text: oneLine(answer) };
}

function invalid(reason: string): Message {
  return { kind: 'invalid', reason };
}
