import { HubError, isJsonObject } from '../../base/index.ts';
import {
  type ClientCapabilities,
  type ClientResponse,
  isCheapToParse,
  type ServerRequest,
  unparsedText,
} from '../../mcp/index.ts';
import type { ResultReply, UpstreamReply } from '../../upstream/index.ts';
import { type Call, maxServerRequests } from '../call.ts';
import type { Target } from '../target.ts';

/** Limits how often a server may ask for input in one call. */
export const maxRoundTrips = 16;

export function isInputRequired(reply: UpstreamReply): reply is ResultReply {
  return reply.kind === 'result' && reply.value.resultType === 'input_required';
}

/** The requests in a modern server's result, by key. */
export type InputRequests = readonly (readonly [key: string, serverRequest: ServerRequest])[];

/** Throws HubError if the caller cannot answer all of it, so that nobody fills in a form for a call that must fail. */
export function inputRequestsIn(call: Call, target: Target, { value }: ResultReply): InputRequests {
  if (!isCheapToParse(unparsedText(value, 'inputRequests') ?? '0'))
    throw tooMuch(target, 'for more input than is read');
  const { inputRequests, requestState } = value;
  const asked = isJsonObject(inputRequests) ? Object.entries(inputRequests) : [];
  if (asked.length === 0 && requestState === undefined) throw tooMuch(target, 'for input, and then nothing');
  if (asked.length > maxServerRequests) throw tooMuch(target, `${asked.length} server requests at once`);
  const { clientCapabilities } = call.request.client ?? {};
  const serverRequests = asked.map(([key, item]) => [key, toServerRequest(item)] as const);
  for (const [, serverRequest] of serverRequests) checkAble(target, serverRequest, clientCapabilities);
  return serverRequests;
}

/** Asks a caller while it waits. Returns its answers as members of `params` for the repeated call. */
export async function collectInputs(call: Call, target: Target, asked: InputRequests, state: unknown): Promise<string> {
  const answers = await Promise.all(
    asked.map(
      async ([key, serverRequest]) =>
        `${JSON.stringify(key)}:${toInput(target, serverRequest, await call.ask(serverRequest))}`,
    ),
  );
  const requestState = typeof state === 'string' ? `,"requestState":${JSON.stringify(state)}` : '';
  return `"inputResponses":{${answers.join(',')}}${requestState}`;
}

export function tooManyRoundTrips(target: Target): HubError {
  return tooMuch(target, `more than ${maxRoundTrips} round trips`);
}

function toServerRequest(item: unknown): ServerRequest {
  const { method, params } = isJsonObject(item) ? item : {};
  const known = isJsonObject(params) ? params : {};
  return { method: String(method), params: known, paramsText: JSON.stringify(known) };
}

function checkAble(
  target: Target,
  { method, params }: ServerRequest,
  clientCapabilities: ClientCapabilities | undefined,
): void {
  if (clientCapabilities?.canAnswer(method, params)) return;
  const { server, subjectName: tool } = target;
  if (method === 'roots/list' && target.control.spec.roots === 'none') throw noRoots(target);
  const requiredCapabilities = clientCapabilities?.missingFor(method, params) ?? {};
  throw new HubError(
    'CAPABILITY_MISSING',
    `Server "${server}" asks for ${method.slice(0, 60)}, which the client cannot answer.`,
    {
      hint: 'Use a client that declares this capability.',
      details: { server, tool, requiredCapabilities },
    },
  );
}

function noRoots({ server, subjectName: tool }: Target): HubError {
  return new HubError('CAPABILITY_MISSING', `Server "${server}" asks for roots, and it gets none.`, {
    hint: 'If it may have folders of its clients, set `roots: client` in its entry.',
    details: { server, tool, requiredCapabilities: {} },
  });
}

/** A form that fails counts as closed. Other requests have no such answer. */
function toInput(
  { server, subjectName: tool }: Target,
  serverRequest: ServerRequest,
  { kind, text }: ClientResponse,
): string {
  if (kind === 'result') return text;
  if (serverRequest.method === 'elicitation/create') return '{"action":"cancel"}';
  throw new HubError('INPUT_MISSING', `The client did not answer ${serverRequest.method} of server "${server}".`, {
    details: { server, tool, answer: text.slice(0, 500) },
  });
}

function tooMuch({ server, subjectName: tool }: Target, what: string): HubError {
  return new HubError('UPSTREAM_GARBLED', `Server "${server}" asked ${what}.`, { details: { server, tool } });
}
