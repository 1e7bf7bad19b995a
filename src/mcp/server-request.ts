import { withMembers } from './json/members.ts';

/** A server request to the client: elicitation, sampling or roots. */
export interface ServerRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The params as received, on one line. */
  readonly paramsText: string;
}

/** The client's response as JSON text: a result object or a JSON-RPC error object. */
export interface ClientResponse {
  readonly kind: 'result' | 'error';
  readonly text: string;
}

/** The params for a legacy client, where an elicitation in URL mode needs an id. */
export function legacyServerRequest({ method, params, paramsText }: ServerRequest, id: string): string {
  if (method !== 'elicitation/create' || params.mode !== 'url' || params.elicitationId !== undefined) return paramsText;
  return withMembers(paramsText, { elicitationId: JSON.stringify(id) });
}

/** The request as an entry in a modern `input_required` result. */
export function modernInputRequest({ method, params, paramsText }: ServerRequest): string {
  const text = params.elicitationId === undefined ? paramsText : withMembers(paramsText, { elicitationId: undefined });
  return `{"method":${JSON.stringify(method)},"params":${text}}`;
}

/** The response to a server request that no client can answer. */
export function notSupported(why = 'Not offered by this client'): ClientResponse {
  return { kind: 'error', text: JSON.stringify({ code: -32601, message: why }) };
}

/** The response to a server request that nobody answered. */
export function unanswered(message: string): ClientResponse {
  return { kind: 'error', text: JSON.stringify({ code: -32603, message }) };
}
