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

/** What a server is told that asks for something nobody can give. */
export function notOffered(why = 'Not offered by this client'): QuestionAnswer {
  return { kind: 'error', text: JSON.stringify({ code: -32601, message: why }) };
}
