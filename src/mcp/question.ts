import { withMembers } from './members.ts';

/** A request of a server to whoever called it: elicitation, sampling, roots. */
export interface Question {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The same as it came, on one line. */
  readonly paramsText: string;
}

/** The answer as JSON text: a result object, or a JSON-RPC error object. */
export interface QuestionAnswer {
  readonly kind: 'result' | 'error';
  readonly text: string;
}

/** The params as a legacy client knows them: a question about a URL has an id of its own there. */
export function legacyQuestion({ method, params, paramsText }: Question, id: string): string {
  if (method !== 'elicitation/create' || params.mode !== 'url' || params.elicitationId !== undefined) return paramsText;
  return withMembers(paramsText, { elicitationId: JSON.stringify(id) });
}

/** The whole question as a modern client finds it in a result. */
export function modernQuestion({ method, params, paramsText }: Question): string {
  const text = params.elicitationId === undefined ? paramsText : withMembers(paramsText, { elicitationId: undefined });
  return `{"method":${JSON.stringify(method)},"params":${text}}`;
}

/** What a server is told that asks for something nobody can give. */
export function notOffered(why = 'Not offered by this client'): QuestionAnswer {
  return { kind: 'error', text: JSON.stringify({ code: -32601, message: why }) };
}

/** What a server is told whose question nobody has answered. */
export function unanswered(message: string): QuestionAnswer {
  return { kind: 'error', text: JSON.stringify({ code: -32603, message }) };
}
